"""Memory of a server after long answers."""

import asyncio
from pathlib import Path

import aiohttp
import psutil
import pytest

from model.background.memory_release import FINAL_DELAY
from tests.patience import PATIENCE
from tests.program import Program, until
from tests.server.conftest import Socket

MIB = 1024 * 1024
ANSWERS = 12
"""Two megabytes each. Without a release, 79 to 97 MiB stayed, and with it 22 to 44, of which 10 are
modules that are loaded half a minute after the start.
"""


@pytest.mark.longer
async def test_memory_of_long_answers_is_released(tmp_path: Path) -> None:
    program = Program(tmp_path, is_warm=False)
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
        # In a thread: the event loop has to close the client's connection meanwhile.
        await asyncio.to_thread(
            until,
            lambda: process.memory_info().rss < start + 60 * MIB,
            "memory is released",
            FINAL_DELAY + PATIENCE,
        )
