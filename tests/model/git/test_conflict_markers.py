"""No commit takes a conflict that is not resolved along, or the markers of one."""

from collections.abc import Awaitable, Callable

import pytest

from model.base.errors import SpinneyError
from model.git.commit import commit
from model.git.conflicts import continue_operation
from model.git.rewriting import amend, fix_up
from model.git.secret_gate import SecretGate
from tests.model.git.repository import OPEN_GATE, Repository

MARKED = "one\n<<<<<<< HEAD\nmine\n=======\nother\n>>>>>>> other\nthree\n"
GATE = SecretGate(OPEN_GATE._project, is_on=True)
Act = Callable[[Repository, bool], Awaitable[str]]
"""Commits all changes, or what is staged."""


async def commit_changes(mine: Repository, stage_all: bool) -> str:
    return await commit(mine.root, "Message", GATE, stage_all)


async def commit_unsearched(mine: Repository, stage_all: bool) -> str:
    return await commit(mine.root, "Message", OPEN_GATE, stage_all)


async def amend_last(mine: Repository, stage_all: bool) -> str:
    return await amend(mine.root, "main", None, GATE, stage_all=stage_all)


async def fix_up_earlier(mine: Repository, stage_all: bool) -> str:
    earlier = mine.git("rev-parse", "HEAD^")
    return await fix_up(mine.root, "main", earlier, GATE, stage_all=stage_all)


@pytest.fixture
def branched(repository: Repository) -> Repository:
    """A repository with two commits on `mine`, and on `other` one that is in conflict with them."""
    repository.commit("file", "one\ntwo\nthree\n")
    repository.git("checkout", "--quiet", "-b", "other", "main")
    repository.commit("file", "one\nother\nthree\n")
    repository.commit("docs", MARKED)
    repository.git("checkout", "--quiet", "-b", "mine", "main")
    repository.commit("file", "one\nmine\nthree\n")
    repository.commit("more", "more\n")
    return repository


def merge(repository: Repository) -> None:
    with pytest.raises(AssertionError):
        repository.git("merge", "--quiet", "other")


@pytest.mark.parametrize("stage_all", [True, False])
async def test_a_commit_refuses_files_that_are_not_resolved(
    branched: Repository, stage_all: bool
) -> None:
    merge(branched)
    status = branched.git("status", "--short")
    with pytest.raises(SpinneyError, match="'file' has a conflict"):
        await commit(branched.root, "Message", OPEN_GATE, stage_all, allow_markers=True)
    assert branched.git("status", "--short") == status


@pytest.mark.parametrize("stage_all", [True, False])
@pytest.mark.parametrize("act", [commit_changes, commit_unsearched, amend_last, fix_up_earlier])
@pytest.mark.parametrize("name", ["file", "new file"])
async def test_markers_are_not_committed(
    branched: Repository, act: Act, stage_all: bool, name: str
) -> None:
    head = branched.git("rev-parse", "HEAD")
    branched.write(name, MARKED)
    if not stage_all:
        branched.git("add", "--all")
    status = branched.git("status", "--short")
    with pytest.raises(SpinneyError, match=f"'{name}' has conflict markers"):
        await act(branched, stage_all)
    assert branched.git("rev-parse", "HEAD") == head
    assert branched.git("status", "--short") == status


@pytest.mark.parametrize("is_staged", [True, False])
async def test_a_merge_is_not_completed_with_markers(branched: Repository, is_staged: bool) -> None:
    merge(branched)
    branched.write("file", MARKED if is_staged else "one\nboth\nthree\n")
    branched.git("add", "file")
    branched.write("file", MARKED)
    with pytest.raises(SpinneyError, match="'file' has conflict markers"):
        await continue_operation(branched.root, OPEN_GATE)
    branched.write("file", "one\nboth\nthree\n")
    branched.git("add", "file")
    await continue_operation(
        branched.root, OPEN_GATE
    )  # the markers in `docs` are those of the other side
    assert branched.git("show", "HEAD:docs") == MARKED.strip()


@pytest.mark.parametrize("name", ["file", "new file"])
@pytest.mark.parametrize(
    "marked",
    ["<<<<<<<\nmine\n=======\nother\n>>>>>>>\n", MARKED.replace("\n", "\r\n"),
     f"{'<' * 12} HEAD\nmine\n{'=' * 12}\nother\n{'>' * 12} other\n"],
    ids=["without names", "with carriage returns", "longer"],
)  # fmt: skip
async def test_all_markers_that_git_can_write_are_found(
    branched: Repository, marked: str, name: str
) -> None:
    branched.write(name, marked)
    with pytest.raises(SpinneyError, match=f"'{name}' has conflict markers"):
        await commit(branched.root, "Message", GATE, True)


async def test_lines_like_markers_are_committed_where_they_are_meant(branched: Repository) -> None:
    branched.write("guide", "Title\n=======\n\n>>>>>>> quoted\n<<<<<<< \n")
    await commit(branched.root, "A title is no marker", GATE, True)
    branched.write("guide", MARKED)
    await commit(branched.root, "Explain conflicts", GATE, True, allow_markers=True)
    branched.write("guide", MARKED + "more\n")
    await commit(branched.root, "They are not added again", GATE, True)
    branched.git("mv", "guide", "manual")
    branched.write("manual", MARKED + "more\nand more\n")
    await commit(branched.root, "Nor with another name", GATE, True)
