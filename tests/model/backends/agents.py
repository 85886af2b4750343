"""Helpers for conversations with agents, and for their processes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest

from model.backends import agent_events, base, channel, program
from model.backends.acp import backend
from model.backends.opencode import stop
from model.domain.agent_commands import AgentCommand
from tests.patience import PATIENCE

Event = TypeVar("Event")
Item = TypeVar("Item")

TURN_LIMIT = PATIENCE
"""Seconds after which a turn of a test fails."""


class Conversation:
    """An agent and its events so far."""

    def __init__(self, agent: base.Agent) -> None:
        self.agent = agent
        self.events: list[agent_events.AgentEvent] = []
        self._events = agent.events()

    async def turn(self, text: str) -> list[agent_events.AgentEvent]:
        """Send `text`; return the events until the turn's end."""
        await self.agent.send(base.Prompt(text))
        return await self.rest()

    async def rest(self) -> list[agent_events.AgentEvent]:
        """The events until the turn's end."""
        before = len(self.events)
        await self.until(agent_events.TurnFinished, agent_events.TurnFailed)
        return self.events[before:]

    async def until(self, *kinds: type[Event]) -> Event:
        """The next event of these kinds."""
        async with asyncio.timeout(TURN_LIMIT):
            async for event in self._events:
                self.events.append(event)
                if isinstance(event, kinds):
                    return event
        raise AssertionError(f"the agent ended without {kinds}; its events: {self.events}")

    async def end(self) -> None:
        """Wait for the end of the agent's events."""
        async with asyncio.timeout(TURN_LIMIT):
            async for event in self._events:
                self.events.append(event)


Open = Callable[..., Awaitable[Conversation]]
"""Opens a conversation with an agent that is closed at the test's end."""


def text(events: list[agent_events.AgentEvent], kind: str = "text") -> str:
    """The streamed text as a whole."""
    return "".join(
        event.text
        for event in events
        if isinstance(event, agent_events.TextDelta) and event.kind == kind
    )


def only(events: list[agent_events.AgentEvent], kind: type[Event]) -> Event:
    """The one event of this kind."""
    found = [event for event in events if isinstance(event, kind)]
    assert len(found) == 1, f"{len(found)} of {kind.__name__} in {events}"
    return found[0]


def get_resume_token(conversation: Conversation) -> str:
    return only(conversation.events, agent_events.ConversationIdentified).resume_token


def asks_permission(events: list[agent_events.AgentEvent]) -> bool:
    return any(isinstance(event, agent_events.PermissionRequested) for event in events)


def by_name(commands: tuple[AgentCommand, ...]) -> dict[str, AgentCommand]:
    return {command.name: command for command in commands}


async def wait_for_commands(conversation: Conversation) -> dict[str, AgentCommand]:
    """The commands that the program listed last, or lists next."""
    listed = [each for each in conversation.events if isinstance(each, agent_events.CommandsListed)]
    return by_name((listed or [await conversation.until(agent_events.CommandsListed)])[-1].commands)


def is_running(pid: int) -> bool:
    """Whether a process is running; a zombie is not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def find_processes_in(folder: Path) -> set[int]:
    """The pids of all processes whose working directory is `folder`."""
    found = set()
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit() and (process / "cwd").readlink() == folder:
                found.add(int(process.name))
    return {pid for pid in found if is_running(pid)}


async def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Poll a condition outside of this process, which sends no event."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def children(pid: int | None = None) -> set[int]:
    """The pids of all children of a process, by default this one; zombies included."""
    return {child.pid for child in psutil.Process(pid).children()}


async def first(items: AsyncIterator[Item]) -> Item:
    """The next item, within `TURN_LIMIT`."""
    async with asyncio.timeout(TURN_LIMIT):
        return await anext(items)


@pytest.fixture(autouse=True)
def long_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long timeouts, so that a busy machine fails no test."""
    monkeypatch.setattr(channel, "STOP_TIMEOUT", PATIENCE)
    monkeypatch.setattr(stop, "_TIMEOUT", PATIENCE)
    monkeypatch.setattr(program, "COMMAND_TIMEOUT", PATIENCE)
    monkeypatch.setattr(backend, "_PROBE_TIMEOUT", PATIENCE)


@pytest.fixture
def short_stop_timeout(long_timeouts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kills a program soon if it ignores a stop."""
    monkeypatch.setattr(channel, "STOP_TIMEOUT", 0.2)


def make_launch(worktree: Path, **given: Any) -> base.Launch:
    """How to start an agent in `worktree`: build mode and defaults unless given otherwise."""
    names = {field.name for field in fields(base.Settings)}
    settings = {"mode": "build", **{key: given.pop(key) for key in names & given.keys()}}
    return base.Launch("session-1", worktree, base.Settings(**settings), **given)
