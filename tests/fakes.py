"""An agent program that needs no program: it answers every prompt by a script."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from model.backends import base
from model.domain.resources import AgentCommand, Usage
from model.store.database import Database
from model.store.rows import Statement
from tests.puppet import Puppet

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
class FakeAgent(Puppet):
    """One session's agent: a puppet that also acts by itself."""

    script: Script = echo

    async def send(self, prompt: base.Prompt) -> None:
        await super().send(prompt)
        self.say(*self.script(prompt))

    async def approve(self, request_id: str, settings: base.Settings, plan: str | None) -> None:
        await super().approve(request_id, settings, plan)
        self.say(base.TextDelta("carried out", "Done as planned."), DONE)

    async def discuss(self, request_id: str, comment: str) -> None:
        await super().discuss(request_id, comment)
        self.say(base.TextDelta("discussed", "Hm. "), DONE)

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        await super().answer(request_id, answers)
        self.say(base.TextDelta("answered", "I see. "), DONE)

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        await super().permit(request_id, decision, reason)
        self.say(DONE)


@dataclass
class FakeBackend:
    """Opens fake agents; `agents` holds them by session. `script` may be changed at any time."""

    name: str = "backend_a"
    script: Script = echo
    agents: dict[str, FakeAgent] = field(default_factory=dict)
    in_files: tuple[AgentCommand, ...] = ()
    """Commands of its own that can be seen before it is spoken to."""

    async def probe(self) -> base.Probe:
        return base.Probe(program="/bin/true", version="1.0")

    async def list_commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        return self.in_files

    async def open(self, launch: base.Launch) -> base.Agent:
        agent = FakeAgent(launch, script=lambda prompt: self.script(prompt))
        self.agents[launch.session_id] = agent
        return agent

    async def close(self) -> None:
        """Nothing is shared."""


def held_writes(monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    """Set once something is to be saved, and what lets it be."""
    saving, may_save, write = asyncio.Event(), asyncio.Event(), Database.write

    async def held(database: Database, statements: Sequence[Statement]) -> None:
        saving.set()
        await may_save.wait()
        await write(database, statements)

    monkeypatch.setattr(Database, "write", held)
    return saving, may_save
