"""Real git, and a fake `gh` with configurable output."""

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.live.hosting_pull_requests import MUTATIONS, PullRequest
from tests.live.hosting_stub import HostingStub
from tests.model.git.conftest import (  # noqa: F401 - fixtures, found by their names
    make_repository,
    own_home,
    repository,
    with_remote,
)
from tests.model.git.git_project import GitProject, add_git_project
from tests.model.git.repository import Repository

PROGRAM = """#!{python}
import json, pathlib, sys
folder = pathlib.Path({folder!r})
answers = json.loads((folder / "answers.json").read_text())
call = {{"args": sys.argv[1:], "input": sys.stdin.read(), "tty": sys.stdin.isatty()}}
with (folder / "calls.jsonl").open("a") as calls:
    calls.write(json.dumps(call) + "\\n")
names = [sys.argv[-1], " ".join(sys.argv[1:3])]
if sys.argv[1:3] == ["api", "graphql"]:
    names += json.loads(call["input"])["query"].replace("(", " ").split()[:3]
known = [answers[name] for name in names if name in answers]
out, err, code = (known or [["", "not expected", 1]])[0]
sys.stdout.write(out)
sys.stderr.write(err)
sys.exit(code)
"""


@dataclass(frozen=True)
class FakeGh:
    """Configures the output of the fake `gh` and records its calls."""

    folder: Path

    def set_result(self, command: str, out: str = "", *, err: str = "", code: int = 0) -> None:
        """Set the result of a command such as `pr view`, or of calls with this last argument."""
        file = self.folder / "answers.json"
        known = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps({**known, command: [out, err, code]}))

    def set_pull_request(self, **fields: object) -> None:
        """Set the fields of every pull request."""
        self.set_result("pr view", json.dumps(fields))

    def set_answer(self, operation: str, answer: object) -> None:
        """Set the answer to a query or mutation, or to `api` and a path of the REST API."""
        self.set_result(operation, f"HTTP/2.0 200 OK\n\n{json.dumps(answer)}")

    def set_details(self, pull_request: PullRequest) -> None:
        """Set everything that is read of a pull request, and accept all changes of it."""
        stub = HostingStub(self.folder, name="loom")
        stub.set_pull_requests(pull_request)
        for name in ("PullRequestDetails", "PullRequestBehind", "PullRequestId"):
            self.set_answer(name, stub.answer_query(name, {"number": pull_request.number}))
        for name in (*MUTATIONS, "ThreadReply", "ThreadResolve"):
            self.set_answer(name, {"data": {"done": {}}})

    @property
    def changes(self) -> list[dict[str, Any]]:
        """The variables of all mutations."""
        sent = [json.loads(call["input"]) for call in self.calls if "graphql" in call["args"]]
        return [one["variables"] for one in sent if one["query"].split()[0] == "mutation"]

    @property
    def calls(self) -> list[dict[str, Any]]:
        file = self.folder / "calls.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def fake_gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGh:
    folder = tmp_path / "gh"
    folder.mkdir()
    program = folder / "gh"
    program.write_text(PROGRAM.format(python=sys.executable, folder=str(folder)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    made = FakeGh(folder)
    made.set_pull_request(state="OPEN")
    made.set_result("repo view", '{"url": "https://github.com/ada/engine"}')
    return made


@pytest.fixture
def no_gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH that contains only git."""
    folder = tmp_path / "only git"
    folder.mkdir()
    git = shutil.which("git")
    assert git is not None
    (folder / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(folder))


@pytest.fixture
async def place(workspace: Workspace, with_remote: Repository) -> GitProject:  # noqa: F811
    return await add_git_project(workspace, with_remote)


@pytest.fixture
def place_there(place: GitProject) -> GitProject:
    """A project whose `origin` is ada/engine on GitHub; pushes go to the bare repository."""
    git = place.repository.git
    git("config", "remote.origin.pushurl", git("config", "remote.origin.url"))
    git("config", "remote.origin.url", "https://github.com/ada/engine.git")
    return place


@pytest.fixture
async def worktree(place: GitProject) -> Worktree:
    """A worktree on the branch `otter`, with one commit that `main` lacks."""
    made = await place.add("otter")
    tree = place.in_worktree(made)
    tree.write("new.txt", "one\n")
    tree.git("add", "--all")
    tree.git("commit", "--quiet", "-m", "Teach the otter to swim\n\nIt was about time.")
    return made
