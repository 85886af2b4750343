"""Importing this registers every command."""

from model.commands import (
    changes,
    cloning,
    doctor,
    files,
    folders,
    git,
    hosting,
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
    "changes",
    "cloning",
    "doctor",
    "files",
    "folders",
    "git",
    "hosting",
    "preferences",
    "projects",
    "pull_requests",
    "scripts",
    "search",
    "server",
    "sessions",
    "worktrees",
]
