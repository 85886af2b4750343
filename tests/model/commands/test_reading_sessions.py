"""Reading a session while its agent writes: an answer never falls behind what events have told."""

from collections.abc import Callable

import pytest

from model.backends import base
from model.commands.sessions import get_messages, get_session, send_chat_message
from model.domain.resources import MessagePage, Session
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import DONE, FakeBackend, silence


@pytest.fixture
async def ends_while_read(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A turn runs, and ends just after the database was first read."""
    backend.script = silence
    await send_chat_message(workspace, session.id, "weave")
    await eventually(lambda: bool(workspace.store.state.streaming))
    read: Callable[[str, int, int], object] = workspace.store.messages

    async def messages(session_id: str, limit: int, offset: int) -> MessagePage:
        page = await workspace.store._database.messages(session_id, limit, offset)
        monkeypatch.setattr(workspace.store, "messages", read)
        backend.agents[session.id].say(base.TextFinal("answer", "woven"), DONE)
        await eventually(lambda: _status(workspace, session) == "idle")
        return page

    await workspace.store.flush()
    monkeypatch.setattr(workspace.store, "messages", messages)


def _status(workspace: Workspace, session: Session) -> str:
    return workspace.store.state.sessions[session.id].status


@pytest.mark.usefixtures("ends_while_read")
async def test_the_messages_are_those_of_the_turns_end(
    workspace: Workspace, session: Session
) -> None:
    page = await get_messages(workspace, session.id)
    assert [message.text for message in page.messages] == ["weave", "woven"]
    assert page.messages[-1].status == "completed"


@pytest.mark.usefixtures("ends_while_read")
async def test_the_session_is_that_of_the_turns_end(workspace: Workspace, session: Session) -> None:
    read = await get_session(workspace, session.id)
    assert (read.status, read.messages[-1].text) == ("idle", "woven")
