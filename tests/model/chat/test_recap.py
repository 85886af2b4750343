"""A person who comes back to a session that went on without them is told what happened."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

import pytest

from model.backends import base
from model.chat import recap
from model.commands.preferences import update_preferences
from model.commands.sessions import mark_session_read, send_chat_message
from model.domain.resources import Session
from model.runtime.workspace import Workspace
from model.writing.prompts import DEFAULT_PROMPTS
from tests.conftest import Eventually
from tests.fakes import DONE, FakeAgent, FakeBackend

RECAP = "The otter swims now; two tests were added. Nothing waits for you."


def is_for_a_recap(prompt: base.Prompt) -> bool:
    return prompt.text.startswith(DEFAULT_PROMPTS["session_recap"])


def recapping(*events: base.AgentEvent) -> Any:
    def script(prompt: base.Prompt) -> Iterable[base.AgentEvent]:
        if is_for_a_recap(prompt):
            return events
        return [
            base.TextDelta("a", "I teach it."),
            base.ToolUse("t", "edit", {"file_path": "otter.py"}),
            base.ToolResult("t", "ok"),
            DONE,
        ]

    return script


def asked_for(backend: FakeBackend, session: Session) -> list[FakeAgent]:
    return [agent for key, agent in backend.agents.items() if key != session.id]


def now(workspace: Workspace, session: Session) -> Session:
    return workspace.store.state.sessions[session.id]


@pytest.fixture
async def away(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> Session:
    """A session that went on while its person was away."""
    monkeypatch.setattr(recap, "AWAY_AFTER", 0.0)
    await update_preferences(workspace, {"session_recap_enabled": True})
    backend.script = recapping(base.TextDelta("a", f"<recap>\n{RECAP}\n</recap>"), DONE)
    await send_chat_message(workspace, session.id, "Let it swim")
    await eventually(lambda: now(workspace, session).unread)
    return now(workspace, session)


async def test_coming_back_gives_a_recap_of_what_was_said_and_done(
    workspace: Workspace, away: Session, backend: FakeBackend, eventually: Eventually
) -> None:
    await mark_session_read(workspace, away.id)
    await eventually(lambda: now(workspace, away).recap == RECAP)
    (asked,) = asked_for(backend, away)
    told = str(asked.calls[0][1])
    assert "user: Let it swim" in told
    assert "assistant: I teach it.\n[edit] otter.py" in told
    assert asked.launch.text_only


async def test_the_next_message_takes_the_recap_away(
    workspace: Workspace, away: Session, eventually: Eventually
) -> None:
    await mark_session_read(workspace, away.id)
    await eventually(lambda: now(workspace, away).recap is not None)
    await send_chat_message(workspace, away.id, "Go on")
    assert now(workspace, away).recap is None


async def test_who_was_not_away_or_wants_none_is_told_nothing(
    workspace: Workspace,
    away: Session,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert workspace.recaps.is_wanted(away)
    assert not workspace.recaps.is_wanted(away.model_copy(update={"unread": False}))
    assert not workspace.recaps.is_wanted(away.model_copy(update={"status": "running"}))
    monkeypatch.setattr(recap, "AWAY_AFTER", 600.0)
    await workspace.recaps.write(away.id)
    assert not asked_for(backend, away)
    await update_preferences(workspace, {"session_recap_enabled": False})
    assert not workspace.recaps.is_wanted(away)


async def test_a_conversation_that_goes_on_meanwhile_gets_no_stale_recap(
    workspace: Workspace, away: Session, backend: FakeBackend, eventually: Eventually
) -> None:
    script, is_asked = backend.script, asyncio.Event()

    def thinks(prompt: base.Prompt) -> Iterable[base.AgentEvent]:
        if not is_for_a_recap(prompt):
            return script(prompt)
        is_asked.set()
        return ()

    backend.script = thinks
    writing = asyncio.create_task(workspace.recaps.write(away.id))
    await is_asked.wait()
    await send_chat_message(workspace, away.id, "Go on")
    await eventually(lambda: now(workspace, away).message_count > away.message_count + 1)
    await eventually(lambda: now(workspace, away).status == "idle")
    (asked,) = asked_for(backend, away)
    asked.say(base.TextFinal("a", f"<recap>{RECAP}</recap>"), DONE)
    await writing
    assert now(workspace, away).recap is None


async def test_an_agent_that_fails_is_in_the_log_and_not_in_the_chat(
    workspace: Workspace,
    away: Session,
    backend: FakeBackend,
    caplog: pytest.LogCaptureFixture,
) -> None:
    backend.script = recapping(base.TurnFailed("The provider is overloaded.", "backend_error"))
    with caplog.at_level(logging.WARNING):
        await workspace.recaps.write(away.id)
    assert "could not write a recap" in caplog.text
    assert ": The provider is overloaded." in caplog.text
    assert now(workspace, away).recap is None
