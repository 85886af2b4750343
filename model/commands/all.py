"""Importing this registers every command."""

from model.commands import (
    doctor,
    folders,
    git,
    preferences,
    projects,
    pull_requests,
    scripts,
    search,
    server,
    sessions,
    worktrees,
)

__all__ = [
    "doctor",
    "folders",
    "git",
    "preferences",
    "projects",
    "pull_requests",
    "scripts",
    "search",
    "server",
    "sessions",
    "worktrees",
]
