"""What a client is: calls that go down, updates that come up. Screens know nothing else."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import ParamSpec, Protocol, TypeVar

from model.api.command import Command
from model.domain.events import Event
from model.state import State

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Loaded:
    """The whole state: at first, and whenever events were missed."""

    state: State


@dataclass(frozen=True, slots=True)
class Happened:
    """Events since the last update, in order; fold them with `model.state.apply`."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection is gone; calls fail until the next `Loaded` or `Happened`."""

    reason: str
    retry_in: float
    """Seconds."""


Update = Loaded | Happened | Lost


class Client(Protocol):
    """A way to the model. The model may be in this process or on another machine."""

    async def call(self, command: Command[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a command and give its result. Raises `SpinneyError`."""
        ...

    def updates(self) -> AsyncIterator[Update]:
        """`Loaded` first, then what happens. Slow readers miss nothing: they are loaded anew."""
        ...

    async def close(self) -> None:
        """Give up the connection."""
        ...
