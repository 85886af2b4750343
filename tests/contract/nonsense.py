"""Invalid values, and a served program that must withstand them."""

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
from tests.contract.conftest import make_program, open_socket
from tests.program import Program, Serving

SEED = 20260728
TIMEOUT = 300
"""Timeout of an exchange in seconds; it takes a few, but the machine may be busy."""

INVALID: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 3, 10**18, -(2**63) - 1, 2**64, 10**400, 0.5, -1e308, "", " ", "x",
    "-x", "--upload-pack=touch x", "../../etc", "/", "/dev/zero", "/proc/self/environ", "a\0b", "é",
    "\ud800", "\ud83d\ude00", "\x1b]52;c;eA==\x07", "\u202e", "%00", "refs/heads/x..y",
    "x" * 20_000, "🙂" * 100, "漢" * 100, "~no-such-user/x",
    "/" + "x/" * 3000, [], [[]], [None], ["x"], [1], ["x", "x"], ["\ud800"], ["/dev/zero"],
    {}, {"": ""}, {"x": None}, {"x": {"y": [1]}}, {"\ud800": "\ud800"}, {"__class__": "x"},
    {"number": 10**400, "title": "x"}, {"number": -1, "title": ""},
    {"number": 1, "title": "x", "headRefName": "--x", "baseRefName": "y"},
    {"name": "x", "color": 1}, {"name": "x" * 5000, "color": "\x1b[31m"}, {"setup": 1},
    {"run": "a\0b"}, {"Which?": "A", "1": "B"},
)  # fmt: skip
"""Values of every JSON type, most of them invalid for any argument."""


@dataclass(frozen=True)
class ExistingIds:
    """Ids and path of existing resources."""

    project: str
    worktree: str
    session: str
    path: str

    def of(self, argument: Argument) -> Any:
        """A valid value for an argument, chosen by its name."""
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
def program_fixture(tmp_path_factory: pytest.TempPathFactory) -> Program:
    made = make_program(tmp_path_factory.mktemp("fuzz"))
    gh = made.place / "gh" / "gh"
    gh.parent.mkdir()
    gh.write_text("#!/bin/sh\necho 'not here' >&2\nexit 4\n")
    gh.chmod(0o755)
    return made


@pytest.fixture(scope="module", name="served")
def served_fixture(program: Program) -> Iterator[Serving]:
    with program.serving("--demo") as serving:
        yield serving
        assert serving.process.poll() is None
        _, _, errors = serving.end()
        assert errors == ""
    assert_clean_log(program)


@pytest.fixture(scope="module", name="existing")
def existing_ids_fixture(program: Program, served: Serving) -> ExistingIds:
    project = program.call("add_project", f"path={program.make_repository('fuzzed')}")
    worktree = program.call("open_base_worktree", f"projectId={project['id']}")
    session = program.call("create_session", f"worktreeId={worktree['id']}")
    return ExistingIds(project["id"], worktree["id"], session["id"], worktree["path"])


def assert_clean_log(program: Program) -> None:
    """The log has no line that only a bug can cause."""
    log = "".join(path.read_text() for path in sorted(program.data.glob("spinney.log*")))
    at = re.search(r"Traceback| ERROR |internal error|never retrieved|never awaited", log)
    assert at is None, log[max(0, at.start() - 500) : at.start() + 4000]


@asynccontextmanager
async def bystander(served: Serving) -> AsyncIterator[None]:
    """Run another client meanwhile, which must get its replies and events."""
    async with aiohttp.ClientSession(served.base_url) as http:
        socket = await open_socket(http, served.token)
        folder = await socket.call("create_folder", name=f"bystander {os.urandom(8).hex()}")
        done = asyncio.Event()

        async def rename_repeatedly() -> int:
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

        renaming = asyncio.create_task(rename_repeatedly())
        try:
            yield
        finally:
            done.set()
            async with asyncio.timeout(TIMEOUT):
                assert await renaming >= 3
        await socket.call("delete_folder", folderId=folder["id"])


def is_about(frame: dict[str, Any], folder_id: str) -> bool:
    return frame.get("event") == "project:updated" and frame["payload"]["id"] == folder_id
