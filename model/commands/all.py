"""Importing this registers every command."""

from model.commands import (
    changes,
    cloning,
    directories,
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
    "directories",
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
