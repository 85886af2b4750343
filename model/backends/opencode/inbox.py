"""The items of a conversation's inbox, handled in order: the server's events, and internal ones."""

from dataclasses import dataclass

from model.backends import base
from model.backends.opencode.event_stream import ServerEvent
from model.backends.process import Unreadable


class EventsMissed:
    """Events may have been lost."""


@dataclass(frozen=True, slots=True)
class TurnAborted:
    """The turn with this number was ended early."""

    turn: int
    failure: base.TurnFailed | None = None


@dataclass(frozen=True, slots=True)
class ServerLost:
    """The server exited."""

    reason: str


InboxItem = ServerEvent | Unreadable | EventsMissed | TurnAborted | ServerLost
