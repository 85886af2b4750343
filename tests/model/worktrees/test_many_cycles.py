"""Forty worktrees are created and removed while two agents work; the repository is intact."""

import asyncio
import hashlib
import random
from pathlib import Path

import pytest

from model.commands.sessions import create_session, send_chat_message, stop_generation
from model.commands.worktrees import (
    archive_worktree,
    create_worktree,
    remove_worktree,
    rename_worktree,
    unarchive_worktree,
)
from model.runtime.workspace import Workspace
from tests import fakes
from tests.fakes import FakeBackend
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import EventLog, Maker

CYCLES = 40


@pytest.mark.longer
async def test_the_repository_is_intact_after_a_forty_cycles(
    make: Maker,
    workspace: Workspace,
    repository: Repository,
    backend: FakeBackend,
    event_log: EventLog,
) -> None:
    before = _hash_files(repository.root)
    backend.script = fakes.silence
    at_work = [await make(f"at-work-{number}") for number in range(2)]
    sessions = [await create_session(workspace, worktree.id) for worktree in at_work]
    for session in sessions:
        await send_chat_message(workspace, session.id, "go on")
    dice = random.Random(7)
    rounds = [(number, dice.random()) for number in range(CYCLES)]
    for start in range(0, CYCLES, 4):
        await asyncio.gather(
            *(_cycle(make, workspace, repository, *drawn) for drawn in rounds[start : start + 4])
        )
        await asyncio.to_thread(
            repository.commit, f"work-{start}", "text\n", cwd=Path(at_work[0].path)
        )
    for session in sessions:
        assert workspace.store.state.sessions[session.id].status == "running"
        await stop_generation(workspace, session.id)
    assert event_log.update().failures == []
    repository.git("fsck", "--full", "--strict")
    assert _hash_files(repository.root) == before
    assert repository.git("status", "--porcelain") == ""
    left = {path.name for path in (repository.root / ".git/worktrees").iterdir()}
    assert left == {worktree.name for worktree in at_work}
    assert {w.id for w in workspace.store.state.worktrees.values()} == {w.id for w in at_work}
    kept = repository.git("branch", "--format=%(refname:short)").split()
    assert sorted(kept) == ["at-work-0", "at-work-1", "main"]


async def _cycle(
    make: Maker, workspace: Workspace, repository: Repository, number: int, chance: float
) -> None:
    made = await create_worktree(workspace, make.project.id, custom_name=f"work-{number}")
    await make.wait_until_settled(made.id)
    if chance < 0.5:
        path = Path(workspace.store.state.worktrees[made.id].path)
        await asyncio.to_thread(repository.commit, f"file-{number}", "text\n", cwd=path)
    if chance < 0.7:
        await rename_worktree(workspace, made.id, f"renamed-{number}")
    await archive_worktree(workspace, made.id)
    if chance > 0.3:
        await unarchive_worktree(workspace, made.id)
    await remove_worktree(workspace, made.id, force=chance < 0.5)


def _hash_files(root: Path) -> dict[str, str]:
    files = [path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
