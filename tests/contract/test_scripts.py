"""Section 2.6 of the interface: scripts of a repository."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.contract.conftest import make_program, open_socket
from tests.patience import PATIENCE
from tests.program import Program, Serving
from tests.server.conftest import Socket

PRINT_VARIABLES = 'echo "$SPINNEY_WORKSPACE_PATH|$SPINNEY_ROOT_PATH|$SPINNEY_BRANCH"'
PRINT_JEAN_VARIABLES = PRINT_VARIABLES.replace("SPINNEY_", "JEAN_")


@pytest.fixture(scope="module", name="program")
def program_fixture(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return make_program(tmp_path_factory.mktemp("scripts"))


@pytest.fixture(scope="module", name="served")
def served_fixture(program: Program) -> Iterator[Serving]:
    with program.serving("--demo") as serving:
        yield serving


@pytest.fixture
async def socket(served: Serving) -> AsyncIterator[Socket]:
    timeout = aiohttp.ClientTimeout(total=PATIENCE)
    async with aiohttp.ClientSession(served.base_url, timeout=timeout) as http:
        yield await open_socket(http, served.token)


class ScriptProject:
    """A project whose repository has scripts, and its WebSocket client."""

    def __init__(self, socket: Socket, root: Path, project_id: str) -> None:
        self.socket, self.root, self.id = socket, root, project_id

    async def create_worktree(self, **options: Any) -> Any:
        made = await self.socket.call("create_worktree", projectId=self.id, **options)
        while True:
            created = await self.socket.event("worktree:created")
            if created["payload"]["worktree"]["id"] == made["id"]:
                return created["payload"]["worktree"]

    async def wait_for_task(self, task: str) -> Any:
        """The result of a task, which may have arrived before the reply to what ended it."""
        while True:
            for frame in self.socket.frames:
                if frame.get("event") == "task:completed" and frame["payload"]["task"] == task:
                    self.socket.frames.remove(frame)
                    return frame["payload"]
            await self.socket.event("task:completed")

    async def expect_error(self, command: str, **args: Any) -> Any:
        await self.socket.send({"id": "refused", "command": command, "args": args})
        answer = await self.socket.answer("refused")
        assert answer["type"] == "error", answer
        return answer


async def create_project(
    program: Program, socket: Socket, name: str, file: str = "spinney.json", **scripts: str
) -> ScriptProject:
    root = program.place / name
    root.mkdir()
    (root / file).write_text(json.dumps({"scripts": scripts}))
    program.make_repository(name)
    project = await socket.call("add_project", path=str(root))
    return ScriptProject(socket, root, project["id"])


@pytest.mark.parametrize("file", ["spinney.json", "jean.json"])
async def test_setup_and_run_get_their_paths_and_their_output_is_kept(
    program: Program, socket: Socket, file: str
) -> None:
    scripts = {
        "setup": f"{PRINT_VARIABLES}; {PRINT_JEAN_VARIABLES}; pwd",
        "run": "echo ran; exit 3",
    }
    project = await create_project(program, socket, file.replace(".", "-"), file, **scripts)
    worktree = await project.create_worktree()
    result = await project.wait_for_task("setup")
    assert (result["ok"], result["worktree_id"]) == (True, worktree["id"])
    facts = f"{worktree['path']}|{project.root}|{worktree['branch']}"
    kept = await socket.call("get_script_output", worktreeId=worktree["id"], script="setup")
    assert kept["output"].split("\n")[:3] == [facts, facts, worktree["path"]]
    assert (kept["status"], kept["exit_code"]) == ("completed", 0)
    assert facts in result["detail"]

    started = await socket.call("run_worktree_script", worktreeId=worktree["id"])
    assert (started["script"], started["status"]) == ("run", "running")
    result = await project.wait_for_task("run")
    assert result["ok"] is False
    assert "exit code 3" in result["detail"]
    kept = await socket.call("get_script_output", worktreeId=worktree["id"], script="run")
    assert (kept["output"], kept["status"], kept["exit_code"]) == ("ran\n", "failed", 3)


async def test_spinney_json_takes_precedence_over_jean_json(
    program: Program, socket: Socket
) -> None:
    root = program.place / "both"
    root.mkdir()
    for name in ("spinney", "jean"):
        text = json.dumps({"scripts": {"run": f"echo {name}"}, "more": name})
        (root / f"{name}.json").write_text(text)
    program.make_repository("both")
    project = await socket.call("add_project", path=str(root))
    found = await socket.call("get_project_scripts", projectId=project["id"])
    assert [(s["name"], s["text"], s["file"]) for s in found] == [
        ("run", "echo spinney", "spinney.json")
    ]


async def test_a_failing_setup_keeps_the_worktree_and_shows_its_output(
    program: Program, socket: Socket
) -> None:
    project = await create_project(
        program, socket, "failing-setup", setup="echo no such tool; exit 9"
    )
    worktree = await project.create_worktree()
    result = await project.wait_for_task("setup")
    assert (result["ok"], "exit code 9" in result["detail"]) == (False, True)
    assert "no such tool" in result["detail"]
    assert Path(worktree["path"]).is_dir()
    listed = await socket.call("list_worktrees", projectId=project.id)
    assert [one["id"] for one in listed] == [worktree["id"]]


async def test_a_failing_teardown_stops_the_deletion(program: Program, socket: Socket) -> None:
    teardown = "echo still needed; test -e done"
    project = await create_project(program, socket, "teardown", teardown=teardown)
    worktree = await project.create_worktree()
    refused = await project.expect_error("remove_worktree", worktreeId=worktree["id"])
    assert refused["error_type"] == "conflict"
    assert "still needed" in refused["error"]
    assert Path(worktree["path"]).is_dir()
    listed = await socket.call("list_worktrees", projectId=project.id)
    assert [one["id"] for one in listed] == [worktree["id"]]
    (Path(worktree["path"]) / "done").touch()
    await socket.call("remove_worktree", worktreeId=worktree["id"], force=True)
    assert not Path(worktree["path"]).exists()


async def test_a_changed_script_runs_only_when_it_is_trusted(
    program: Program, socket: Socket
) -> None:
    project = await create_project(program, socket, "changed", run="echo as it was")
    worktree = await project.create_worktree()
    file = Path(worktree["path"]) / "spinney.json"
    file.write_text(json.dumps({"scripts": {"run": "touch ran; echo changed"}}))
    refused = await project.expect_error("run_worktree_script", worktreeId=worktree["id"])
    assert refused["error_type"] == "forbidden"
    assert "trust_project_scripts" in refused["error"]
    assert not (file.parent / "ran").exists()
    ids = {"projectId": project.id, "worktreeId": worktree["id"]}
    [script] = await socket.call("get_project_scripts", **ids)
    assert (script["trusted"], script["text"]) == (False, "touch ran; echo changed")

    hashes = [script["hash"]]
    await socket.call("trust_project_scripts", projectId=project.id, hashes=hashes)
    file.write_text(json.dumps({"scripts": {"run": "touch ran; echo changed once more"}}))
    await project.expect_error("run_worktree_script", worktreeId=worktree["id"])
    file.write_text(json.dumps({"scripts": {"run": "touch ran; echo changed"}}))
    await socket.call("run_worktree_script", worktreeId=worktree["id"])
    assert (await project.wait_for_task("run"))["ok"] is True
    assert (file.parent / "ran").exists()


async def test_a_setup_changed_by_a_commit_does_not_run_until_trusted(
    program: Program, socket: Socket
) -> None:
    project = await create_project(program, socket, "pulled", setup="touch as-it-was")
    (project.root / "spinney.json").write_text(json.dumps({"scripts": {"setup": "touch pulled"}}))
    program.make_repository("pulled")
    worktree = await project.create_worktree()
    result = await project.wait_for_task("setup")
    assert (result["ok"], "trust" in result["detail"]) == (False, True)
    assert not any((Path(worktree["path"]) / name).exists() for name in ("pulled", "as-it-was"))


async def test_scripts_saved_through_spinney_are_trusted(program: Program, socket: Socket) -> None:
    project = await create_project(program, socket, "saved")
    wanted = {"run": "echo saved", "setup": None}
    ids = {"projectId": project.id}
    found = await socket.call("save_project_scripts", **ids, scripts=wanted)
    assert [(s["name"], s["text"], s["trusted"]) for s in found] == [("run", "echo saved", True)]
    written = json.loads((project.root / "spinney.json").read_text())
    assert written == {"scripts": {"run": "echo saved"}}
    tasks = [f["payload"] for f in socket.frames if f.get("event") == "task:completed"]
    assert [task["task"] for task in tasks] == ["save_scripts"], "before the reply"
    assert "Commit the file" in tasks[0]["detail"]


async def test_a_running_script_is_stopped_and_runs_once_at_a_time(
    program: Program, socket: Socket
) -> None:
    project = await create_project(
        program, socket, "running", run="echo begun; touch begun; sleep 1000"
    )
    worktree = await project.create_worktree()
    await socket.call("run_worktree_script", worktreeId=worktree["id"])
    refused = await project.expect_error("run_worktree_script", worktreeId=worktree["id"])
    assert (refused["error_type"], "is already running" in refused["error"]) == ("conflict", True)
    await socket.call("stop_worktree_script", worktreeId=worktree["id"])
    result = await project.wait_for_task("run")
    assert (result["ok"], "was stopped" in result["detail"]) == (False, True)
    await socket.call("stop_worktree_script", worktreeId=worktree["id"])


async def test_what_listens_on_the_ports_of_a_worktree_is_listed(
    program: Program, socket: Socket
) -> None:
    project = await create_project(program, socket, "listening")
    worktree = await project.create_worktree()
    second = worktree["port"] + 1
    assert await socket.call("get_listening_ports", worktreeId=worktree["id"]) == []
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", second)
    async with server:
        assert await socket.call("get_listening_ports", worktreeId=worktree["id"]) == [second]


@pytest.mark.parametrize("text", ["{", "[1]", '{"scripts": []}', '{"scripts": {"run": 1}}'])
async def test_an_invalid_file_is_named_in_the_error(
    program: Program, socket: Socket, text: str
) -> None:
    name = f"broken-{len(text)}"
    project = await create_project(program, socket, name, run="echo")
    worktree = await project.create_worktree()
    (Path(worktree["path"]) / "spinney.json").write_text(text)
    refused = await project.expect_error("run_worktree_script", worktreeId=worktree["id"])
    assert "spinney.json" in refused["error"]
    assert refused["error_type"] == "invalid_request"
