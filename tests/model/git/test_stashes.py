"""Stashes of a repository, from one of its worktrees."""

import pytest

from model.base.errors import SpinneyError
from model.git.stashes import apply_stash, drop_stash, list_stashes, restore_stash, stash
from tests.model.git.repository import Repository


@pytest.fixture
def changed(repository: Repository) -> Repository:
    """A repository with a staged, an unstaged and an untracked change."""
    repository.commit("a", "one\n")
    repository.write("a", "two\n")
    repository.write("read.me", "staged\n")
    repository.git("add", "read.me")
    repository.write("new", "untracked\n")
    return repository


async def test_everything_uncommitted_is_put_aside_and_comes_back(changed: Repository) -> None:
    before = changed.git("status", "--short")
    made = await stash(changed.root, "Half of it")
    assert (made.message, made.branch, made.files) == ("Half of it", "main", 3)
    assert changed.git("status", "--short") == ""
    success, _ = await apply_stash(changed.root, made.id, drop=True)
    assert success
    assert changed.git("status", "--short") == before
    assert await list_stashes(changed.root) == []


async def test_without_changes_nothing_is_stashed(repository: Repository) -> None:
    with pytest.raises(SpinneyError, match="no changes to stash"):
        await stash(repository.root)


async def test_a_stash_that_does_not_fit_is_kept(changed: Repository) -> None:
    made = await stash(changed.root)
    assert made.message.startswith("Changes on top of ")
    changed.commit("a", "three\n")
    success, output = await apply_stash(changed.root, made.id, drop=True)
    assert not success
    assert "CONFLICT" in output
    assert [each.id for each in await list_stashes(changed.root)] == [made.id]


async def test_a_stash_is_dropped_by_its_id_and_restored(changed: Repository) -> None:
    older = await stash(changed.root, "Older")
    changed.write("a", "again\n")
    newer = await stash(changed.root, "Newer")
    await drop_stash(changed.root, older.id)
    assert [each.id for each in await list_stashes(changed.root)] == [newer.id]
    await restore_stash(changed.root, older.id)
    messages = {each.id: each.message for each in await list_stashes(changed.root)}
    assert messages == {older.id: "Older", newer.id: "Newer"}
    with pytest.raises(SpinneyError, match="no longer exists"):
        await drop_stash(changed.root, "0" * 40)


async def test_a_commit_that_is_no_stash_is_not_put_on_the_list(repository: Repository) -> None:
    with pytest.raises(SpinneyError, match="is not a stash"):
        await restore_stash(repository.root, repository.git("rev-parse", "HEAD"))
