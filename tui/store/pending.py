"""Requests of the user that the model has not confirmed yet."""

import asyncio
from dataclasses import dataclass, field

from model.domain.modes import ExecutionMode


@dataclass(slots=True)
class Pending:
    """Requests of this terminal that are under way."""

    reported: set[tuple[str, str | None]] = field(default_factory=set)
    """Tasks, with their worktree, whose end the dialog that started them reports itself."""
    modes: dict[str, ExecutionMode] = field(default_factory=dict)
    """The requested execution mode by session id."""
    failed_worktrees: dict[str, str] = field(default_factory=dict)
    """Why a worktree could not be created, by its id."""
    reordering: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a row of the tree is moved."""
