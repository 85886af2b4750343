"""Agents without a program: each tells as many events as its message asks for, at full speed."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final

from model.backends import base
from model.backends.channel import Channel
from model.domain.resources import Decision, Usage

_PIECE: Final = "forty characters of text, more or less. "
_RESULT: Final = "a line of what a tool said\n" * 20


def turn(count: int) -> Iterator[base.AgentEvent]:
    """So many events: text in blocks of some 40 pieces, and between them a tool with its result."""
    for number in range(count):
        block, place = divmod(number, 42)
        match place:
            case 40:
                yield base.ToolUse(f"tool {block}", "bash", {"command": f"make part-{block}"})
            case 41:
                yield base.ToolResult(f"tool {block}", _RESULT)
            case _:
                yield base.TextDelta(f"text {block}", _PIECE)


class ScriptedAgent:
    """One session's agent; a message is the number of events that it is answered with."""

    def __init__(self) -> None:
        self._channel = Channel("The scripted agent")
        self._telling: asyncio.Task[None] | None = None

    def events(self) -> AsyncIterator[base.AgentEvent]:
        """What it tells."""
        return self._channel.events()

    async def send(self, prompt: base.Prompt) -> None:
        """Begin to tell."""
        self._channel.begin_turn()
        self._telling = asyncio.create_task(self._tell(prompt.text))

    async def _tell(self, text: str) -> None:
        count = int(text)
        for event in turn(count):
            await self._channel.emit(event)
            await asyncio.sleep(0)  # a real one comes from a pipe, an event at a time
        await self._channel.emit(base.TurnFinished("end_turn", Usage(output_tokens=count)))

    async def stop(self) -> None:
        """Stop telling."""
        if self._telling is not None:
            self._telling.cancel()
        await self._channel.emit(base.TurnFinished("stopped", Usage()))

    async def approve(self, request_id: str, settings: base.Settings, plan: str | None) -> None:
        """It proposes nothing."""

    async def discuss(self, request_id: str, comment: str) -> None:
        """It proposes nothing."""

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """It asks nothing."""

    async def permit(self, request_id: str, decision: Decision, reason: str = "") -> None:
        """It asks nothing."""

    async def configure(self, settings: base.Settings) -> None:
        """It works as it works."""

    async def close(self) -> None:
        """Tell nothing more."""
        if self._telling is not None:
            self._telling.cancel()
        self._channel.end()


class ScriptedBackend:
    """Opens scripted agents."""

    name = "backend_a"

    async def probe(self) -> base.Probe:
        """Always there."""
        return base.Probe("/bin/true")

    async def open(self, launch: base.Launch) -> base.Agent:
        """Another one."""
        return ScriptedAgent()

    async def close(self) -> None:
        """Nothing is shared."""
