"""The state for those who join: whole, whatever happens while it is put together."""

from typing import Any

import pytest

from model.client.snapshot import build_snapshot, parse_snapshot
from model.domain import events as e
from model.domain.resources import Message, Session
from model.runtime.workspace import Workspace


def begin(workspace: Workspace, session: Session) -> Message:
    """The agent starts to answer in this session."""
    message = Message(
        id=f"answer in {session.id}",
        role="assistant",
        timestamp=1,
        session_id=session.id,
        status="processing",
    )
    running = e.SessionUpdated(session_id=session.id, updates={"status": "running"})
    started = e.MessageStarted(message_id=message.id, session_id=session.id, message=message)
    workspace.store.record(running, started)
    return message


async def test_an_answer_that_begins_while_messages_are_read_is_in_it(
    workspace: Workspace, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = session.model_copy(update={"id": "other", "name": "Other"})
    await workspace.store.accept(e.SessionCreated(session=other))
    running = e.SessionUpdated(session_id=session.id, updates={"status": "running"})
    workspace.store.record(running)
    read = workspace.store.messages
    begun: list[Message] = []

    async def slow(*given: Any) -> Any:
        page = await read(*given)
        if not begun:
            begun.extend((begin(workspace, session), begin(workspace, other)))
        return page

    monkeypatch.setattr(workspace.store, "messages", slow)
    snapshot = await build_snapshot(workspace)
    assert snapshot["seq"] == workspace.bus.seq
    assert parse_snapshot(snapshot).streaming == {message.id: message for message in begun}
    assert set(snapshot["activeSessions"]) == {session.id, "other"}
