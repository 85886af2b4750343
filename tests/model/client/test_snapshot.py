"""The snapshot for new clients is consistent if the state changes while it is built."""

from typing import Any

import pytest

from model.client.snapshot import build_snapshot, parse_snapshot
from model.domain.events.messages import MessageStarted
from model.domain.events.sessions import SessionCreated, SessionUpdated
from model.domain.messages import Message
from model.domain.sessions import Session
from model.runtime.workspace import Workspace


def start_answer(workspace: Workspace, session: Session) -> Message:
    """Start an answer of the agent in this session."""
    message = Message(
        id=f"answer in {session.id}",
        role="assistant",
        timestamp=1,
        session_id=session.id,
        status="processing",
    )
    running = SessionUpdated(session_id=session.id, updates={"status": "running"})
    started = MessageStarted(message_id=message.id, session_id=session.id, message=message)
    workspace.store.record(running, started)
    return message


async def test_an_answer_that_starts_while_messages_are_read_is_included(
    workspace: Workspace, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = session.model_copy(update={"id": "other", "name": "Other"})
    await workspace.store.accept(SessionCreated(session=other))
    running = SessionUpdated(session_id=session.id, updates={"status": "running"})
    workspace.store.record(running)
    read = workspace.store.messages
    started_answers: list[Message] = []

    async def slow(*given: Any) -> Any:
        page = await read(*given)
        if not started_answers:
            started_answers.extend(
                (start_answer(workspace, session), start_answer(workspace, other))
            )
        return page

    monkeypatch.setattr(workspace.store, "messages", slow)
    snapshot = await build_snapshot(workspace)
    assert snapshot["seq"] == workspace.bus.seq
    assert parse_snapshot(snapshot).streaming == {
        message.id: message for message in started_answers
    }
    assert set(snapshot["activeSessions"]) == {session.id, "other"}
