"""A session that is put away, or given to another agent, while a message is being accepted."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from model.commands.projects import remove_project
from model.commands.sessions import (
    archive_session,
    delete_session,
    send_chat_message,
    update_session,
)
from model.errors import SpinneyError
from model.resources import Session
from model.workspace import Workspace
from tests.fakes import FakeBackend, held_writes, silence

PutAway = Callable[[Workspace, str], Awaitable[object]]


@pytest.mark.parametrize("put_away", [delete_session.function, archive_session.function])
async def test_a_message_that_is_just_accepted_runs_in_no_session_that_was_put_away(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    put_away: PutAway,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    saving, may_save = held_writes(monkeypatch)
    backend.script = silence
    sending = asyncio.create_task(send_chat_message.function(workspace, session.id, "go"))
    await saving.wait()
    putting_away = asyncio.create_task(put_away(workspace, session.id))
    await asyncio.sleep(0)
    may_save.set()
    await asyncio.gather(sending, putting_away)
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
    saving, may_save = held_writes(monkeypatch)
    backend.script = silence
    sending = asyncio.create_task(send_chat_message.function(workspace, session.id, "go"))
    await saving.wait()
    changing = asyncio.create_task(
        update_session.function(workspace, session.id, backend="backend_b")
    )
    await asyncio.sleep(0)
    may_save.set()
    with pytest.raises(SpinneyError, match="Stop the session before"):
        await changing
    await sending
    now = workspace.store.state.sessions[session.id]
    assert (now.backend, now.is_active) == (session.backend, True)


async def test_a_project_stays_where_a_message_is_just_accepted(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    saving, may_save = held_writes(monkeypatch)
    backend.script = silence
    sending = asyncio.create_task(send_chat_message.function(workspace, session.id, "go"))
    await saving.wait()
    removing = asyncio.create_task(remove_project.function(workspace, "project"))
    await asyncio.sleep(0)
    may_save.set()
    await sending
    with pytest.raises(SpinneyError):
        await removing
    assert workspace.store.state.sessions[session.id].status == "running"
