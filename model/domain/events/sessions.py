"""Events of sessions and their turns."""

from typing import Any, ClassVar

from model.domain.events.base import ChatEvent, Event
from model.domain.requests import Request, WaitingFor
from model.domain.sessions import Session
from model.domain.turns import Turn
from model.domain.usage import TurnUsage


class UsageRecorded(Event):
    """What a turn used: whenever its agent reports it, at its end, and with its price."""

    name: ClassVar[str] = "usage:recorded"
    turn: TurnUsage

    @property
    def related_session_id(self) -> str | None:
        """The session of the turn; none for a short text."""
        return self.turn.session_id or None


class SessionCreated(ChatEvent):
    """A session was created."""

    name: ClassVar[str] = "session-created"

    session: Session

    @property
    def related_session_id(self) -> str:
        """The new session's id."""
        return self.session.id


class SessionUpdated(ChatEvent):
    """Some fields of a session changed."""

    name: ClassVar[str] = "session-updated"
    session_id: str
    updates: dict[str, Any]
    """Changed fields in JSON form."""


class SessionArchived(ChatEvent):
    """A session was archived; it can be unarchived."""

    name: ClassVar[str] = "session-archived"
    numbered_only: ClassVar[frozenset[str]] = frozenset({"archived_at"})
    session_id: str
    archived_at: float


class SessionDeleted(ChatEvent):
    """A session and all its messages were deleted."""

    name: ClassVar[str] = "session-deleted"
    session_id: str


class SessionWaiting(Event):
    """A session waits for the user, or (`None`) no longer does."""

    name: ClassVar[str] = "session-waiting"
    session_id: str
    waiting_for: WaitingFor | None
    request: Request | None


class TurnRecorded(Event):
    """A turn began, or it ended and the files that it changed are known."""

    name: ClassVar[str] = "turn:recorded"
    turn: Turn

    @property
    def related_session_id(self) -> str:
        """The session of the turn."""
        return self.turn.session_id


class TurnUndone(Event):
    """A turn was undone, or (`undone` is null) its undo was taken back."""

    name: ClassVar[str] = "turn:undone"
    turn: Turn

    @property
    def related_session_id(self) -> str:
        """The session of the turn."""
        return self.turn.session_id
