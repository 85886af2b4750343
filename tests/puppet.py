"""An agent on strings: tests say what it tells, and read what it was told."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from model.backends import base
from model.base.errors import SpinneyError
from model.domain.resources import AgentCommand, Usage
from tests.patience import PATIENCE


@dataclass
class Puppet:
    """One agent. `say` makes it tell something; `calls` lists what it was asked for."""

    launch: base.Launch
    calls: list[tuple[object, ...]] = field(default_factory=list)
    closed: bool = False
    deaf: bool = False
    """Whether it ignores `stop`."""
    stuck: bool = False
    """Whether it never takes the message that it is sent."""
    last_words: tuple[base.AgentEvent, ...] = ()
    """What it says when it is closed."""
    _lines: "asyncio.Queue[base.AgentEvent | None]" = field(default_factory=asyncio.Queue)
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, *events: base.AgentEvent) -> None:
        for event in events:
            self._lines.put_nowait(event)

    def die(self) -> None:
        self._lines.put_nowait(None)

    async def events(self) -> AsyncIterator[base.AgentEvent]:
        while (event := await self._lines.get()) is not None:
            yield event

    def _note(self, *call: object) -> None:
        self.calls.append(call)
        self.heard.set()

    async def hears(self, name: str) -> tuple[object, ...]:
        """Wait for the next call of this name."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for call in self.calls:
                    if call[0] == name:
                        self.calls.remove(call)
                        return call
                self.heard.clear()
                await self.heard.wait()

    async def send(self, prompt: base.Prompt) -> None:
        self._note("send", prompt.text)
        if self.stuck:
            await asyncio.Event().wait()

    async def stop(self) -> None:
        self._note("stop")
        if not self.deaf:
            self.say(base.TurnFinished("stopped", Usage()))

    async def approve(self, request_id: str, settings: base.Settings, plan: str | None) -> None:
        self._note("approve", request_id, settings.mode, plan)

    async def discuss(self, request_id: str, comment: base.Prompt) -> None:
        self._note("discuss", request_id, comment.text, *comment.files, *comment.images)

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        self._note("answer", request_id, dict(answers))

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        self._note("permit", request_id, decision, reason)

    async def configure(self, settings: base.Settings) -> None:
        self._note("configure", settings.mode, settings.model, settings.thinking)

    async def close(self) -> None:
        self._note("close")
        self.say(*self.last_words)
        await asyncio.sleep(0)
        self.closed = True
        self.die()


class PuppetBackend:
    """Opens puppets, the newest last; `missing` makes it refuse."""

    name = "demo"

    def __init__(self) -> None:
        self.puppets: list[Puppet] = []
        self.missing = False
        self.in_files: tuple[AgentCommand, ...] = ()
        self._opened = asyncio.Event()

    async def probe(self) -> base.Probe:
        return base.Probe("/bin/true")

    async def list_commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        return self.in_files

    async def open(self, launch: base.Launch) -> base.Agent:
        if self.missing:
            raise SpinneyError("The agent is not installed.", "backend_unavailable")
        self.puppets.append(Puppet(launch))
        self._opened.set()
        return self.puppets[-1]

    async def close(self) -> None:
        """Nothing is shared."""

    async def newest(self, count: int = 1) -> Puppet:
        """Wait until this many were opened."""
        async with asyncio.timeout(PATIENCE):
            while len(self.puppets) < count:
                self._opened.clear()
                await self._opened.wait()
        return self.puppets[-1]
