"""A session that is put away, or given to another agent, while a message is being accepted."""

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
from model.domain.resources import Session
from model.runtime.workspace import Workspace
from tests.fakes import FakeBackend, held_writes, silence

PutAway = Callable[[Workspace, str], Awaitable[object]]


async def beside_a_message(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
    doing: Awaitable[object],
) -> "asyncio.Future[object]":
    """What was begun while a message was being saved, which is accepted by now."""
    saving, may_save = held_writes(monkeypatch)
    backend.script = silence
    sending = asyncio.create_task(send_chat_message(workspace, session.id, "go"))
    await saving.wait()
    begun = asyncio.ensure_future(doing)
    await asyncio.sleep(0)
    may_save.set()
    await sending
    return begun


@pytest.mark.parametrize("put_away", [delete_session, archive_session])
async def test_a_message_that_is_just_accepted_runs_in_no_session_that_was_put_away(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    put_away: PutAway,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    putting_away = await beside_a_message(
        workspace, session, backend, monkeypatch, put_away(workspace, session.id)
    )
    await putting_away
    left = workspace.store.state.sessions.get(session.id)
    assert left is None or (left.archived_at is not None and not left.is_active)
    assert workspace.store.state.streaming == {}
    assert [agent for agent in backend.agents.values() if not agent.closed] == []
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_message_that_is_just_accepted_is_of_the_agent_it_was_written_to(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changing = await beside_a_message(
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


async def test_a_project_stays_where_a_message_is_just_accepted(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    removing = await beside_a_message(
        workspace, session, backend, monkeypatch, remove_project(workspace, "project")
    )
    with pytest.raises(SpinneyError):
        await removing
    assert workspace.store.state.sessions[session.id].status == "running"
