"""An agent program that needs no program: it answers every prompt by a script."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from model.backends import base
from model.resources import Decision, ExecutionMode, ThinkingLevel, Usage

Script = Callable[[base.Prompt], Iterable[base.AgentEvent]]

DONE = base.TurnFinished("end_turn", Usage(input_tokens=3, output_tokens=5))


def echo(prompt: base.Prompt) -> Iterable[base.AgentEvent]:
    """Says the prompt's words again, one delta each."""
    for word in prompt.text.split():
        yield base.TextDelta("answer", word + " ")
    yield DONE


def plan(prompt: base.Prompt) -> Iterable[base.AgentEvent]:
    """Proposes a plan and waits for what comes."""
    yield base.TextDelta("answer", "Let me plan. ")
    yield base.PlanProposed("plan-1", f"1. {prompt.text}")


def silence(_: base.Prompt) -> Iterable[base.AgentEvent]:
    """Begins and never ends by itself."""
    yield base.TextDelta("answer", "thinking about it")


@dataclass
class FakeAgent:
    """One session's agent. `calls` lists what it was asked for, `say` makes it tell something."""

    launch: base.Launch
    script: Script
    calls: list[tuple[object, ...]] = field(default_factory=list)
    _lines: "asyncio.Queue[base.AgentEvent | None]" = field(default_factory=asyncio.Queue)

    def say(self, *events: base.AgentEvent) -> None:
        for event in events:
            self._lines.put_nowait(event)

    def die(self) -> None:
        self._lines.put_nowait(None)

    async def events(self) -> AsyncIterator[base.AgentEvent]:
        while (event := await self._lines.get()) is not None:
            yield event

    async def send(self, prompt: base.Prompt) -> None:
        self.calls.append(("send", prompt.text))
        self.say(*self.script(prompt))

    async def stop(self) -> None:
        self.calls.append(("stop",))
        self.say(base.TurnFinished("stopped", Usage()))

    async def approve(self, request_id: str, mode: ExecutionMode, plan: str | None) -> None:
        self.calls.append(("approve", request_id, mode, plan))
        self.say(base.TextDelta("carried out", "Done as planned."), DONE)

    async def discuss(self, request_id: str, comment: str) -> None:
        self.calls.append(("discuss", request_id, comment))
        self.say(base.TextDelta("discussed", "Hm. "), DONE)

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        self.calls.append(("answer", request_id, dict(answers)))
        self.say(base.TextDelta("answered", "I see. "), DONE)

    async def permit(self, request_id: str, decision: Decision) -> None:
        self.calls.append(("permit", request_id, decision))
        self.say(DONE)

    async def configure(self, mode: ExecutionMode, model: str, thinking: ThinkingLevel) -> None:
        self.calls.append(("configure", mode, model, thinking))

    async def close(self) -> None:
        self.calls.append(("close",))
        self.die()


@dataclass
class FakeBackend:
    """Opens fake agents; `agents` holds them by session. `script` may be changed at any time."""

    name: str = "backend_a"
    script: Script = echo
    agents: dict[str, FakeAgent] = field(default_factory=dict)

    async def probe(self) -> base.Probe:
        return base.Probe(program="/bin/true", version="1.0")

    async def open(self, launch: base.Launch) -> base.Agent:
        agent = FakeAgent(launch, lambda prompt: self.script(prompt))
        self.agents[launch.session_id] = agent
        return agent
