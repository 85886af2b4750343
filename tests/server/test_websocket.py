"""The WebSocket channel: commands, chat messages, events in both forms, and what goes wrong."""

import asyncio
import json

import aiohttp
import pytest

from model.resources import Session
from model.workspace import Workspace
from server.app import Server
from tests.server.conftest import Socket, connect


async def test_a_command_gets_its_result_as_a_response(
    server: Server, http: aiohttp.ClientSession, session: Session
) -> None:
    socket = await connect(server, http)
    listed = await socket.call("list_sessions", worktreeId=session.worktree_id)
    assert [found["id"] for found in listed] == [session.id]
    assert set(socket.frames[-1]) == {"type", "id", "data"}


async def test_a_whole_turn_is_streamed_in_order_and_the_reply_comes_before_none_of_its_events(
    server: Server, http: aiohttp.ClientSession, session: Session
) -> None:
    socket = await connect(server, http)
    sent = await socket.call("send_chat_message", sessionId=session.id, message="one two three")
    assert sent["status"] == "processing"
    assert "message-queued" in [frame.get("event") for frame in socket.frames]
    await socket.event("message-completed")
    names = [frame["event"] for frame in socket.frames if "event" in frame]
    assert names.index("message-started") < names.index("content-delta")
    assert names.index("content-delta") < names.index("message-completed")
    deltas = [frame["data"] for frame in socket.frames if frame.get("event") == "content-delta"]
    assert "".join(delta["content"] for delta in deltas) == "one two three "
    assert set(deltas[0]) == {"message_id", "content", "content_index"}
