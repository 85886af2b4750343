"""The log of a branch, and changing its last commits."""

from collections.abc import Awaitable

import pytest

from model.base.errors import SpinneyError
from model.git.changes import list_commit_files, read_commit_patch
from model.git.log import list_log
from model.git.merging import find_operation
from model.git.rewriting import amend, fix_up
from tests.model.git.repository import OPEN_GATE, Repository


@pytest.fixture
def branch(with_remote: Repository) -> Repository:
    """A repository whose checked-out branch has two commits that main lacks."""
    with_remote.git("checkout", "--quiet", "-b", "topic")
    with_remote.commit("a", "one\n")
    with_remote.commit("b", "two\n")
    return with_remote


async def catch_error(call: Awaitable[object]) -> str:
    with pytest.raises(SpinneyError) as refused:
        await call
    return refused.value.message


def subjects(repository: Repository) -> list[str]:
    return repository.git("log", "--format=%s").split("\n")


# The log ------------------------------------------------------------------------------------------


async def test_the_log_says_what_was_pushed_and_what_the_base_has(branch: Repository) -> None:
    branch.git("push", "--quiet", "origin", "HEAD~1:refs/heads/topic")
    branch.git("fetch", "--quiet")
    log = await list_log(branch.root, "main", 50)
    marks = [(each.subject, each.is_pushed, each.is_in_base) for each in log]
    assert marks == [
        ("Change b", False, False), ("Change a", True, False), ("Change read.me", True, True),
    ]  # fmt: skip


async def test_the_log_comes_in_pages(branch: Repository) -> None:
    [second] = await list_log(branch.root, "main", 1, offset=1)
    assert (second.subject, second.author, second.is_in_base) == ("Change a", "Ada", False)


async def test_before_the_first_commit_the_log_is_empty(make_repository) -> None:
    assert await list_log(make_repository("empty").root, "main", 50) == []


async def test_a_message_is_shown_with_its_control_characters(
    branch: Repository,
) -> None:
    branch.git("commit", "--quiet", "--allow-empty", "-m", "Red \x1b[31m\n\nBody\x07")
    [newest] = await list_log(branch.root, "main", 1)
    assert (newest.subject, newest.body) == ("Red ␛[31m", "Body␇")


async def test_a_commit_is_compared_with_its_first_parent(branch: Repository) -> None:
    sha = branch.git("rev-parse", "HEAD")
    [file] = await list_commit_files(branch.root, sha)
    assert (file.name, file.status, file.added) == ("b", "added", 1)
    patch, _ = await read_commit_patch(branch.root, sha[:10], "b")
    assert "+two" in patch.to_text()
    first = branch.git("rev-list", "--max-parents=0", "HEAD")
    assert [file.name for file in await list_commit_files(branch.root, first)] == ["read.me"]


@pytest.mark.parametrize("name", ["HEAD", "main", "--all", "f" * 40, ""])
async def test_commits_are_given_by_their_id_alone(branch: Repository, name: str) -> None:
    assert "There is no commit" in await catch_error(list_commit_files(branch.root, name))


# Amending -----------------------------------------------------------------------------------------


async def test_amend_adds_what_is_staged_and_keeps_the_message(branch: Repository) -> None:
    branch.write("b", "two\nthree\n")
    branch.git("add", "b")
    branch.write("c", "not staged\n")
    sha = await amend(branch.root, "main", None, OPEN_GATE)
    assert sha == branch.git("rev-parse", "HEAD")
    assert subjects(branch)[:2] == ["Change b", "Change a"]
    assert branch.git("show", "HEAD:b") == "two\nthree"
    assert branch.git("status", "--short") == "?? c"


async def test_amend_changes_the_message(branch: Repository) -> None:
    await amend(branch.root, "main", "Better\n\nBecause.", OPEN_GATE)
    assert branch.git("log", "-1", "--format=%B") == "Better\n\nBecause."


async def test_a_pushed_commit_is_amended_only_by_force(branch: Repository) -> None:
    branch.git("push", "--quiet", "origin", "topic")
    branch.write("b", "2\n")
    assert "was pushed" in await catch_error(
        amend(branch.root, "main", None, OPEN_GATE, stage_all=True)
    )
    await amend(branch.root, "main", None, OPEN_GATE, stage_all=True, force=True)
    assert branch.git("show", "HEAD:b") == "2"


async def test_a_commit_of_the_base_is_not_amended(with_remote: Repository) -> None:
    with_remote.git("checkout", "--quiet", "-b", "topic")
    assert "belongs to the base" in await catch_error(
        amend(with_remote.root, "main", "Mine", OPEN_GATE)
    )


async def test_amend_without_anything_to_add_says_so(branch: Repository) -> None:
    assert "Nothing is staged" in await catch_error(amend(branch.root, "main", None, OPEN_GATE))
    assert "is empty" in await catch_error(amend(branch.root, "main", " \n", OPEN_GATE))


# Fixing up ----------------------------------------------------------------------------------------


async def test_changes_go_into_an_earlier_commit(branch: Repository) -> None:
    target = branch.git("rev-parse", "HEAD~1")
    branch.write("a", "one and a half\n")
    branch.git("add", "a")
    branch.write("b", "kept, not staged\n")
    await fix_up(branch.root, "main", target, OPEN_GATE)
    assert subjects(branch) == ["Change b", "Change a", "Change read.me"]
    assert branch.git("show", "HEAD~1:a") == "one and a half"
    assert (branch.root / "b").read_text() == "kept, not staged\n"


async def test_changes_that_do_not_fit_stay_staged(branch: Repository) -> None:
    branch.commit("a", "changed later\n")
    before = branch.git("rev-parse", "HEAD")
    target = branch.git("rev-parse", "HEAD~2")
    branch.write("a", "changed again\n")
    branch.git("add", "a")
    error = await catch_error(fix_up(branch.root, "main", target, OPEN_GATE))
    assert "do not fit into commit" in error
    assert branch.git("rev-parse", "HEAD") == before
    assert branch.git("diff", "--cached", "--name-only") == "a"
    assert await find_operation(branch.root) is None


async def test_the_last_commit_is_fixed_up_by_amending_it(branch: Repository) -> None:
    branch.write("b", "2\n")
    sha = branch.git("rev-parse", "HEAD")
    await fix_up(branch.root, "main", sha, OPEN_GATE, stage_all=True)
    assert subjects(branch)[0] == "Change b"
    assert branch.git("show", "HEAD:b") == "2"
