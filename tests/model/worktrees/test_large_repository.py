"""Creating a worktree of 20,000 files does not block the event loop.

Measured as calls on the loop's thread, a number that is the same on every machine.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from subprocess import run
from types import FrameType
from typing import Any

import pytest

from model.commands.changes import list_changed_files
from model.commands.git import cancel_git, fetch_worktrees_status
from model.commands.projects import add_project
from model.commands.worktrees import create_worktree
from model.domain.projects import Project
from model.git import worktrees as git_worktrees
from model.runtime.workspace import Workspace
from model.worktrees import creation
from tests.conftest import Eventually
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import EventLog, Maker
from tests.patience import PATIENCE

OURS = str(Path(creation.__file__).parents[2])
FILES = 20_000
"""A larger checkout takes a busy disk half a minute, with the same result."""


def commit_files(repository: Repository, files: int) -> None:
    """Commit `files` files to `main`, each with a different line."""

    def stream() -> Iterator[str]:
        yield "commit refs/heads/main\ncommitter Ada <ada@example.org> 1700000000 +0000\ndata 4\n"
        yield "many\nfrom refs/heads/main^0\n"
        for number in range(files):
            text = f"file {number}\n"
            name = f"folder-{number // 1000}/file-{number}.txt"
            yield f"M 100644 inline {name}\ndata {len(text)}\n{text}\n"

    commands = "".join(stream()).encode()
    made = run(
        ["git", "fast-import", "--quiet"],
        input=commands,
        cwd=repository.root,
        timeout=60,
        check=False,
    )
    assert made.returncode == 0


@contextmanager
def count_calls() -> Iterator[Counter[str]]:
    """Count by function of the product how often it is called or calls others in this thread."""
    calls: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event in ("call", "c_call") and frame.f_code.co_filename.startswith(OURS):
            calls[frame.f_code.co_qualname] += 1

    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(None)


@pytest.mark.longer
async def test_no_function_on_the_event_loop_processes_every_file(
    workspace: Workspace,
    repository: Repository,
    eventually: Eventually,
    home_of_worktrees: Path,
) -> None:
    commit_files(repository, FILES)
    with count_calls() as calls:
        project = await add_project(workspace, str(repository.root))
        made = await create_worktree(workspace, project.id, custom_name="many")

        def is_ready() -> bool:
            return workspace.store.state.worktrees[made.id].status == "ready"

        await eventually(is_ready, 60)
        await fetch_worktrees_status(workspace, project.id)
        await list_changed_files(workspace, made.id)
    assert (home_of_worktrees / "many/folder-19/file-19999.txt").exists()
    assert calls["create"] > 0
    assert max(calls.values()) < FILES // 10


@pytest.fixture
def gate(tmp_path: Path, fake_git: Callable[[str], None]) -> Path:
    """A file whose creation lets `git worktree add` exit after its checkout."""
    path = tmp_path / "open"
    fake_git(
        f'case "$*" in *"worktree add"*) "$real_git" "$@" || exit; touch "{tmp_path}/done"\n'
        f"while [ ! -e '{path}' ]; do sleep 0.02; done; exit;; esac\n"
        'exec "$real_git" "$@"'
    )
    return path


@asynccontextmanager
async def start_creation(
    workspace: Workspace, project: Project, tmp_path: Path
) -> AsyncIterator[str]:
    """Start a worktree and yield its id once its checkout is done and git still runs."""
    worktree = await create_worktree(workspace, project.id, custom_name="otter")
    async with asyncio.timeout(PATIENCE):
        while not (tmp_path / "done").exists():
            await asyncio.sleep(0.01)
    yield worktree.id


async def test_a_creation_that_git_completes_late_becomes_ready(
    workspace: Workspace, added: Project, gate: Path, tmp_path: Path, eventually: Eventually
) -> None:
    async with start_creation(workspace, added, tmp_path) as key:
        assert workspace.store.state.worktrees[key].status == "creating"
        gate.touch()
        await eventually(lambda: workspace.store.state.worktrees[key].status == "ready")


async def test_a_canceled_creation_leaves_nothing_even_if_git_completed_it(
    workspace: Workspace,
    added: Project,
    repository: Repository,
    gate: Path,
    tmp_path: Path,
    event_log: EventLog,
    home_of_worktrees: Path,
) -> None:
    async with start_creation(workspace, added, tmp_path) as key:
        await cancel_git(workspace, key)
        assert "canceled" in await event_log.wait_for_failure()
    assert_nothing_left(repository, home_of_worktrees)


async def test_a_timed_out_creation_leaves_nothing_and_can_be_repeated(
    workspace: Workspace,
    added: Project,
    repository: Repository,
    gate: Path,
    delay_timeout: Callable[[str, Path], None],
    tmp_path: Path,
    event_log: EventLog,
    home_of_worktrees: Path,
    eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    delay_timeout("worktree add", tmp_path / "done")
    with monkeypatch.context() as patch:
        patch.setattr(git_worktrees, "CHECKOUT_TIMEOUT", 1)
        async with start_creation(workspace, added, tmp_path):
            assert "took longer than 1 seconds" in await event_log.wait_for_failure()
    assert_nothing_left(repository, home_of_worktrees)
    gate.touch()
    assert (await Maker(workspace, added, eventually)("otter")).status == "ready"


def assert_nothing_left(repository: Repository, home: Path) -> None:
    assert not (home / "otter").exists()
    assert repository.git("branch", "--list", "otter") == ""
    assert repository.git("worktree", "list", "--porcelain").count("worktree ") == 1
