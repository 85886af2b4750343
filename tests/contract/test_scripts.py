"""Section 2.6 of the interface: a repository's own scripts, run by the program itself."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.contract.conftest import connected, program_in
from tests.patience import PATIENCE
from tests.program import Program, Serving
from tests.server.conftest import Socket

SAY = 'echo "$SPINNEY_WORKSPACE_PATH|$SPINNEY_ROOT_PATH|$SPINNEY_BRANCH"'
SAY_AS_JEAN = SAY.replace("SPINNEY_", "JEAN_")


@pytest.fixture(scope="module", name="program")
def one_program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return program_in(tmp_path_factory.mktemp("scripts"))


@pytest.fixture(scope="module", name="served")
def one_served(program: Program) -> Iterator[Serving]:
    with program.serving("--demo") as serving:
        yield serving


@pytest.fixture
async def socket(served: Serving) -> AsyncIterator[Socket]:
    timeout = aiohttp.ClientTimeout(total=PATIENCE)
    async with aiohttp.ClientSession(served.base_url, timeout=timeout) as http:
        yield await connected(http, served.token)


class Place:
    """A project whose repository has scripts."""

    def __init__(self, socket: Socket, root: Path, project: Any) -> None:
        self.socket, self.root, self.project = socket, root, project

    async def worktree(self, **options: Any) -> Any:
        made = await self.socket.call("create_worktree", projectId=self.project["id"], **options)
        while True:
            created = await self.socket.event("worktree:created")
            if created["payload"]["worktree"]["id"] == made["id"]:
                return created["payload"]["worktree"]

    async def told(self, task: str) -> Any:
        """The end of a script, which may have come before the answer to what ended it."""
        while True:
            for frame in self.socket.frames:
                if frame.get("event") == "task:completed" and frame["payload"]["task"] == task:
                    self.socket.frames.remove(frame)
                    return frame["payload"]
            await self.socket.event("task:completed")

    async def refused(self, command: str, **args: Any) -> Any:
        await self.socket.send({"id": "refused", "command": command, "args": args})
        answer = await self.socket.answer("refused")
        assert answer["type"] == "error", answer
        return answer


async def place(
    program: Program, socket: Socket, name: str, file: str = "spinney.json", **scripts: str
) -> Place:
    root = program.place / name
    root.mkdir()
    (root / file).write_text(json.dumps({"scripts": scripts}))
    program.made_repository(name)
    return Place(socket, root, await socket.call("add_project", path=str(root)))


@pytest.mark.parametrize("file", ["spinney.json", "jean.json"])
async def test_setup_and_run_know_where_they_are_and_what_they_print_is_kept(
    program: Program, socket: Socket, file: str
) -> None:
    scripts = {"setup": f"{SAY}; {SAY_AS_JEAN}; pwd", "run": "echo ran; exit 3"}
    here = await place(program, socket, file.replace(".", "-"), file, **scripts)
    worktree = await here.worktree()
    told = await here.told("setup")
    assert (told["ok"], told["worktree_id"]) == (True, worktree["id"])
    facts = f"{worktree['path']}|{here.root}|{worktree['branch']}"
    kept = await socket.call("get_script_output", worktreeId=worktree["id"], script="setup")
    assert kept["output"].split("\n")[:3] == [facts, facts, worktree["path"]]
    assert (kept["status"], kept["exit_code"]) == ("completed", 0)
    assert facts in told["detail"]

    started = await socket.call("run_worktree_script", worktreeId=worktree["id"])
    assert (started["script"], started["status"]) == ("run", "running")
    told = await here.told("run")
    assert told["ok"] is False
    assert "exit code 3" in told["detail"]
    kept = await socket.call("get_script_output", worktreeId=worktree["id"], script="run")
    assert (kept["output"], kept["status"], kept["exit_code"]) == ("ran\n", "failed", 3)


async def test_spinney_json_goes_before_jean_json(program: Program, socket: Socket) -> None:
    root = program.place / "both"
    root.mkdir()
    for name in ("spinney", "jean"):
        text = json.dumps({"scripts": {"run": f"echo {name}"}, "more": name})
        (root / f"{name}.json").write_text(text)
    program.made_repository("both")
    project = await socket.call("add_project", path=str(root))
    found = await socket.call("get_project_scripts", projectId=project["id"])
    assert [(s["name"], s["text"], s["file"]) for s in found] == [
        ("run", "echo spinney", "spinney.json")
    ]


async def test_a_failing_setup_keeps_the_worktree_and_shows_its_output(
    program: Program, socket: Socket
) -> None:
    here = await place(program, socket, "failing-setup", setup="echo no such tool; exit 9")
    worktree = await here.worktree()
    told = await here.told("setup")
    assert (told["ok"], "exit code 9" in told["detail"]) == (False, True)
    assert "no such tool" in told["detail"]
    assert Path(worktree["path"]).is_dir()
    listed = await socket.call("list_worktrees", projectId=here.project["id"])
    assert [one["id"] for one in listed] == [worktree["id"]]


async def test_a_failing_teardown_stops_the_deletion(program: Program, socket: Socket) -> None:
    teardown = "echo still needed; test -e done"
    here = await place(program, socket, "teardown", teardown=teardown)
    worktree = await here.worktree()
    refused = await here.refused("remove_worktree", worktreeId=worktree["id"])
    assert refused["error_type"] == "conflict"
    assert "still needed" in refused["error"]
    assert Path(worktree["path"]).is_dir()
    listed = await socket.call("list_worktrees", projectId=here.project["id"])
    assert [one["id"] for one in listed] == [worktree["id"]]
    (Path(worktree["path"]) / "done").touch()
    await socket.call("remove_worktree", worktreeId=worktree["id"], force=True)
    assert not Path(worktree["path"]).exists()


async def test_a_text_that_changed_runs_only_when_it_is_trusted(
    program: Program, socket: Socket
) -> None:
    here = await place(program, socket, "changed", run="echo as it was")
    worktree = await here.worktree()
    file = Path(worktree["path"]) / "spinney.json"
    file.write_text(json.dumps({"scripts": {"run": "touch ran; echo changed"}}))
    refused = await here.refused("run_worktree_script", worktreeId=worktree["id"])
    assert refused["error_type"] == "forbidden"
    assert "trust_project_scripts" in refused["error"]
    assert not (file.parent / "ran").exists()
    ids = {"projectId": here.project["id"], "worktreeId": worktree["id"]}
    [script] = await socket.call("get_project_scripts", **ids)
    assert (script["trusted"], script["text"]) == (False, "touch ran; echo changed")

    hashes = [script["hash"]]
    await socket.call("trust_project_scripts", projectId=here.project["id"], hashes=hashes)
    file.write_text(json.dumps({"scripts": {"run": "touch ran; echo changed once more"}}))
    await here.refused("run_worktree_script", worktreeId=worktree["id"])
    file.write_text(json.dumps({"scripts": {"run": "touch ran; echo changed"}}))
    await socket.call("run_worktree_script", worktreeId=worktree["id"])
    assert (await here.told("run"))["ok"] is True
    assert (file.parent / "ran").exists()


async def test_a_setup_that_came_with_a_commit_waits_for_trust(
    program: Program, socket: Socket
) -> None:
    here = await place(program, socket, "pulled", setup="touch as-it-was")
    (here.root / "spinney.json").write_text(json.dumps({"scripts": {"setup": "touch pulled"}}))
    program.made_repository("pulled")
    worktree = await here.worktree()
    told = await here.told("setup")
    assert (told["ok"], "trust" in told["detail"]) == (False, True)
    assert not any((Path(worktree["path"]) / name).exists() for name in ("pulled", "as-it-was"))


async def test_what_is_saved_through_spinney_is_trusted(program: Program, socket: Socket) -> None:
    here = await place(program, socket, "saved")
    wanted = {"run": "echo saved", "setup": None}
    ids = {"projectId": here.project["id"]}
    found = await socket.call("save_project_scripts", **ids, scripts=wanted)
    assert [(s["name"], s["text"], s["trusted"]) for s in found] == [("run", "echo saved", True)]
    written = json.loads((here.root / "spinney.json").read_text())
    assert written == {"scripts": {"run": "echo saved"}}
    told = [f["payload"] for f in socket.frames if f.get("event") == "task:completed"]
    assert [task["task"] for task in told] == ["save_scripts"], "before the answer"
    assert "Commit the file" in told[0]["detail"]


async def test_a_running_script_is_stopped_and_runs_once_at_a_time(
    program: Program, socket: Socket
) -> None:
    here = await place(program, socket, "running", run="echo begun; touch begun; sleep 1000")
    worktree = await here.worktree()
    await socket.call("run_worktree_script", worktreeId=worktree["id"])
    refused = await here.refused("run_worktree_script", worktreeId=worktree["id"])
    assert (refused["error_type"], "is already running" in refused["error"]) == ("conflict", True)
    await socket.call("stop_worktree_script", worktreeId=worktree["id"])
    told = await here.told("run")
    assert (told["ok"], "was stopped" in told["detail"]) == (False, True)
    await socket.call("stop_worktree_script", worktreeId=worktree["id"])


@pytest.mark.parametrize("text", ["{", "[1]", '{"scripts": []}', '{"scripts": {"run": 1}}'])
async def test_a_file_that_cannot_be_understood_is_named(
    program: Program, socket: Socket, text: str
) -> None:
    name = f"broken-{len(text)}"
    here = await place(program, socket, name, run="echo")
    worktree = await here.worktree()
    (Path(worktree["path"]) / "spinney.json").write_text(text)
    refused = await here.refused("run_worktree_script", worktreeId=worktree["id"])
    assert "spinney.json" in refused["error"]
    assert refused["error_type"] == "invalid_request"
