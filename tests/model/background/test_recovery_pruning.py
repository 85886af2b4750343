"""Recovery points and snapshots are deleted when they are too old or too many, and no sooner."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from model.background.recovery_pruning import PASS_INTERVAL, RecoveryPruning
from model.commands.preferences import update_preferences
from model.commands.projects import add_project
from model.domain.recovery import SnapshotReason
from model.git.run import git
from model.git.snapshots import chain, prune, recovery
from model.git.snapshots.chain import SnapshotNote
from model.git.snapshots.conversations import Conversations, prepare_archive
from model.git.snapshots.recovery import PointFacts
from model.runtime.workspace import Workspace
from tests.model.git.conftest import (  # noqa: F401 - fixtures
    make_repository,
    own_home,
    repository,
)
from tests.model.git.repository import Repository

DAY = 86400.0
NOW = 1_900_000_000.0


async def keep(root: Path, at: float, reason: SnapshotReason = "discard", size: int = 10) -> str:
    """Make a recovery point as if at this time, with a changed file of this size."""
    (root / "file").write_text(f"{at} {reason} {size}".ljust(size))
    note = SnapshotNote(reason, worktree_id="w", worktree_name="otter", created_at=at)
    snapshot = await chain.take_snapshot(root, note)
    contents = await recovery.read_contents(root, snapshot)
    return (await recovery.create_point(root, snapshot, note, PointFacts(), contents)).id


async def list_ids(root: Path) -> list[str]:
    return [point.id for point in (await recovery.list_points(root)).points]


@pytest.fixture
async def pruning(workspace: Workspace, repository: Repository) -> RecoveryPruning:  # noqa: F811
    await add_project(workspace, str(repository.root))
    return RecoveryPruning(workspace.store, workspace.directories)


async def prune_twice(pruning: RecoveryPruning, *, jump: float = 0) -> None:
    await pruning.prune(NOW - PASS_INTERVAL - jump, 0)
    await pruning.prune(NOW, PASS_INTERVAL)


async def test_points_are_kept_for_the_preferred_days(
    pruning: RecoveryPruning,
    workspace: Workspace,
    repository: Repository,  # noqa: F811
) -> None:
    old = await keep(repository.root, NOW - 31 * DAY, "delete")
    new = await keep(repository.root, NOW - 29 * DAY)
    await prune_twice(pruning, jump=DAY)
    assert await list_ids(repository.root) == [new, old], "the clock has jumped"
    await prune_twice(pruning)
    assert await list_ids(repository.root) == [new]
    await update_preferences(workspace, {"recovery_keep_days": 0})
    await pruning.prune(NOW + PASS_INTERVAL, 2 * PASS_INTERVAL)
    assert await list_ids(repository.root) == [new]


async def test_the_oldest_points_above_the_preferred_size_go_but_not_the_last_of_a_deletion(
    pruning: RecoveryPruning,
    workspace: Workspace,
    repository: Repository,  # noqa: F811
) -> None:
    deleted = await keep(repository.root, NOW - 5 * DAY, "delete", 600_000)
    await keep(repository.root, NOW - 4 * DAY, size=600_000)
    newest = await keep(repository.root, NOW - 3 * DAY, size=300_000)
    await update_preferences(workspace, {"recovery_max_mb": 1})
    await prune_twice(pruning)
    assert await list_ids(repository.root) == [newest, deleted]


async def test_points_of_sessions_are_deleted_as_well_and_the_oldest_first(
    pruning: RecoveryPruning, workspace: Workspace
) -> None:
    root = workspace.directories.recovery
    await prepare_archive(root)
    made = []
    for days in (31, 5, 4):
        note = SnapshotNote("delete session", worktree_name="Talk", created_at=NOW - days * DAY)
        kept = Conversations(f"{days}".encode(), size_bytes=600_000, sessions=1)
        point = await recovery.create_conversation_point(root, note, PointFacts(), kept)
        made.append(point.id)
    for file in (path for path in (root / "objects").rglob("*") if path.is_file()):
        os.utime(file, (NOW - DAY, 1.0))
    await prune_twice(pruning)
    assert await list_ids(root) == [made[2], made[1]]
    assert "dangling" not in (await git(root, "fsck", "--dangling")).stdout
    await update_preferences(workspace, {"recovery_max_mb": 1})
    await pruning.prune(NOW + PASS_INTERVAL, 2 * PASS_INTERVAL)
    assert await list_ids(root) == [made[2]]


async def test_a_shortened_chain_has_the_same_trees_and_holds_what_they_need(
    repository: Repository,  # noqa: F811
) -> None:
    root = repository.root
    trees = []
    for days in (9, 7, 3, 2, 1):
        if days == 3:
            repository.commit("committed", "text\n")
        (root / "file").write_text(f"{days} days\n")
        note = SnapshotNote("turn end", turn_id=f"t{days}", worktree_id="w")
        taken = await chain.take_snapshot(root, replace(note, created_at=NOW - days * DAY))
        trees.append(taken.tree)
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    await prune.shorten_chains(root, NOW - 5 * DAY, {"w"})
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "--quiet", "--prune=now")
    log = ("log", "--first-parent", "--format=%T", "refs/spinney/worktrees/w")
    assert repository.git(*log).split()[:3] == trees[:1:-1]
    assert len(repository.git(*log).split()) == 5, "three snapshots, two commits of the branch"
    newest = await chain.read_snapshot(root, "refs/spinney/worktrees/w")
    assert newest is not None
    assert newest.note.turn_id == "t1"
    assert "missing" not in repository.git("fsck", "--no-dangling")
    await prune.shorten_chains(root, NOW + DAY, {"w"})
    assert repository.git(*log).split()[0] == trees[-1], "the newest stays"
    await prune.shorten_chains(root, NOW + 3 * DAY, set())
    assert repository.git("for-each-ref", "refs/spinney") == ""


async def test_damaged_refs_go_by_the_same_days_and_keep_nothing_else_from_it(
    pruning: RecoveryPruning,
    workspace: Workspace,
    repository: Repository,  # noqa: F811
) -> None:
    old, recent, whole = [await keep(repository.root, NOW - days * DAY) for days in (31, 2, 1)]
    folder = repository.root / ".git" / chain.RECOVERY_REFS
    for point_id, days in ((old, 31), (recent, 2)):
        (folder / point_id).write_bytes(b"")
        os.utime(folder / point_id, (NOW, NOW - days * DAY))
    unknown = repository.root / ".git/refs/spinney/trains/t1"
    unknown.parent.mkdir(parents=True)
    unknown.write_bytes(b"")
    await prune_twice(pruning)
    listed = await recovery.list_points(repository.root)
    assert ([point.id for point in listed.points], listed.damaged) == ([whole], [recent])
    assert not unknown.exists()
