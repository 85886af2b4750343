"""Reading a session during a turn: results are never older than the published events."""

from collections.abc import Callable

import pytest

from model.backends import agent_events
from model.commands.sessions import get_messages, get_session, send_chat_message
from model.domain.messages import MessagePage
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import DONE, FakeBackend, silence


@pytest.fixture
async def turn_that_ends_during_a_read(
    workspace: Workspace,
    session: Session,
    backend: FakeBackend,
    eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A turn that ends right after the first read of the database."""
    backend.script = silence
    await send_chat_message(workspace, session.id, "weave")
    await eventually(lambda: bool(workspace.store.state.streaming))
    read: Callable[[str, int, int], object] = workspace.store.messages

    async def messages(session_id: str, limit: int, offset: int) -> MessagePage:
        page = await workspace.store._database.messages(session_id, limit, offset)
        monkeypatch.setattr(workspace.store, "messages", read)
        backend.agents[session.id].say(agent_events.TextFinal("answer", "woven"), DONE)
        await eventually(lambda: _status(workspace, session) == "idle")
        return page

    await workspace.store.flush()
    monkeypatch.setattr(workspace.store, "messages", messages)


def _status(workspace: Workspace, session: Session) -> str:
    return workspace.store.state.sessions[session.id].status


@pytest.mark.usefixtures("turn_that_ends_during_a_read")
async def test_the_messages_include_the_end_of_the_turn(
    workspace: Workspace, session: Session
) -> None:
    page = await get_messages(workspace, session.id)
    assert [message.text for message in page.messages] == ["weave", "woven"]
    assert page.messages[-1].status == "completed"


@pytest.mark.usefixtures("turn_that_ends_during_a_read")
async def test_the_session_includes_the_end_of_the_turn(
    workspace: Workspace, session: Session
) -> None:
    read = await get_session(workspace, session.id)
    assert (read.status, read.messages[-1].text) == ("idle", "woven")
