"""A fake backend that starts no process and answers every prompt with scripted events."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from model.backends import agent_events, base
from model.domain.agent_commands import AgentCommand
from model.domain.usage import Usage
from model.store.database import Database
from model.store.rows import Statement
from tests.puppet import Puppet

Script = Callable[[base.Prompt], Iterable[agent_events.AgentEvent]]

DONE = agent_events.TurnFinished("end_turn", Usage(input_tokens=3, output_tokens=5))


def echo(prompt: base.Prompt) -> Iterable[agent_events.AgentEvent]:
    """Repeat the prompt, one delta for each word."""
    for word in prompt.text.split():
        yield agent_events.TextDelta("answer", word + " ")
    yield DONE


def plan(prompt: base.Prompt) -> Iterable[agent_events.AgentEvent]:
    """Propose a plan and wait for the user's decision."""
    yield agent_events.TextDelta("answer", "Let me plan. ")
    yield agent_events.PlanProposed("plan-1", f"1. {prompt.text}")


def silence(_: base.Prompt) -> Iterable[agent_events.AgentEvent]:
    """Start an answer and never finish it."""
    yield agent_events.TextDelta("answer", "thinking about it")


@dataclass
class FakeAgent(Puppet):
    """The agent of one session: a `Puppet` that also responds by itself."""

    script: Script = echo

    async def send(self, prompt: base.Prompt) -> None:
        await super().send(prompt)
        self.say(*self.script(prompt))

    async def approve(self, request_id: str, settings: base.Settings, plan: str | None) -> None:
        await super().approve(request_id, settings, plan)
        self.say(agent_events.TextDelta("carried out", "Done as planned."), DONE)

    async def discuss(self, request_id: str, comment: str) -> None:
        await super().discuss(request_id, comment)
        self.say(agent_events.TextDelta("discussed", "Hm. "), DONE)

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        await super().answer(request_id, answers)
        self.say(agent_events.TextDelta("answered", "I see. "), DONE)

    async def permit(self, request_id: str, decision: base.Verdict, reason: str = "") -> None:
        await super().permit(request_id, decision, reason)
        self.say(DONE)


@dataclass
class FakeBackend:
    """Opens `FakeAgent`s, listed in `agents` by session ID; `script` may be changed at any time."""

    name: str = "backend_a"
    can_fork: bool = True
    script: Script = echo
    agents: dict[str, FakeAgent] = field(default_factory=dict)
    known_commands: tuple[AgentCommand, ...] = ()
    """The agent's own commands that are known before it is started."""

    async def probe(self) -> base.Probe:
        return base.Probe(program="/bin/true", version="1.0")

    async def list_commands(
        self, worktree: Path, environment: Mapping[str, str]
    ) -> tuple[AgentCommand, ...]:
        return self.known_commands

    async def open(self, launch: base.Launch) -> base.Agent:
        agent = FakeAgent(launch, script=lambda prompt: self.script(prompt))
        self.agents[launch.session_id] = agent
        return agent

    async def close(self) -> None:
        """Do nothing: agents share no resources."""


def hold_writes(monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    """Block writes to the database.

    Returns an event that is set when a write starts, and the event that lets writes continue.
    """
    saving, may_save, write = asyncio.Event(), asyncio.Event(), Database.write

    async def hold(database: Database, statements: Sequence[Statement]) -> None:
        saving.set()
        await may_save.wait()
        await write(database, statements)

    monkeypatch.setattr(Database, "write", hold)
    return saving, may_save
