"""Removing worktrees and branches without losing work or touching other files."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.git.removal import delete_branch, remove_worktree
from model.git.worktrees import add_worktree
from tests.model.git.repository import Repository

MakeRepository = Callable[[str], Repository]


async def test_a_worktree_with_uncommitted_files_is_not_removed(
    repository: Repository, base_dir: Path
) -> None:
    path = base_dir / "one"
    await add_worktree(repository.root, path, "one", "main")
    repository.write("read.me", "changed\n", cwd=path)
    repository.write("new/file", "text\n", cwd=path)
    with pytest.raises(SpinneyError, match=r"2 uncommitted files \(read.me, new/file\)") as refused:
        await remove_worktree(repository.root, path, base_dir)
    assert refused.value.error_type == "conflict"
    assert (path / "new/file").exists()
    await remove_worktree(repository.root, path, base_dir, force=True)
    assert not path.exists()


async def test_a_worktree_and_branch_with_commits_on_no_other_branch_are_not_removed(
    repository: Repository, base_dir: Path
) -> None:
    path = base_dir / "one"
    await add_worktree(repository.root, path, "one", "main")
    repository.commit("file", "text\n", cwd=path)
    with pytest.raises(SpinneyError, match="1 commit that is on no other branch and on no remote"):
        await remove_worktree(repository.root, path, base_dir)
    await remove_worktree(repository.root, path, base_dir, force=True)
    with pytest.raises(SpinneyError, match="1 commit that is on no other branch"):
        await delete_branch(repository.root, "one")
    await delete_branch(repository.root, "one", force=True)
    await delete_branch(repository.root, "one")
    assert repository.git("branch", "--list", "one") == ""


@pytest.mark.parametrize("where", ["another branch", "a remote"])
async def test_a_worktree_whose_commits_are_elsewhere_is_removed(
    where: str, with_remote: Repository, base_dir: Path
) -> None:
    path = base_dir / "one"
    await add_worktree(with_remote.root, path, "one", "main")
    with_remote.commit("file", "text\n", cwd=path)
    if where == "a remote":
        with_remote.git("push", "--quiet", "origin", "one", cwd=path)
    else:
        with_remote.git("merge", "--quiet", "one")
    await remove_worktree(with_remote.root, path, base_dir)
    await delete_branch(with_remote.root, "one")
    assert not path.exists()


async def test_a_worktree_with_commits_on_a_detached_head_is_not_removed(
    repository: Repository, base_dir: Path
) -> None:
    path = base_dir / "one"
    await add_worktree(repository.root, path, "one", "main")
    repository.git("checkout", "--quiet", "--detach", cwd=path)
    repository.commit("file", "text\n", cwd=path)
    with pytest.raises(SpinneyError, match="1 commit"):
        await remove_worktree(repository.root, path, base_dir)


async def test_a_link_in_place_of_a_worktree_is_not_followed(
    repository: Repository, base_dir: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    path = base_dir / "one"
    await add_worktree(repository.root, path, "one", "main")
    path.rename(outside)
    path.symlink_to(outside)
    with pytest.raises(SpinneyError, match="no longer a directory"):
        await remove_worktree(repository.root, path, base_dir, force=True)
    assert (outside / "read.me").exists()


@pytest.mark.parametrize("linked", ["the worktrees directory", "a directory inside it"])
async def test_a_link_in_place_of_a_parent_is_not_followed(
    linked: str, repository: Repository, base_dir: Path, tmp_path: Path
) -> None:
    path = base_dir / "project" / "one"
    await add_worktree(repository.root, path, "one", "main")
    replaced = base_dir if linked == "the worktrees directory" else path.parent
    outside = tmp_path / "outside"
    replaced.rename(outside)
    replaced.symlink_to(outside)
    with pytest.raises(SpinneyError, match="was not removed: "):
        await remove_worktree(repository.root, path, base_dir, force=True)
    assert list(outside.rglob("read.me"))


async def test_links_inside_a_worktree_are_not_followed(
    repository: Repository, base_dir: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "modules"
    outside.mkdir()
    (outside / "file").write_text("precious")
    path = base_dir / "one"
    await add_worktree(repository.root, path, "one", "main")
    (path / "node_modules").symlink_to(outside)
    await remove_worktree(repository.root, path, base_dir, force=True)
    assert not path.exists()
    assert (outside / "file").read_text() == "precious"


async def test_only_worktrees_of_this_repository_are_removed(
    repository: Repository, make_repository: MakeRepository, base_dir: Path
) -> None:
    other = make_repository("worktrees/other")
    other.commit("file", "text\n")
    plain = base_dir / "plain"
    plain.mkdir()
    for path in (other.root, plain):
        with pytest.raises(SpinneyError, match="it is not a worktree of"):
            await remove_worktree(repository.root, path, base_dir, force=True)
    with pytest.raises(SpinneyError, match="the repository's own checkout"):
        await remove_worktree(other.root, other.root, base_dir, force=True)
    for outside in (repository.root, base_dir, base_dir / ".." / "project"):
        with pytest.raises(SpinneyError, match="is not inside"):
            await remove_worktree(repository.root, outside, base_dir, force=True)
    assert (repository.root / "read.me").exists()
    assert (other.root / "file").exists()


@pytest.mark.parametrize("is_missing", [False, True])
async def test_a_locked_worktree_is_removed_only_with_force(
    is_missing: bool, repository: Repository, base_dir: Path
) -> None:
    path = base_dir / "one"
    await add_worktree(repository.root, path, "one", "main")
    repository.git("worktree", "lock", "--reason", "on a train", str(path))
    if is_missing:
        shutil.rmtree(path)
    with pytest.raises(SpinneyError, match="on a train"):
        await remove_worktree(repository.root, path, base_dir)
    await remove_worktree(repository.root, path, base_dir, force=True)
    assert "one" not in repository.git("worktree", "list")


async def test_a_worktree_with_work_in_a_submodule_is_removed_only_with_force(
    repository: Repository, make_repository: MakeRepository, base_dir: Path
) -> None:
    inner = make_repository("inner")
    inner.commit("file", "text\n")
    allow = ("-c", "protocol.file.allow=always")
    repository.git(*allow, "submodule", "add", str(inner.root), "sub")
    repository.git("commit", "-m", "Add a submodule")
    path = base_dir / "one"
    await add_worktree(repository.root, path, "one", "main")
    repository.git(*allow, "submodule", "update", "--init", cwd=path)
    inner.write("file", "changed\n", cwd=path / "sub")
    with pytest.raises(SpinneyError, match="the submodule 'sub' inside it, with 1 uncommitted"):
        await remove_worktree(repository.root, path, base_dir)
    await remove_worktree(repository.root, path, base_dir, force=True)
    assert not path.exists()


async def test_a_branch_that_is_checked_out_is_not_deleted(
    repository: Repository, base_dir: Path
) -> None:
    await add_worktree(repository.root, base_dir / "one", "one", "main")
    with pytest.raises(SpinneyError, match=r"checked out at|used by worktree at"):
        await delete_branch(repository.root, "one", force=True)
