"""Recaps for users who return to a session that continued without them."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

import pytest

from model.backends import agent_events, base
from model.chat import recap
from model.chat.rewinding import ConversationPoint
from model.commands.preferences import update_preferences
from model.commands.sessions import mark_session_read, send_chat_message
from model.domain.sessions import Session
from model.preferences.prompts import PROMPTS
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import DONE, FakeAgent, FakeBackend

RECAP = "The otter swims now; two tests were added. Nothing waits for you."


def is_recap_prompt(prompt: base.Prompt) -> bool:
    return prompt.text.startswith(PROMPTS["session_recap"].default)


def script_recap(*events: agent_events.AgentEvent) -> Any:
    def script(prompt: base.Prompt) -> Iterable[agent_events.AgentEvent]:
        if is_recap_prompt(prompt):
            return events
        return [
            agent_events.TextDelta("a", "I teach it."),
            agent_events.ToolUse("t", "edit", {"file_path": "otter.py"}),
            agent_events.ToolResult("t", "ok"),
            DONE,
        ]

    return script


def find_recap_agents(backend: FakeBackend, session: Session) -> list[FakeAgent]:
    return [agent for key, agent in backend.agents.items() if key != session.id]


def current(workspace: Workspace, session: Session) -> Session:
    return workspace.store.state.sessions[session.id]


@pytest.fixture
async def away(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> Session:
    """A session that finished a turn while its user was away."""
    monkeypatch.setattr(recap, "AWAY_AFTER", 0.0)
    await update_preferences(workspace, {"session_recap_enabled": True})
    backend.script = script_recap(agent_events.TextDelta("a", f"<recap>\n{RECAP}\n</recap>"), DONE)
    await send_chat_message(workspace, session.id, "Let it swim")
    await eventually(lambda: current(workspace, session).unread)
    return current(workspace, session)


async def test_returning_writes_a_recap_of_messages_and_tool_calls(
    workspace: Workspace, away: Session, backend: FakeBackend, eventually: Eventually
) -> None:
    await mark_session_read(workspace, away.id)
    await eventually(lambda: current(workspace, away).recap == RECAP)
    (recap_agent,) = find_recap_agents(backend, away)
    material = str(recap_agent.calls[0][1])
    assert "user: Let it swim" in material
    assert "assistant: I teach it.\n[edit] otter.py" in material
    assert recap_agent.launch.text_only


async def test_the_next_message_removes_the_recap(
    workspace: Workspace, away: Session, eventually: Eventually
) -> None:
    await mark_session_read(workspace, away.id)
    await eventually(lambda: current(workspace, away).recap is not None)
    await send_chat_message(workspace, away.id, "Go on")
    assert current(workspace, away).recap is None


async def test_no_recap_without_an_absence_or_with_the_preference_off(
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
    assert not find_recap_agents(backend, away)
    await update_preferences(workspace, {"session_recap_enabled": False})
    assert not workspace.recaps.is_wanted(away)


async def test_a_conversation_that_continues_meanwhile_gets_no_stale_recap(
    workspace: Workspace, away: Session, backend: FakeBackend, eventually: Eventually
) -> None:
    script, is_asked = backend.script, asyncio.Event()

    def hold_recap(prompt: base.Prompt) -> Iterable[agent_events.AgentEvent]:
        if not is_recap_prompt(prompt):
            return script(prompt)
        is_asked.set()
        return ()

    backend.script = hold_recap
    writing = asyncio.create_task(workspace.recaps.write(away.id))
    await is_asked.wait()
    await send_chat_message(workspace, away.id, "Go on")
    await eventually(lambda: current(workspace, away).message_count > away.message_count + 1)
    await eventually(lambda: current(workspace, away).status == "idle")
    (recap_agent,) = find_recap_agents(backend, away)
    recap_agent.say(agent_events.TextFinal("a", f"<recap>{RECAP}</recap>"), DONE)
    await writing
    assert current(workspace, away).recap is None


async def test_what_is_taken_back_meanwhile_is_in_no_recap(
    workspace: Workspace, away: Session, backend: FakeBackend
) -> None:
    is_asked = asyncio.Event()

    def hold_recap(prompt: base.Prompt) -> Iterable[agent_events.AgentEvent]:
        is_asked.set()
        return ()

    backend.script = hold_recap
    writing = asyncio.create_task(workspace.recaps.write(away.id))
    await is_asked.wait()
    (first, *_) = (await workspace.store.messages(away.id)).messages
    point = ConversationPoint(message_id=first.id, backend=away.backend)
    await workspace.chats.rewind(away.id, keep=point)
    (recap_agent,) = find_recap_agents(backend, away)
    recap_agent.say(agent_events.TextFinal("a", f"<recap>{RECAP}</recap>"), DONE)
    await writing
    assert current(workspace, away).recap is None


async def test_a_failure_is_logged_and_not_shown_in_the_chat(
    workspace: Workspace,
    away: Session,
    backend: FakeBackend,
    caplog: pytest.LogCaptureFixture,
) -> None:
    backend.script = script_recap(
        agent_events.TurnFailed("The provider is overloaded.", "backend_error")
    )
    with caplog.at_level(logging.WARNING):
        await workspace.recaps.write(away.id)
    assert "could not write a recap" in caplog.text
    assert ": The provider is overloaded." in caplog.text
    assert current(workspace, away).recap is None
