"""Reviews of a worktree's changes: verdicts about hunks, files viewed, findings of an agent."""
