"""Landing: bringing finished worktrees into their base branch, and what to do next with each."""
