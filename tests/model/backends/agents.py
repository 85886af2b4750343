"""Turns with agents, as tests tell them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest

from model.backends import base, channel, program
from model.backends.acp import backend
from model.backends.opencode import stop
from model.domain.resources import AgentCommand
from tests.patience import PATIENCE

Event = TypeVar("Event")
Item = TypeVar("Item")

TURN_LIMIT = PATIENCE
"""Seconds that no turn of a test should ever take."""


class Conversation:
    """An agent and what it has told so far."""

    def __init__(self, agent: base.Agent) -> None:
        self.agent = agent
        self.told: list[base.AgentEvent] = []
        self._events = agent.events()

    async def turn(self, text: str) -> list[base.AgentEvent]:
        """Send `text`; all that is told until the turn's end."""
        await self.agent.send(base.Prompt(text))
        return await self.rest()

    async def rest(self) -> list[base.AgentEvent]:
        """All that is told until the turn's end."""
        before = len(self.told)
        await self.until(base.TurnFinished, base.TurnFailed)
        return self.told[before:]

    async def until(self, *kinds: type[Event]) -> Event:
        """The next event of these kinds."""
        async with asyncio.timeout(TURN_LIMIT):
            async for event in self._events:
                self.told.append(event)
                if isinstance(event, kinds):
                    return event
        raise AssertionError(f"the agent ended without {kinds}; it told {self.told}")

    async def end(self) -> None:
        """Wait until the agent tells nothing more."""
        async with asyncio.timeout(TURN_LIMIT):
            async for event in self._events:
                self.told.append(event)


Open = Callable[..., Awaitable[Conversation]]
"""Opens a conversation with an agent that is closed at the test's end."""


def text(told: list[base.AgentEvent], kind: str = "text") -> str:
    """What was streamed, put together."""
    return "".join(
        event.text for event in told if isinstance(event, base.TextDelta) and event.kind == kind
    )


def only(told: list[base.AgentEvent], kind: type[Event]) -> Event:
    """The one event of this kind."""
    found = [event for event in told if isinstance(event, kind)]
    assert len(found) == 1, f"{len(found)} of {kind.__name__} in {told}"
    return found[0]


def by_name(commands: tuple[AgentCommand, ...]) -> dict[str, AgentCommand]:
    return {command.name: command for command in commands}


async def known(conversation: Conversation) -> dict[str, AgentCommand]:
    """The commands that the program has told by now, or tells next."""
    told = [each for each in conversation.told if isinstance(each, base.CommandsKnown)]
    return by_name((told or [await conversation.until(base.CommandsKnown)])[-1].commands)


def lives(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def at_work_in(folder: Path) -> set[int]:
    """The processes that run in a folder, whoever started them."""
    found = set()
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit() and (process / "cwd").readlink() == folder:
                found.add(int(process.name))
    return {pid for pid in found if lives(pid)}


async def becomes(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait for something outside of this process, which sends no event."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def children(pid: int | None = None) -> set[int]:
    """The pids of all children of a process, or of our own, zombies too."""
    return {child.pid for child in psutil.Process(pid).children()}


async def first(items: AsyncIterator[Item]) -> Item:
    """The next item, in time."""
    async with asyncio.timeout(TURN_LIMIT):
        return await anext(items)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is: programs answer and obey, and nobody gives them up."""
    monkeypatch.setattr(channel, "STOP_TIMEOUT", PATIENCE)
    monkeypatch.setattr(stop, "_TIMEOUT", PATIENCE)
    monkeypatch.setattr(program, "COMMAND_TIMEOUT", PATIENCE)
    monkeypatch.setattr(backend, "_PROBE_TIMEOUT", PATIENCE)


@pytest.fixture
def impatience(patience: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that does not obey a stop is soon killed."""
    monkeypatch.setattr(channel, "STOP_TIMEOUT", 0.2)


def a_launch(worktree: Path, **given: Any) -> base.Launch:
    """How to start an agent there; what is not given is small and harmless."""
    names = {field.name for field in fields(base.Settings)}
    settings = {"mode": "build", **{key: given.pop(key) for key in names & given.keys()}}
    return base.Launch("session-1", worktree, base.Settings(**settings), **given)
