"""The landing desk says what is next with each worktree, and why."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.git import update_from_base
from model.commands.landing import get_landing_desk
from model.commands.worktrees import set_worktree_base
from model.domain.events.base import Event
from model.domain.events.landing import LandingUpdated, ReviewUpdated
from model.domain.events.worktrees import WorktreeConflictsUpdated
from model.domain.landing import CheckResult, DeskPullRequest, LandingRow, NextStep, ReviewProgress
from model.landing import updates
from model.landing.checks import MISSING
from model.landing.next_step import Facts, choose_step
from model.landing.train_order import suggest_train
from model.store.bus import Reader
from tests.model.git.repository import Repository
from tests.model.landing.conftest import Landing


def is_announced(reader: Reader) -> bool:
    return any(isinstance(entry.event, LandingUpdated) for entry in reader.take()[0])


async def test_the_desk_shows_what_differs_and_what_is_next(landing: Landing) -> None:
    reader = landing.workspace.bus.reader()
    fresh = await landing.branch("fresh")
    one = await landing.branch("one", a_txt="1\n2\n", b_txt="1\n")
    two = await landing.branch("two", a_txt="other\n")
    (Path(two.path) / "c.txt").write_text("c\n")
    await landing.settle(two)
    desk = await get_landing_desk(landing.workspace, one.project_id)
    rows = {row.name: row for row in desk.rows}
    assert fresh.name not in rows, "nothing was done there yet"
    row = rows["one"]
    assert (row.ahead, row.files, row.added, row.removed, row.base) == (2, 2, 3, 0, "main")
    assert row.next == "check"
    assert row.reason == "The check has not run here."
    assert [(c.partner, c.files) for c in row.conflicts] == [(two.id, ["a.txt"])]
    row = rows["two"]
    assert (row.next, row.uncommitted, row.files) == ("commit", 1, 2)
    assert desk.suggested_train == [one.id]
    await landing.eventually(lambda: is_announced(reader))


@pytest.mark.parametrize("change", [ReviewUpdated, partial(WorktreeConflictsUpdated, conflicts=[])])
async def test_what_the_desk_shows_is_announced_when_it_changes(
    landing: Landing, change: Callable[..., Event]
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    await landing.settle(one)
    reader = landing.workspace.bus.reader()
    while True:  # until what the branch itself has changed was announced
        await asyncio.sleep(4 * updates._DELAY)
        if not is_announced(reader):
            break
    landing.workspace.store.record(change(worktree_id=one.id))
    await landing.eventually(lambda: is_announced(reader))


async def test_a_merged_branch_can_be_archived(landing: Landing) -> None:
    one = await landing.branch("one", a_txt="1\n", b_txt="1\n")
    landing.repository.git("merge", "--quiet", "--squash", "one")
    landing.repository.git("commit", "--quiet", "--message", "Squashed")
    landing.repository.commit("a.txt", "changed later\n")
    await landing.settle(one)
    await landing.eventually(lambda: landing.workspace.landing.merged.get(one) is not None)
    (row,) = (await get_landing_desk(landing.workspace, one.project_id)).rows
    assert (row.merged, row.next) == ("squash", "archive")


GREEN = CheckResult(worktree_id="w", status="passed")
RED = CheckResult(worktree_id="w", status="failed", exit_code=2)
LACKING = CheckResult(worktree_id="w", status="none", is_missing=True, error=MISSING)


def _facts(**changes: object) -> Facts:
    usual = {
        "base": "main", "waiting": "", "running": "", "ahead": 1, "behind": 0, "uncommitted": 0,
        "unmerged": 0, "conflicts_with_base": 0, "merged": None, "check": GREEN,
        "review": ReviewProgress(), "pull_request": None,
    }  # fmt: skip
    return Facts(**{**usual, **changes})  # type: ignore[arg-type]


def _pull_request(**values: object) -> DeskPullRequest:
    return DeskPullRequest.model_validate({"number": 7, "url": "", "phase": "open", **values})


@pytest.mark.parametrize(
    ("facts", "step", "reason"),
    [
        (_facts(), "land", "It can land in main."),
        (_facts(waiting="Fix", check=RED), "answer", "The session 'Fix' waits for an answer."),
        (_facts(running="The setup"), "wait", "The setup is running."),
        (_facts(unmerged=1, uncommitted=3), "resolve", "1 file has an unresolved conflict."),
        (_facts(uncommitted=3), "commit", "3 files have uncommitted changes."),
        (_facts(ahead=0), "archive", "It has nothing that main lacks."),
        (_facts(merged="commits"), "archive", "Its commits are in main."),
        (_facts(conflicts_with_base=2), "resolve", "2 files have a conflict with main."),
        (_facts(check=RED), "fix", "The check failed. It ended with exit code 2."),
        (
            _facts(check=RED.model_copy(update={"is_stale": True})),
            "check",
            "The check ran on other files: something has changed since.",
        ),
        (_facts(review=ReviewProgress(hunks=23, accepted=17)), "review", "6 of 23 changes"),
        (_facts(review=ReviewProgress(hunks=2, rejected=1)), "fix", "1 rejected change"),
        (_facts(pull_request=_pull_request(unresolved=2)), "fix", "has 2 unresolved comments"),
        (_facts(pull_request=_pull_request(checks="failed")), "fix", "Checks of pull request #7"),
        (_facts(pull_request=_pull_request(), behind=1), "update", "main has 1 commit"),
        (_facts(check=LACKING, behind=1), "update", "main has a script 'check', which this"),
        (_facts(check=LACKING), "check", "find out why it was taken out"),
        (_facts(pull_request=_pull_request()), "wait", "waits for a review"),
        (_facts(pull_request=_pull_request(phase="approved")), "merge", "#7 is approved"),
    ],
)
def test_the_first_thing_in_the_way_is_next(facts: Facts, step: NextStep, reason: str) -> None:
    chosen, why = choose_step(facts)
    assert chosen == step
    assert reason in why


def test_a_train_begins_with_the_fewest_conflicts_and_has_none() -> None:
    def row(worktree_id: str, *partners: str) -> LandingRow:
        conflicts = [
            {"with": one, "with_kind": "branch" if one == "main" else "worktree", "files": ["a"]}
            for one in partners
        ]
        return LandingRow.model_validate(
            {
                "worktree_id": worktree_id, "name": worktree_id, "branch": worktree_id,
                "base": "main", "ahead": 1, "conflicts": conflicts, "check": GREEN,
                "next": "land", "reason": "",
            }
        )  # fmt: skip

    rows = [row("hub", "a", "b"), row("a", "hub"), row("b", "hub"), row("c"), row("d", "main")]
    assert suggest_train(rows) == ["c", "a", "b"]


async def test_a_renamed_base_is_named_on_the_desk_and_by_an_update(
    landing: Landing, repository: Repository
) -> None:
    one = await landing.branch("one", a_txt="1\n")
    repository.git("branch", "--move", "main", "trunk")
    await landing.settle(one)
    (row,) = (await get_landing_desk(landing.workspace, one.project_id)).rows
    assert row.next == "update"
    assert "no branch 'main' any more: it was renamed or deleted" in row.reason
    with pytest.raises(SpinneyError, match="choose another base branch"):
        await update_from_base(landing.workspace, one.id)
    await set_worktree_base(landing.workspace, one.id, "trunk")
    await landing.settle(one)
    (row,) = (await get_landing_desk(landing.workspace, one.project_id)).rows
    assert row.next == "check"
