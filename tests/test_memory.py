"""Memory of a server after long answers."""

from pathlib import Path

import aiohttp
import psutil
import pytest

from tests.program import Program, until
from tests.server.conftest import Socket

MIB = 1024 * 1024
ANSWERS = 12
"""Two megabytes each; without bounds, 200 MiB and more are never released."""


@pytest.mark.longer
async def test_memory_of_long_answers_is_released(tmp_path: Path) -> None:
    program = Program(tmp_path)
    with program.serving("--demo") as served:
        process = psutil.Process(served.pid)
        async with aiohttp.ClientSession(served.base_url) as http:
            socket = Socket(await http.ws_connect("/ws", params={"token": served.token}))
            project = await socket.call("add_project", path=str(program.make_repository()))
            worktree = await socket.call("open_base_worktree", projectId=project["id"])
            session = await socket.call("create_session", worktreeId=worktree["id"])

            async def answer(kilobytes: int) -> None:
                words = f"/demo markdown {kilobytes}"
                await socket.call("send_chat_message", sessionId=session["id"], message=words)
                await socket.event("message-completed")
                socket.frames.clear()

            await answer(10)
            start = process.memory_info().rss
            for _ in range(ANSWERS):
                await answer(2000)
        until(lambda: process.memory_info().rss < start + 40 * MIB, "memory is released")
