"""What remains after Spinney is killed during a turn, and how the next start continues."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import pytest

from model.base.paths import Directories
from tests.patience import PATIENCE
from tests.program import Program, Serving, filter_by_name, until


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "alpha"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.invalid"]
    for words in (["init", "-qb", "main"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


def create_session(program: Program, repository: Path) -> dict[str, Any]:
    worktree = program.create_ready_worktree(repository)
    made: dict[str, Any] = program.call(
        "create_session", f"worktreeId={worktree['id']}", "executionMode=build"
    )
    return {**made, "worktree": worktree}


def find_processes(directory: Path) -> list[psutil.Process]:
    """Every process whose working directory is below `directory`."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(directory) and process.status() != "zombie":
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


async def read_stream(server: Serving, session_id: str, text: str, enough: str) -> str:
    """Send a message over a WebSocket and read the answer until it contains `enough`."""
    seen = ""
    url = f"{server.base_url}/ws"
    query = {"token": server.token, "since": "0"}
    async with (
        asyncio.timeout(PATIENCE),
        aiohttp.ClientSession() as http,
        http.ws_connect(url, params=query) as socket,
    ):
        args = {"sessionId": session_id, "message": text}
        await socket.send_json({"id": "1", "command": "send_chat_message", "args": args})
        async for frame in socket:
            event = json.loads(frame.data)
            if event.get("event") == "content-delta":
                seen += event["data"]["content"]
                if enough in seen:
                    return seen
    raise AssertionError("the connection ended first")


def read_saved_text(program: Program) -> str:
    """Read the texts of all saved messages from the database, without asking Spinney to save."""
    file = Directories(program.config, program.data, program.home).database
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        bodies = [json.loads(body) for (body,) in database.execute("SELECT body FROM blocks")]
    return "\n".join(body.get("text", "") for body in bodies)


@pytest.mark.core
def test_a_kill_during_an_answer_loses_no_message_and_leaves_no_process(
    program: Program, repository: Path
) -> None:
    with program.serving("--demo") as server:
        session = create_session(program, repository)
        seen = asyncio.run(read_stream(server, session["id"], "/demo stream 100000 200", "60:"))
        until(lambda: seen[:200] in read_saved_text(program), "the text is on disk")
        waiting = program.call("send_chat_message", f"sessionId={session['id']}", "message=later")
        assert waiting["status"] == "sent"
        os.kill(server.pid, signal.SIGKILL)
    until(lambda: not find_processes(Path(session["worktree"]["path"])), "the agent has ended")

    with program.serving("--demo"):
        after = program.call("get_session", f"sessionId={session['id']}")
        question, answer = after["messages"]
        assert question["content"][0]["text"] == "/demo stream 100000 200"
        assert answer["content"][0]["text"].startswith(seen[:200])
        assert answer["error"]["error"].startswith("Spinney exited")
        assert (after["status"], after["last_run"]["status"]) == ("idle", "interrupted")
        queued = program.call("list_queued_messages", f"sessionId={session['id']}")
        assert [message["id"] for message in queued] == [waiting["message_id"]]

        program.call("send_chat_message", f"sessionId={session['id']}", "message=/demo say well")
        until(
            lambda: program.call("list_queued_messages", f"sessionId={session['id']}") == [],
            "the queued message has run too",
        )
        program.call("stop_generation", f"sessionId={session['id']}")
        texts = [
            block.get("text", "")
            for message in program.call("get_messages", f"sessionId={session['id']}")["messages"]
            for block in message["content"]
        ]
        assert "/demo say well" in texts
        assert "later" in texts


def test_a_kill_during_a_restart_loses_nothing_and_is_shown_in_the_conversation(
    program: Program, repository: Path
) -> None:
    with program.serving("--demo") as server:
        session = create_session(program, repository)
        about = f"sessionId={session['id']}"
        asyncio.run(read_stream(server, session["id"], "/demo stream 100000 200", "60:"))
        waiting = program.call("send_chat_message", about, "message=later")
        assert program.call("restart_spinney", "when=now")["restarting"]
        os.kill(server.pid, signal.SIGKILL)  # while it ends its agents, or starts again
        server.process.wait(PATIENCE)
    until(lambda: not find_processes(Path(session["worktree"]["path"])), "the agent has ended")

    with program.serving("--demo"):
        after = program.call("get_session", about)
        assert (after["status"], after["last_run"]["status"]) == ("idle", "interrupted")
        assert "60:" in after["messages"][1]["content"][0]["text"]
        assert after["messages"][1]["error"]["error"].startswith("Spinney ")
        queued = program.call("list_queued_messages", about)
        assert [message["id"] for message in queued] == [waiting["message_id"]]
        assert program.call("get_problems") == []


def test_a_tool_that_outlives_a_kill_is_ended_at_the_next_start(
    program: Program, repository: Path
) -> None:
    with program.serving("--demo") as server:
        session = create_session(program, repository)
        place = Path(session["worktree"]["path"])
        # A child outside the agent's process group, without its pipes.
        command = "setsid sleep 600 >/dev/null 2>&1 </dev/null & sleep 600"
        program.call(
            "send_chat_message", f"sessionId={session['id']}", f"message=/demo run {command}"
        )
        until(lambda: len(filter_by_name("sleep", find_processes(place))) == 2, "it runs")
        os.kill(server.pid, signal.SIGKILL)
    with program.serving("--demo"):
        until(lambda: not find_processes(place), "no process of it is left")


def test_a_regular_end_leaves_no_process(program: Program, repository: Path) -> None:
    with program.serving("--demo") as server:
        session = create_session(program, repository)
        place = Path(session["worktree"]["path"])
        program.call(
            "send_chat_message", f"sessionId={session['id']}", "message=/demo run sleep 600"
        )
        until(lambda: filter_by_name("sleep", find_processes(place)), "it runs")
        code, _, errors = server.end()
    assert (code, errors) == (0, "")
    assert find_processes(place) == []
