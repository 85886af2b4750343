"""Archiving, deleting or changing a session while a message to it is being saved."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from model.base.errors import SpinneyError
from model.commands.projects import remove_project
from model.commands.sessions import (
    archive_session,
    delete_session,
    send_chat_message,
    update_session,
)
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from tests.fakes import FakeBackend, hold_writes, silence

EndSession = Callable[[Workspace, str], Awaitable[object]]


async def start_during_send(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
    operation: Awaitable[object],
) -> "asyncio.Future[object]":
    """Start `operation` while a message is being saved; return once the message is accepted."""
    saving, may_save = hold_writes(monkeypatch)
    backend.script = silence
    sending = asyncio.create_task(send_chat_message(workspace, session.id, "go"))
    await saving.wait()
    started = asyncio.ensure_future(operation)
    await asyncio.sleep(0)
    may_save.set()
    await sending
    return started


@pytest.mark.parametrize("end_session", [delete_session, archive_session])
async def test_a_message_that_is_being_saved_is_not_run_in_a_deleted_or_archived_session(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    end_session: EndSession,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    ending = await start_during_send(
        workspace, session, backend, monkeypatch, end_session(workspace, session.id)
    )
    await ending
    left = workspace.store.state.sessions.get(session.id)
    assert left is None or (left.archived_at is not None and not left.is_active)
    assert workspace.store.state.streaming == {}
    assert [agent for agent in backend.agents.values() if not agent.closed] == []
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


async def test_the_agent_cannot_be_changed_while_a_message_is_being_saved(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changing = await start_during_send(
        workspace,
        session,
        backend,
        monkeypatch,
        update_session(workspace, session.id, backend="backend_b"),
    )
    with pytest.raises(SpinneyError, match="Stop the session before"):
        await changing
    now = workspace.store.state.sessions[session.id]
    assert (now.backend, now.is_active) == (session.backend, True)


async def test_a_project_cannot_be_removed_while_a_message_is_being_saved(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    removing = await start_during_send(
        workspace, session, backend, monkeypatch, remove_project(workspace, "project")
    )
    with pytest.raises(SpinneyError):
        await removing
    assert workspace.store.state.sessions[session.id].status == "running"
