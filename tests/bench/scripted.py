"""Agents without a program that emit as many events as their message says, at full speed."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final

from model.backends import agent_events, base
from model.backends.channel import Channel
from model.domain.requests import Decision
from model.domain.usage import Usage

_PIECE: Final = "forty characters of text, more or less. "
_RESULT: Final = "a line of what a tool said\n" * 20


def generate_turn(count: int) -> Iterator[agent_events.AgentEvent]:
    """Yield `count` events: text in blocks of 40 pieces, each followed by a tool and its result."""
    for number in range(count):
        block, place = divmod(number, 42)
        match place:
            case 40:
                yield agent_events.ToolUse(
                    f"tool {block}", "bash", {"command": f"make part-{block}"}
                )
            case 41:
                yield agent_events.ToolResult(f"tool {block}", _RESULT)
            case _:
                yield agent_events.TextDelta(f"text {block}", _PIECE)


class ScriptedAgent:
    """The agent of one session; a message is the number of events of its answer."""

    def __init__(self) -> None:
        self._channel = Channel("The scripted agent")
        self._turn: asyncio.Task[None] | None = None

    def events(self) -> AsyncIterator[agent_events.AgentEvent]:
        """Return its events."""
        return self._channel.events()

    async def send(self, prompt: base.Prompt) -> None:
        """Start a turn."""
        self._channel.begin_turn()
        self._turn = asyncio.create_task(self._emit_turn(prompt.text))

    async def _emit_turn(self, text: str) -> None:
        count = int(text)
        for event in generate_turn(count):
            await self._channel.emit(event)
            await asyncio.sleep(0)  # events of a real agent arrive one at a time
        await self._channel.emit(agent_events.TurnFinished("end_turn", Usage(output_tokens=count)))

    async def stop(self) -> None:
        """Stop the turn."""
        if self._turn is not None:
            self._turn.cancel()
        await self._channel.emit(agent_events.TurnFinished("stopped", Usage()))

    async def steer(self, message_id: str, prompt: base.Prompt) -> bool:
        """Return `False`: it reads one message per turn."""
        return False

    async def take_back(self, message_id: str) -> bool:
        """Return `False`: it was given none."""
        return False

    async def approve(self, request_id: str, settings: base.Settings, plan: str | None) -> None:
        """Do nothing: it proposes no plans."""

    async def discuss(self, request_id: str, comment: str) -> None:
        """Do nothing: it proposes no plans."""

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """Do nothing: it sends no requests."""

    async def permit(self, request_id: str, decision: Decision, reason: str = "") -> None:
        """Do nothing: it sends no requests."""

    async def configure(self, settings: base.Settings) -> None:
        """Do nothing: it has no settings."""

    async def close(self) -> None:
        """Stop the turn and end the events."""
        if self._turn is not None:
            self._turn.cancel()
        self._channel.end()


class ScriptedBackend:
    """Opens scripted agents."""

    name = "backend_a"
    can_fork = False

    async def probe(self) -> base.Probe:
        """Return a fixed program."""
        return base.Probe("/bin/true")

    async def open(self, launch: base.Launch) -> base.Agent:
        """Open a new agent."""
        return ScriptedAgent()

    async def close(self) -> None:
        """Do nothing: agents share no resources."""
