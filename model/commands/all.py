"""Importing this registers every command."""

from model.commands import doctor, preferences, projects, server, sessions, worktrees

__all__ = ["doctor", "preferences", "projects", "server", "sessions", "worktrees"]
