"""A damaged ref of Spinney's hides nothing else: it is named, replaced or deleted."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.doctor import get_problems
from model.commands.recovery import (
    delete_recovery_point,
    list_recovery_points,
    restore_worktree,
)
from model.commands.worktrees import remove_worktree
from model.domain.projects import Project
from model.domain.recovery import RecoveryPoint
from model.git.snapshots import chain
from model.git.snapshots.chain import SnapshotNote
from model.runtime.workspace import Workspace
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import Maker

Damage = Callable[[Repository, str], None]

ABSENT = "1234567890" * 4


def empty_the_file(repository: Repository, ref: str) -> None:
    """As a power cut does."""
    (repository.root / ".git" / ref).write_bytes(b"")


def write_nonsense(repository: Repository, ref: str) -> None:
    (repository.root / ".git" / ref).write_bytes(b"\x00\xff nothing\n")


def name_nothing(repository: Repository, ref: str) -> None:
    """As a prune between object and ref does."""
    (repository.root / ".git" / ref).write_text(f"{ABSENT}\n")


def pack_and_lose(repository: Repository, ref: str) -> None:
    """The object of a packed ref is gone."""
    commit = repository.git("rev-parse", ref)
    repository.git("pack-refs", "--all")
    (repository.root / ".git/objects" / commit[:2] / commit[2:]).unlink()


def spoil_the_object(repository: Repository, ref: str) -> None:
    commit = repository.git("rev-parse", ref)
    path = repository.root / ".git/objects" / commit[:2] / commit[2:]
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-20])


def name_the_branch(repository: Repository, ref: str) -> None:
    """A symbolic ref: who deletes it as others are deleted deletes the branch."""
    repository.git("symbolic-ref", ref, "refs/heads/main")


def check_gc(repository: Repository, damage: Damage) -> None:
    """Git's own collection works again, unless it is an object that is spoiled."""
    if damage is not spoil_the_object:
        repository.git("gc", "--quiet")


DAMAGES = pytest.mark.parametrize(
    "damage",
    [empty_the_file, name_nothing, pack_and_lose, spoil_the_object, write_nonsense,
     name_the_branch],
)  # fmt: skip


async def make_points(
    make: Maker, workspace: Workspace, repository: Repository
) -> list[RecoveryPoint]:
    """Delete three worktrees with changes."""
    for name in ("one", "two", "three"):
        made = await make(name)
        repository.write("new", f"{name}\n", Path(made.path))
        await remove_worktree(workspace, made.id, force=True)
    return await list_recovery_points(workspace)


@DAMAGES
async def test_a_damaged_point_is_named_and_deleted_and_the_others_come_back(
    make: Maker, workspace: Workspace, repository: Repository, damage: Damage
) -> None:
    newest, bad, oldest = await make_points(make, workspace, repository)
    damage(repository, chain.RECOVERY_REFS + bad.recovery_id)

    left = await list_recovery_points(workspace, newest.project_id)
    assert [point.recovery_id for point in left] == [newest.recovery_id, oldest.recovery_id]
    [problem] = await get_problems(workspace)
    assert f"delete_recovery_point recoveryId={bad.recovery_id}" in problem
    assert repository.root.name in problem
    back = await restore_worktree(workspace, oldest.recovery_id)
    assert (Path(back.path) / "new").read_text() == "one\n"
    with pytest.raises(SpinneyError, match="damaged"):
        await restore_worktree(workspace, bad.recovery_id)

    await delete_recovery_point(workspace, bad.recovery_id)
    assert await get_problems(workspace) == []
    assert len(await list_recovery_points(workspace)) == 2
    assert repository.git("rev-parse", "--verify", "refs/heads/main")
    check_gc(repository, damage)


@DAMAGES
async def test_a_damaged_chain_begins_again(
    make: Maker, workspace: Workspace, repository: Repository, damage: Damage
) -> None:
    made = await make("one")
    tree = Path(made.path)
    ref = chain.chain_ref(made.id)
    note = SnapshotNote("request", worktree_id=made.id)
    repository.write("new", "first\n", tree)
    await chain.take_snapshot(tree, note)
    damage(repository, ref)
    [problem] = await get_problems(workspace)
    assert "'one'" in problem

    repository.write("new", "second\n", tree)
    taken = await chain.take_snapshot(tree, note)
    assert repository.git("rev-parse", "--verify", ref) == taken.commit
    assert await get_problems(workspace) == []
    assert repository.git("symbolic-ref", "HEAD") == "refs/heads/main"
    check_gc(repository, damage)


@DAMAGES
async def test_a_worktree_with_a_damaged_chain_is_deleted_and_comes_back(
    make: Maker, workspace: Workspace, repository: Repository, damage: Damage
) -> None:
    made = await make("one")
    tree = Path(made.path)
    repository.write("new", "text\n", tree)
    await chain.take_snapshot(tree, SnapshotNote("request", worktree_id=made.id))
    damage(repository, chain.chain_ref(made.id))
    await remove_worktree(workspace, made.id, force=True)
    assert not repository.git("for-each-ref", chain.WORKTREE_REFS)
    [point] = await list_recovery_points(workspace)
    await restore_worktree(workspace, point.recovery_id)
    assert (tree / "new").read_text() == "text\n"
    check_gc(repository, damage)


async def test_what_git_had_packed_of_a_damaged_chain_stays(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    tree = Path(made.path)
    ref = chain.chain_ref(made.id)
    note = SnapshotNote("request", worktree_id=made.id)
    repository.write("new", "first\n", tree)
    first = await chain.take_snapshot(tree, note)
    repository.git("pack-refs", "--all")
    repository.write("new", "second\n", tree)
    await chain.take_snapshot(tree, note)
    empty_the_file(repository, ref)
    repository.write("new", "third\n", tree)
    third = await chain.take_snapshot(tree, note)
    assert repository.git("rev-parse", f"{third.commit}^") == first.commit


async def test_the_points_of_a_repository_that_was_moved_away_are_not_said_to_be_none(
    make: Maker, workspace: Workspace, repository: Repository, added: Project, tmp_path: Path
) -> None:
    points = await make_points(make, workspace, repository)
    shutil.move(repository.root, tmp_path / "elsewhere")
    for project_id in (added.id, None):
        with pytest.raises(SpinneyError, match=r"cannot be read: .* missing"):
            await list_recovery_points(workspace, project_id)
    with pytest.raises(SpinneyError, match=r"not found: .* missing"):
        await restore_worktree(workspace, points[0].recovery_id)
    shutil.move(tmp_path / "elsewhere", repository.root)
    assert await list_recovery_points(workspace) == points
