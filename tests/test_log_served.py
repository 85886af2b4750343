"""The debug log of a server after requests of clients, with and without a token."""

import asyncio
import re
from pathlib import Path

import aiohttp

from model.base.log import MAX_LINE_BYTES
from tests.program import Program
from tests.server.conftest import Socket

RECORD = re.compile(r"\d{4}-\d\d-\d\d [\d:,]+ [A-Z]+ (?P<logger>[\w.]+): ")
CONVERSATION = "the words of a conversation"
FORGED = "x\n2026-01-01 00:00:00,000 ERROR forged: owned\x1b]0;t\x07"


async def test_the_log_has_only_lines_of_its_own_and_no_text_of_conversations(
    tmp_path: Path,
) -> None:
    program = Program(tmp_path, environ={"SPINNEY_LOG": "debug"})
    with program.serving("--demo") as served:
        async with aiohttp.ClientSession(served.base_url) as http:
            params = {"token": served.token}
            socket = Socket(await http.ws_connect("/ws", params=params, max_msg_size=0))
            project = await socket.call("add_project", path=str(program.make_repository()))
            worktree = await socket.call("open_base_worktree", projectId=project["id"])
            session = await socket.call("create_session", worktreeId=worktree["id"])
            for name in (FORGED, "x" * 3_000_000, "\r\x85\u2028"):
                await socket.call("list_projects", **{name: 1})
            words = f"/demo say {CONVERSATION}"
            await socket.call("send_chat_message", sessionId=session["id"], message=words)
            await socket.event("message-completed")
            changes = {"magic_prompts": {"commit_message": f"{CONVERSATION} always"}}
            await socket.call("update_preferences", changes=changes)
            for path in ("/api/init?token=wrong", "/%0a%1b]0;x%07", "/api/x\u2028"):
                async with http.get(path) as response:
                    assert response.status in (401, 404)
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(f"no http {served.token}\r\n\r\n".encode())
            assert await reader.read()
            writer.close()
        served.end()
    text = (program.data / "spinney.log").read_bytes().decode()
    for line in text[:-1].split("\n"):
        found = RECORD.match(line)
        assert found or line.startswith("    | "), line
        assert len(line.encode()) <= MAX_LINE_BYTES
        assert found is None or found["logger"].split(".")[0] in ("model", "server"), line
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", text)
    assert CONVERSATION not in text and served.token not in text
    assert "listening at" in text and "unknown arguments ignored" in text
