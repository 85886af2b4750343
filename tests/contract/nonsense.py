"""Values that are wrong for anything, and a served program that none of them may disturb."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from model.api.command import Argument
from tests.contract.conftest import connected, program_in
from tests.program import Program, Serving

SEED = 20260728
TIME = 300
"""Seconds that no exchange takes; a few in truth, but its machine may be busy."""

WRONG: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 3, 10**18, -(2**63) - 1, 2**64, 10**400, 0.5, -1e308, "", " ", "x",
    "-x", "--upload-pack=touch x", "../../etc", "/", "/dev/zero", "/proc/self/environ", "a\0b", "é",
    "\ud800", "\ud83d\ude00", "\x1b]52;c;eA==\x07", "\u202e", "%00", "refs/heads/x..y",
    "x" * 20_000, "🙂" * 100, "漢" * 100, "~nobody-here/x",
    "/" + "x/" * 3000, [], [[]], [None], ["x"], [1], ["x", "x"], ["\ud800"], ["/dev/zero"],
    {}, {"": ""}, {"x": None}, {"x": {"y": [1]}}, {"\ud800": "\ud800"}, {"__class__": "x"},
    {"number": 10**400, "title": "x"}, {"number": -1, "title": ""},
    {"number": 1, "title": "x", "headRefName": "--x", "baseRefName": "y"},
    {"name": "x", "color": 1}, {"name": "x" * 5000, "color": "\x1b[31m"}, {"setup": 1},
    {"run": "a\0b"}, {"Which?": "A", "1": "B"},
)  # fmt: skip
"""Values of every kind of JSON, most of them wrong for whatever they are given to."""


@dataclass(frozen=True)
class Known:
    """What truly is there."""

    project: str
    worktree: str
    session: str
    path: str

    def of(self, argument: Argument) -> Any:
        """A value that is right for an argument, as far as its name says."""
        schema = argument.adapter.json_schema()
        right = {
            "project_id": self.project, "item_id": self.project, "worktree_id": self.worktree,
            "session_id": self.session, "worktree_path": self.path, "repo_path": self.path,
            "project_ids": [self.project], "worktree_ids": [self.worktree],
            "session_ids": [self.session], "diff_type": "branch", "base_branch": "main",
            "answer": "A", "label": None, "scripts": {}, "pr_number": 1,
        }  # fmt: skip
        return right.get(argument.name, schema.get("enum", ["x"])[0])


@pytest.fixture(scope="module", name="program")
def one_program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    made = program_in(tmp_path_factory.mktemp("fuzz"))
    gh = made.place / "gh" / "gh"
    gh.parent.mkdir()
    gh.write_text("#!/bin/sh\necho 'not here' >&2\nexit 4\n")
    gh.chmod(0o755)
    return made


@pytest.fixture(scope="module", name="served")
def one_served(program: Program) -> Iterator[Serving]:
    with program.serving("--demo") as serving:
        yield serving
        assert serving.process.poll() is None
        _, _, errors = serving.end()
        assert errors == ""
    assert_no_fault(program)


@pytest.fixture(scope="module", name="known")
def one_known(program: Program, served: Serving) -> Known:
    project = program.call("add_project", f"path={program.made_repository('fuzzed')}")
    worktree = program.call("open_base_worktree", f"projectId={project['id']}")
    session = program.call("create_session", f"worktreeId={worktree['id']}")
    return Known(project["id"], worktree["id"], session["id"], worktree["path"])


def assert_no_fault(program: Program) -> None:
    """Nothing in the log that only a bug can put there."""
    log = "".join(path.read_text() for path in sorted(program.data.glob("spinney.log*")))
    at = re.search(r"Traceback| ERROR |internal error|never retrieved|never awaited", log)
    assert at is None, log[max(0, at.start() - 500) : at.start() + 4000]


@asynccontextmanager
async def bystander(served: Serving) -> AsyncIterator[None]:
    """Another client, which gets its answers and its events all the while."""
    async with aiohttp.ClientSession(served.base_url) as http:
        socket = await connected(http, served.token)
        folder = await socket.call("create_folder", name=f"bystander {os.urandom(8).hex()}")
        done = asyncio.Event()

        async def live() -> int:
            rounds = 0
            while not done.is_set() or rounds < 3:
                rounds += 1
                wanted = f"{folder['name']} {rounds}"
                await socket.call("rename_folder", folderId=folder["id"], name=wanted)
                seen = [f["payload"]["name"] for f in socket.frames if is_about(f, folder["id"])]
                while wanted not in seen:
                    frame = await socket.event("project:updated")
                    seen.append(frame["payload"]["name"])
                socket.frames.clear()
            return rounds

        living = asyncio.create_task(live())
        try:
            yield
        finally:
            done.set()
            async with asyncio.timeout(TIME):
                assert await living >= 3
        await socket.call("delete_folder", folderId=folder["id"])


def is_about(frame: dict[str, Any], folder_id: str) -> bool:
    return frame.get("event") == "project:updated" and frame["payload"]["id"] == folder_id
