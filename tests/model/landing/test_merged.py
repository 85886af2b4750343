"""Which commits of a branch are merged: up to which one, exactly, and whether they still are."""

from argparse import Namespace
from pathlib import Path

import pytest

from model.cli.prune import find_reason
from model.commands.landing import get_landing_desk, list_sweep, sweep_worktrees
from model.commands.worktrees import remove_worktree
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.landing import Landing as LandingResult
from model.domain.landing import LandingRow, SweepRow
from model.domain.worktrees import Worktree
from model.landing import merged_branches
from tests.model.git.repository import Repository
from tests.model.landing.conftest import Landing

PYTHON = "def f():\n    if a:\n        b()\n    c()\n"


async def _find_row(landing: Landing, worktree: Worktree) -> SweepRow:
    rows = (await list_sweep(landing.workspace, with_sizes=False)).rows
    return next(row for row in rows if row.worktree_id == worktree.id)


async def _find_on_desk(landing: Landing, worktree: Worktree) -> LandingRow:
    await landing.settle(worktree)
    desk = await get_landing_desk(landing.workspace, landing.make.project.id)
    return next(row for row in desk.rows if row.worktree_id == worktree.id)


def _why_it_stays(row: SweepRow, *, merged: bool = False, older_than: int | None = None) -> str:
    options = Namespace(action="delete", merged=merged, older_than=older_than)
    return find_reason(row.model_dump(mode="json"), options)


def _squash(repository: Repository, branch: str) -> None:
    repository.git("merge", "--quiet", "--squash", branch)
    repository.git("commit", "--quiet", "--message", "Squashed")


async def _expect_kept(landing: Landing, worktree: Worktree) -> None:
    (swept,) = await sweep_worktrees(landing.workspace, [worktree.id], "delete")
    assert not swept.ok
    assert Path(worktree.path).is_dir()


async def test_another_indentation_is_another_change(
    landing: Landing, repository: Repository
) -> None:
    repository.commit("f.py", PYTHON)
    one = await landing.branch("one", f_py=PYTHON.replace("    c()", "    d()"))
    repository.commit("f.py", PYTHON.replace("    c()", "        d()"))
    row = await _find_row(landing, one)
    assert (row.merged, row.unpushed) == (None, 1)
    assert _why_it_stays(row) == "1 commit nowhere else"
    await _expect_kept(landing, one)
    assert (await _find_on_desk(landing, one)).next != "archive"


@pytest.mark.parametrize("how", ["squash", "cherry-picks"])
async def test_a_branch_whose_exact_changes_are_in_the_base_goes_without_force(
    how: str, landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", a_txt="1\n", b_txt="2\n")
    repository.commit("other", "1\n")
    if how == "squash":
        _squash(repository, "one")
    else:
        repository.git("cherry-pick", "main..one")
    repository.commit("other", "2\n")
    row = await _find_row(landing, one)
    assert (row.merged, row.unpushed, _why_it_stays(row)) == ("squash", 2, "")
    await remove_worktree(landing.workspace, one.id)
    assert repository.git("branch", "--list", "one") == ""


@pytest.mark.parametrize("how", ["merge", "fast-forward", "squash"])
async def test_what_the_base_has_taken_back_is_not_merged_until_it_is_there_again(
    how: str, landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", a_txt="1\n", b_txt="2\n")
    if how == "squash":
        _squash(repository, "one")
    else:
        repository.git("merge", "--quiet", "--no-ff" if how == "merge" else "--ff-only", "one")
    assert (await _find_row(landing, one)).merged is not None
    # Only a part of it, and the history goes on.
    repository.git("rm", "--quiet", "b.txt")
    repository.git("commit", "--quiet", "--message", "Take it back")
    repository.commit("other", "1\n")
    row = await _find_row(landing, one)
    assert (row.merged, row.reverted) == (None, True)
    assert _why_it_stays(row)
    assert _why_it_stays(row, merged=True, older_than=0)
    on_desk = await _find_on_desk(landing, one)
    assert (on_desk.merged, on_desk.reverted, on_desk.next != "archive") == (None, True, True)
    assert "taken" in on_desk.reason or on_desk.next == "check"

    repository.commit("b.txt", "2\n")
    row = await _find_row(landing, one)
    assert (row.merged is not None, row.reverted) == (True, False)


async def test_a_merged_pull_request_counts_for_the_commits_that_it_brought_in(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    head = repository.git("rev-parse", "one")
    known = landing.workspace.store.state.worktrees[one.id]
    merged = {"pr_number": 7, "pr_url": "https://github.com/a/b/pull/7"}
    for commit in (None, head):
        changes = {**merged, "cached_pr_status": "merged", "cached_pr_head": commit}
        await landing.workspace.store.accept(
            WorktreeUpdated(worktree=known.model_copy(update=changes))
        )
        row = await _find_row(landing, one)
        # Merged is a word; without the commit it says nothing about this one.
        assert row.merged == ("pull_request" if commit else None)
    landing.commit(one, "later.txt", "1\n")
    row = await _find_row(landing, one)
    assert (row.merged, row.unpushed) == (None, 1)
    assert _why_it_stays(row) == "1 commit nowhere else"
    assert (await _find_on_desk(landing, one)).next != "archive"
    await _expect_kept(landing, one)
    landing.git(one, "reset", "--quiet", "--hard", head)
    (swept,) = await sweep_worktrees(landing.workspace, [one.id], "delete")
    assert swept.ok


async def test_the_list_names_commits_of_a_detached_worktree_as_its_deletion_does(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    _squash(repository, "one")
    landing.git(one, "checkout", "--quiet", "--detach")
    landing.commit(one, "b.txt", "1\n")
    row = await _find_row(landing, one)
    assert (row.merged, row.unpushed) == (None, 1)
    assert _why_it_stays(row, older_than=0) == "1 commit nowhere else"
    await _expect_kept(landing, one)


async def test_a_landing_is_not_forgotten_for_an_older_look_at_the_branches(
    landing: Landing, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    merged, about = landing.workspace.landing.merged, landing.make.project.id
    landed = LandingResult(
        id="l", project_id=about, worktree_ids=[one.id], base="main", before="", after="",
        method="squash", landed_at=1.0,
    )  # fmt: skip

    async def find_slowly(*given: object) -> None:
        merged.note_landing(landed)  # While git looks at branches that it has read before.

    monkeypatch.setattr(merged_branches, "find_merged", find_slowly)
    await merged._refresh(one, "c" * 40, ["b" * 40])
    assert merged.get(one) == "squash"
