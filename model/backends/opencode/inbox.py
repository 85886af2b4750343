"""What a conversation of OpenCode hears one after the other: the program's events, and what became
of it and of its turns.
"""

from dataclasses import dataclass

from model.backends import base
from model.backends.opencode.event_stream import Event
from model.backends.process import Unreadable


class Missed:
    """Events may have been lost."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The turn with this number is over because somebody ended it."""

    turn: int
    failure: base.TurnFailed | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """The server is gone."""

    how: str


Heard = Event | Unreadable | Missed | Cut | Lost
