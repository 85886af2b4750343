"""The tree of projects, worktrees and sessions."""
