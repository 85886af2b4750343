"""The side pane of wide terminals: the worktree's changes as they happen."""
