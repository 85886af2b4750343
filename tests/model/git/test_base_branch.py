"""A base branch is found with its checkout, which follows it."""

import os
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.git.base_branch import BaseBranch, check_can_follow, find_pushed, move_base, read_base
from tests.model.git.repository import Repository


@pytest.mark.parametrize("where", ["here", "linked", "twice", "nowhere", "missing", "bare"])
async def test_a_base_is_found_with_the_checkout_that_follows_it(
    where: str, repository: Repository, tmp_path: Path
) -> None:
    root, commit = repository.root, repository.git("rev-parse", "HEAD")
    checkouts = {"here": root, "twice": root, "linked": tmp_path.resolve() / "linked"}
    if where in ("linked", "nowhere", "missing", "bare"):
        repository.git("checkout", "--quiet", "-b", "other")
    if where in ("linked", "missing"):
        repository.git("worktree", "add", "--quiet", str(tmp_path.resolve() / "linked"), "main")
    if where == "missing":
        checkouts["missing"] = tmp_path.resolve() / "linked"
        (tmp_path / "linked").rename(tmp_path / "away")
    if where == "twice":
        repository.git("worktree", "add", "--quiet", "--force", str(tmp_path / "linked"), "main")
    if where == "bare":
        root = tmp_path.resolve() / "bare.git"
        repository.git("clone", "--quiet", "--bare", str(repository.root), str(root))
        repository.git("symbolic-ref", "HEAD", "refs/heads/main", cwd=root)
    found = await read_base(root, "main")
    assert found == BaseBranch("main", commit, checkouts.get(where))
    assert found.commits == (commit,)
    with pytest.raises(SpinneyError, match="no branch 'mai' to land in"):
        await read_base(root, "mai")


async def test_a_base_has_the_commit_of_its_counterpart_on_origin(with_remote: Repository) -> None:
    pushed = with_remote.git("rev-parse", "main")
    local = with_remote.commit("more", "text\n")
    assert (await read_base(with_remote.root, "main")).commits == (local, pushed)
    with_remote.git("branch", "--delete", "--force", "--remotes", "origin/main")
    assert (await read_base(with_remote.root, "main")).commits == (local,)


async def test_a_file_that_was_only_touched_does_not_keep_a_checkout_from_following(
    repository: Repository,
) -> None:
    before = repository.git("rev-parse", "main")
    after = repository.commit("read.me", "other\n")
    repository.git("reset", "--quiet", "--hard", before)
    base = await read_base(repository.root, "main")
    for act in (check_can_follow(base, after), move_base(repository.root, base, after, "test")):
        os.utime(repository.root / "read.me", (1_000_000_000, 1_000_000_000))
        await act
    assert (repository.root / "read.me").read_text() == "other\n"
    assert repository.git("status", "--porcelain") == ""
    repository.write("read.me", "mine\n")
    base = await read_base(repository.root, "main")
    with pytest.raises(SpinneyError, match="not uptodate"):
        await move_base(repository.root, base, before, "test")
    assert repository.git("rev-parse", "main") == after
    assert (repository.root / "read.me").read_text() == "mine\n"


async def test_a_commit_is_pushed_if_a_remotes_branch_of_that_name_has_it(
    with_remote: Repository,
) -> None:
    root, first = with_remote.root, with_remote.git("rev-parse", "main")
    assert await find_pushed(root, "main", first) == "origin/main"
    commit = with_remote.commit("more", "text\n")
    for name in ("origin/feature/main", "elsewhere/main"):
        with_remote.git("update-ref", f"refs/remotes/{name}", commit)
    assert await find_pushed(root, "main", commit) is None
    assert await find_pushed(root, "main", "0" * 39 + "1") is None
    with_remote.git("remote", "add", "team/fork", "https://example.org/x")
    with_remote.git("update-ref", "refs/remotes/team/fork/main", with_remote.commit("last", "\n"))
    assert await find_pushed(root, "main", commit) == "team/fork/main"
