"""Sessions of all projects as short rows, without their conversations."""

from dataclasses import dataclass
from typing import Literal

from model.domain.modes import ExecutionMode
from model.domain.requests import WaitingFor
from model.domain.resource import Resource
from model.domain.sessions import Pause, SessionStatus

ArchivedFilter = Literal["exclude", "include", "only"]


# Neither a model nor frozen: a list of a thousand would take several times as long.
@dataclass(slots=True, kw_only=True)
class SessionRow:
    """A session with the names of its project and worktree."""

    id: str
    name: str
    status: SessionStatus
    waiting_for: WaitingFor | None
    held: Literal["running", "failed"] | None
    """Why its first message is held: the worktree's `setup` is running, or failed."""
    pause: Pause | None
    queued: int
    """The number of queued messages, held ones included."""
    scheduled: int
    """How many of them wait for a time of their own."""
    unread: bool
    last_run_status: Literal["completed", "cancelled", "failed", "interrupted", "paused"] | None
    project_id: str
    project_name: str
    worktree_id: str
    worktree_name: str
    worktree_path: str
    branch: str
    backend: str
    model: str
    execution_mode: ExecutionMode
    message_count: int
    created_at: float
    updated_at: float
    archived_at: float | None
    """When it was archived itself; a session of an archived worktree has none."""


class SessionList(Resource):
    """A page of the sessions that match, the last used first."""

    sessions: list[SessionRow]
    total: int
    """How many match, on all pages."""
