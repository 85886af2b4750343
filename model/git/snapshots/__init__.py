"""Snapshots of worktrees: everything on disk, the index and a merge in progress, as one commit."""
