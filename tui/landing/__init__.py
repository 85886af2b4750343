"""Bringing worktrees into the base branch: the desk, landing, trains, and the sweep."""
