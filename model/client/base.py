"""The client interface: calls go down, updates come up. Screens use nothing else of the model."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import ParamSpec, Protocol, TypeVar

from model.api.command import Command
from model.domain.events.base import Event
from model.state import State

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Loaded:
    """The whole state: sent first, and again whenever events were missed."""

    state: State


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events since the last update, in order; fold them with `model.state.apply`."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The connection is lost; calls fail until the next `Loaded` or `EventBatch`."""

    reason: str


Update = Loaded | EventBatch | Disconnected


class Client(Protocol):
    """A connection to the model, in this process or on another machine."""

    async def call(self, command: Command[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a command and return its result. Raises `SpinneyError`."""
        ...

    def updates(self) -> AsyncIterator[Update]:
        """`Loaded` first, then what happens. A reader that is too slow gets `Loaded` again."""
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...
