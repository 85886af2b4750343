"""The last line of what a session writes, for the pages that watch it."""

import asyncio
import gc

import aiohttp
import pytest

from model.domain.events.messages import BlockChanged, ContentDelta, MessageStarted
from model.domain.events.sessions import SessionCreated
from model.domain.messages import Message, TextBlock
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from server.app import Server
from server.fanout import Connection
from tests.patience import PATIENCE
from tests.server.conftest import Socket, connect


@pytest.fixture
async def session(workspace: Workspace) -> Session:
    made = Session(id="s", worktree_id="w", name="s", created_at=1)
    workspace.store.record(SessionCreated(session=made))
    started = Message(id="m", session_id="s", role="assistant", timestamp=1, status="processing")
    workspace.store.record(MessageStarted(message_id="m", session_id="s", message=started))
    return made


def write(workspace: Workspace, index: int, text: str) -> None:
    workspace.store.record(
        ContentDelta(message_id="m", content=text, content_index=index, session_id="s")
    )


async def read_line(socket: Socket) -> str:
    async with asyncio.timeout(PATIENCE):
        while (frame := await socket.receive()).get("event") != "live-line":
            pass
    assert frame["payload"]["session_id"] == "s"
    return str(frame["payload"]["text"])


@pytest.mark.longer
async def test_a_page_that_has_left_is_not_watched_for(
    server: Server, workspace: Workspace, http: aiohttp.ClientSession, session: Session
) -> None:
    before = count_connections()
    write(workspace, 0, "One line.")
    socket = await connect(server, http, 0, blocks=True)
    await socket.send({"type": "show", "session_id": "s"})
    await socket.send({"type": "watch", "session_ids": ["s"]})
    assert await read_line(socket) == "One line."
    assert count_connections() == before + 1
    await socket.socket.close()
    async with asyncio.timeout(PATIENCE):
        while count_connections() > before:
            await asyncio.sleep(0.01)


def count_connections() -> int:
    """Return how many connections of clients are kept."""
    gc.collect()
    return sum(isinstance(kept, Connection) for kept in gc.get_objects())


async def test_a_watching_page_gets_the_last_line_and_then_each_change(
    server: Server, workspace: Workspace, http: aiohttp.ClientSession, session: Session
) -> None:
    write(workspace, 0, "One line.\nAnother\x1b line.\n\n")
    socket = await connect(server, http, 0, blocks=True)
    await socket.send({"type": "watch", "session_ids": ["s", "unknown"]})
    assert await read_line(socket) == "Another␛ line."
    write(workspace, 0, "x" * 1000 + "end")
    assert await read_line(socket) == "x" * 197 + "end"
    write(workspace, 2, "A new block")
    assert await read_line(socket) == "A new block"
    replaced = TextBlock(text="Replaced")
    workspace.store.record(
        BlockChanged(session_id="s", message_id="m", content_index=2, block=replaced)
    )
    assert await read_line(socket) == "Replaced"
    await socket.send({"type": "watch", "session_ids": []})
    await socket.send({"type": "watch", "session_ids": "s"})
    while (frame := await socket.receive()).get("type") != "error":
        assert frame.get("event") != "live-line"
