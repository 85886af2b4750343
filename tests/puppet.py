"""An agent controlled by the test: the test emits its events and reads the calls it received."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from model.backends import agent_events, base
from model.base.errors import SpinneyError
from model.domain.agent_commands import AgentCommand
from model.domain.usage import Usage
from tests.patience import PATIENCE


@dataclass
class Puppet:
    """An agent that emits the events given to `say` and records its calls in `calls`."""

    launch: base.Launch
    calls: list[tuple[object, ...]] = field(default_factory=list)
    closed: bool = False
    ignores_stop: bool = False
    """Whether it ignores `stop`."""
    can_steer: bool = True
    """Whether it accepts messages during a turn, and withdraws them."""
    blocks_send: bool = False
    """Whether `send` never returns."""
    final_events: tuple[agent_events.AgentEvent, ...] = ()
    """The events that it emits when it is closed."""
    receivers: "asyncio.Queue[Puppet]" = field(default_factory=asyncio.Queue)
    """Where it puts itself when it receives a prompt."""
    _events: "asyncio.Queue[agent_events.AgentEvent | None]" = field(default_factory=asyncio.Queue)
    _called: asyncio.Event = field(default_factory=asyncio.Event)

    def say(self, *events: agent_events.AgentEvent) -> None:
        for event in events:
            self._events.put_nowait(event)

    def die(self) -> None:
        self._events.put_nowait(None)

    async def events(self) -> AsyncIterator[agent_events.AgentEvent]:
        while (event := await self._events.get()) is not None:
            yield event

    def _record(self, *call: object) -> None:
        self.calls.append(call)
        self._called.set()

    async def wait_for_call(self, name: str) -> tuple[object, ...]:
        """Wait for the next call of the method `name`; remove it from `calls` and return it."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for call in self.calls:
                    if call[0] == name:
                        self.calls.remove(call)
                        return call
                self._called.clear()
                await self._called.wait()

    async def send(self, prompt: base.Prompt) -> None:
        self._record("send", prompt.text)
        self.receivers.put_nowait(self)
        if self.blocks_send:
            await asyncio.Event().wait()

    async def stop(self) -> None:
        self._record("stop")
        if not self.ignores_stop:
            self.say(agent_events.TurnFinished("stopped", Usage()))

    async def steer(self, message_id: str, prompt: base.Prompt) -> bool:
        self._record("steer", message_id, prompt.text)
        return self.can_steer

    async def take_back(self, message_id: str) -> bool:
        self._record("take_back", message_id)
        return self.can_steer

    async def approve(self, request_id: str, settings: base.Settings, plan: str | None) -> None:
        self._record("approve", request_id, settings.mode, plan)

    async def discuss(self, request_id: str, comment: base.Prompt) -> None:
        self._record("discuss", request_id, comment.text, *comment.files, *comment.images)

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        self._record("answer", request_id, dict(answers))

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        self._record("permit", request_id, decision, reason)

    async def configure(self, settings: base.Settings) -> None:
        self._record("configure", settings.mode, settings.model, settings.thinking)

    async def close(self) -> None:
        self._record("close")
        self.say(*self.final_events)
        await asyncio.sleep(0)
        self.closed = True
        self.die()


class PuppetBackend:
    """Opens `Puppet`s, the newest last; with `missing`, opening fails, with `lost`, forking."""

    name = "demo"
    can_fork = True

    def __init__(self) -> None:
        self.puppets: list[Puppet] = []
        self.missing = False
        self.lost = False
        self.known_commands: tuple[AgentCommand, ...] = ()
        self._receivers: asyncio.Queue[Puppet] = asyncio.Queue()
        """Each agent that has received a prompt, once per prompt."""
        self._opened = asyncio.Event()

    async def probe(self) -> base.Probe:
        return base.Probe("/bin/true")

    async def list_commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        return self.known_commands

    async def open(self, launch: base.Launch) -> base.Agent:
        if self.missing:
            raise SpinneyError("The agent is not installed.", "backend_unavailable")
        if self.lost and launch.fork_at:
            raise base.CannotForkError("It is gone.")
        self.puppets.append(Puppet(launch, receivers=self._receivers))
        self._opened.set()
        return self.puppets[-1]

    async def close(self) -> None:
        """Do nothing: agents share no resources."""

    async def receiver_of(self, sending: Awaitable[object]) -> Puppet:
        """Send a message; return the agent of a session that receives a prompt from then on."""
        while not self._receivers.empty():
            self._receivers.get_nowait()
        await sending
        async with asyncio.timeout(PATIENCE):
            # Names are written meanwhile by agents of their own.
            while (receiver := await self._receivers.get()).launch.text_only:
                pass
        return receiver

    async def newest(self, count: int = 1) -> Puppet:
        """Wait until `count` agents were opened; return the newest."""
        async with asyncio.timeout(PATIENCE):
            while len(self.puppets) < count:
                self._opened.clear()
                await self._opened.wait()
        return self.puppets[-1]
