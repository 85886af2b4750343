"""Sections 1 to 7 of the interface against the program itself: `spinney serve` with real git."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.contract.conftest import bearer, program_in
from tests.program import Program, Serving
from tests.server.conftest import Socket


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return program_in(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def served(program: Program) -> Iterator[Serving]:
    """One program for all of these tests."""
    with program.serving("--demo") as serving:
        yield serving


@pytest.fixture
def repository(program: Program, request: pytest.FixtureRequest) -> Path:
    """A repository of this test's own, pushed to a bare `origin`."""
    root = program.made_repository(request.node.name)
    origin = root.with_suffix(".git")
    git(program, root, "clone", "--quiet", "--bare", str(root), str(origin))
    git(program, root, "remote", "add", "origin", str(origin))
    git(program, root, "fetch", "--quiet", "origin")
    return root


def git(program: Program, cwd: Path, *words: str) -> str:
    ran = subprocess.run(
        ["git", *words], cwd=cwd, env=program.environ, check=True, capture_output=True, text=True
    )
    return ran.stdout.strip()


@pytest.fixture
async def worktree(socket: Socket, repository: Path) -> Any:
    """A worktree as the event of its creation tells it."""
    project = await socket.call("add_project", path=str(repository))
    made = await socket.call("create_worktree", projectId=project["id"])
    assert (await event(socket, "worktree:creating"))["payload"]["id"] == made["id"]
    created = (await event(socket, "worktree:created"))["payload"]["worktree"]
    assert (created["id"], created["project_id"]) == (made["id"], project["id"])
    return created


async def event(socket: Socket, name: str) -> Any:
    """The first event of this name, which may have come before a command's answer."""
    earlier = (frame for frame in socket.frames if frame.get("event") == name)
    return next(earlier, None) or await socket.event(name)


async def test_401_without_the_token_or_with_a_wrong_one(
    served: Serving, http: aiohttp.ClientSession
) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        for path in ("/api/auth", "/api/init", "/api/sessions/no"):
            async with http.get(path, headers=headers) as response:
                assert response.status == 401
                body = await response.json()
                assert body["error_type"] == "authentication_error"
                assert isinstance(body["error"], str)
    for query in ({}, {"token": "wrong"}):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await http.ws_connect("/ws", params=query)
        assert refused.value.status == 401
    async with http.get("/api/auth", headers=bearer(served)) as response:
        assert (response.status, (await response.json())["ok"]) == (200, True)


async def test_init_has_what_a_client_begins_with(
    served: Serving, http: aiohttp.ClientSession, worktree: Any
) -> None:
    async with http.get("/api/init", headers=bearer(served)) as response:
        assert response.status == 200
        known = await response.json()
    assert worktree["project_id"] in [project["id"] for project in known["projects"]]
    assert known["worktreesByProject"][worktree["project_id"]] == [worktree]
    assert "theme" in known["preferences"]


async def test_errors_have_their_shapes_over_http_and_websocket(
    served: Serving, http: aiohttp.ClientSession, socket: Socket, program: Program
) -> None:
    async with http.get("/api/sessions/no", headers=bearer(served)) as response:
        assert response.status == 404
        assert await response.json() == {
            "error": "Session not found: no", "error_type": "not_found", "session_id": "no",
        }  # fmt: skip
    path = str(program.cwd)
    await socket.send({"id": "a", "command": "add_project", "args": {"path": path}})
    failed = await socket.answer("a")
    assert (failed["type"], failed["id"]) == ("error", "a")
    assert failed["error"] == f"Path is not a git repository: {path}"


async def test_a_worktree_is_made_committed_and_pushed(
    socket: Socket, worktree: Any, program: Program, repository: Path
) -> None:
    path = Path(worktree["path"])
    assert git(program, path, "branch", "--show-current") == worktree["branch"]
    (path / "new.txt").write_text("new\n")
    done = await socket.call(
        "commit_changes", worktreeId=worktree["id"], message="Add", stageAll=True
    )
    assert done == {"success": True, "commit_sha": git(program, path, "rev-parse", "HEAD")}
    pushed = await socket.call("git_push", worktreePath=str(path))
    assert pushed["success"] is True, pushed["output"]
    there = git(program, repository.with_suffix(".git"), "rev-parse", worktree["branch"])
    assert there == done["commit_sha"]


async def test_a_session_made_over_http_streams_over_the_websocket_in_order(
    served: Serving, http: aiohttp.ClientSession, socket: Socket, worktree: Any
) -> None:
    given = {"name": "Chat", "execution_mode": "build"}
    path = f"/api/worktrees/{worktree['id']}/sessions"
    async with http.post(path, json=given, headers=bearer(served)) as response:
        session = await response.json()
    assert {key: session[key] for key in given} == given
    created = (await event(socket, "session-created"))["data"]["session"]
    assert created["id"] == session["id"]

    await socket.send(
        {"type": "send_message", "session_id": session["id"],
         "message": "/demo say one two three\n/demo write a.txt: four"}
    )  # fmt: skip
    completed = (await event(socket, "message-completed"))["data"]
    answer = completed["message_id"]
    told = [
        (frame["event"], frame["data"])
        for frame in socket.frames
        if "event" in frame and frame.get("data", {}).get("message_id") == answer
    ]
    names = [name for name, _ in told]
    assert (names[0], names[-1]) == ("message-started", "message-completed")
    assert set(names[1:-1]) == {"content-delta", "tool-use"}
    text = "".join(data["content"] for name, data in told if name == "content-delta")
    assert "one two three" in text
    assert not any("seq" in frame for frame in socket.frames), "plain frames have no number"
    assert (Path(worktree["path"]) / "a.txt").read_text().strip() == "four"
