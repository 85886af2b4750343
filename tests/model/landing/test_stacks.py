"""Worktrees that start from the branch of another one follow when that has landed."""

from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.landing import (
    get_landing_desk,
    land_train,
    land_worktree,
    preview_landing,
    start_train,
    undo_landing,
)
from model.commands.worktrees import set_worktree_base
from model.domain.hosting import MergeMethod
from model.domain.landing import Landing as Landed
from model.domain.worktrees import Worktree
from tests.model.git.repository import Repository
from tests.model.landing.conftest import Landing


class Stack:
    """`upper` starts from `lower`, which starts from main; each has commits of its own."""

    def __init__(self, landing: Landing) -> None:
        self.landing = landing
        self.lower: Worktree
        self.upper: Worktree

    async def build(self) -> None:
        self.lower = await self.landing.branch("lower", a_txt="1\n", b_txt="1\n")
        self.upper = await self.above("upper", "lower")
        self.landing.commit(self.upper, "a.txt", "1\n2\n")
        self.landing.commit(self.upper, "c.txt", "1\n")
        await self.landing.settle(self.upper)

    async def above(self, name: str, base: str) -> Worktree:
        return await self.landing.make(name, base_branch=base)

    async def land(self, worktree: Worktree, method: MergeMethod = "merge") -> Landed:
        about = await preview_landing(self.landing.workspace, worktree.id)
        landed = await land_worktree(
            self.landing.workspace, worktree.id, about.base_commit, method, ignore_check=True
        )
        await self.landing.settle(*self.landing.workspace.store.state.worktrees.values())
        return landed

    def now(self, worktree: Worktree) -> Worktree:
        return self.landing.workspace.store.state.worktrees[worktree.id]

    def own(self, worktree: Worktree) -> list[str]:
        """The subjects of the commits that main lacks, newest first."""
        return self.landing.git(worktree, "log", "--format=%s", "main..HEAD").splitlines()


@pytest.fixture
async def stack(landing: Landing) -> Stack:
    built = Stack(landing)
    await built.build()
    return built


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
async def test_the_upper_one_follows_with_its_own_commits_and_returns_with_the_undo(
    stack: Stack, repository: Repository, method: MergeMethod
) -> None:
    repository.commit("other.txt", "1\n")  # So that a rebase makes new commits.
    before = stack.landing.git(stack.upper, "rev-parse", "HEAD")
    landed = await stack.land(stack.lower, method)
    assert any("'upper' lands in 'main' now" in note for note in landed.notes), landed.notes
    assert stack.now(stack.upper).base_branch is None
    assert stack.own(stack.upper) == ["Change c.txt", "Change a.txt"]
    assert stack.landing.git(stack.upper, "status", "--porcelain") == ""
    assert (Path(stack.upper.path) / "a.txt").read_text() == "1\n2\n"
    is_moved = stack.landing.git(stack.upper, "rev-parse", "HEAD") != before
    assert is_moved == (method != "merge")

    undone = await undo_landing(stack.landing.workspace, landed.id)
    assert undone.notes == []
    assert stack.now(stack.upper).base_branch == "lower"
    assert stack.landing.git(stack.upper, "rev-parse", "HEAD") == before


async def test_what_the_upper_one_merged_of_the_lower_one_is_left_behind(stack: Stack) -> None:
    stack.landing.commit(stack.lower, "b.txt", "1\n2\n")
    stack.landing.git(stack.upper, "merge", "--quiet", "--no-edit", "lower")
    stack.landing.commit(stack.upper, "e.txt", "1\n")
    await stack.landing.settle(stack.lower, stack.upper)
    landed = await stack.land(stack.lower, "squash")
    assert landed.notes == ["'upper' lands in 'main' now, and its commits were moved onto it."]
    assert stack.own(stack.upper) == ["Change e.txt", "Change c.txt", "Change a.txt"]
    assert (Path(stack.upper.path) / "b.txt").read_text() == "1\n2\n"


async def test_what_a_merge_in_the_upper_one_changed_is_never_lost(stack: Stack) -> None:
    stack.landing.commit(stack.lower, "b.txt", "1\n2\n")
    stack.landing.git(stack.upper, "merge", "--quiet", "--no-commit", "lower")
    (Path(stack.upper.path) / "b.txt").write_text("resolved\n")
    stack.landing.git(stack.upper, "commit", "--quiet", "--all", "--message", "Merge lower")
    await stack.landing.settle(stack.lower, stack.upper)
    before = stack.landing.git(stack.upper, "rev-parse", "HEAD")
    landed = await stack.land(stack.lower, "squash")
    assert "merges with changes of their own, which a rebase would lose" in landed.notes[0]
    assert stack.now(stack.upper).base_branch == "lower"
    assert stack.landing.git(stack.upper, "rev-parse", "HEAD") == before


async def test_what_cannot_follow_stays_and_never_lands_in_the_dead_branch(
    stack: Stack, repository: Repository
) -> None:
    edited = Path(stack.upper.path) / "c.txt"
    edited.write_text("mine\n")
    landed = await stack.land(stack.lower, "squash")
    assert "1 file in 'upper' has uncommitted changes" in landed.notes[0]
    assert "Move it onto 'main' then." in landed.notes[0]
    assert stack.now(stack.upper).base_branch == "lower"
    edited.write_text("1\n")
    await stack.landing.settle(stack.upper)
    desk = await get_landing_desk(stack.landing.workspace, stack.upper.project_id)
    (row,) = [one for one in desk.rows if one.worktree_id == stack.upper.id]
    assert (row.next, row.new_base) == ("update", "main")
    assert row.reason == "Its base 'lower' has landed in 'main'. Move it onto 'main' first."
    assert stack.upper.id not in desk.suggested_train
    preview = await preview_landing(stack.landing.workspace, stack.upper.id)
    assert (preview.problem, preview.new_base) == (row.reason, "main")
    lower = repository.git("rev-parse", "lower")
    for attempt in (
        land_worktree(stack.landing.workspace, stack.upper.id, lower, ignore_check=True),
        start_train(stack.landing.workspace, stack.upper.project_id, [stack.upper.id]),
    ):
        with pytest.raises(SpinneyError, match="has landed in 'main'"):
            await attempt

    await set_worktree_base(stack.landing.workspace, stack.upper.id, "main", move_commits=True)
    assert stack.own(stack.upper) == ["Change c.txt", "Change a.txt"]
    await stack.land(stack.upper)
    assert repository.git("show", "main:a.txt") == "1\n2"


async def test_a_lower_one_that_is_deleted_with_its_landing_is_still_known_to_have_landed(
    stack: Stack, repository: Repository
) -> None:
    edited = Path(stack.upper.path) / "c.txt"
    edited.write_text("mine\n")
    about = await preview_landing(stack.landing.workspace, stack.lower.id)
    await land_worktree(
        stack.landing.workspace, stack.lower.id, about.base_commit, "squash", after="delete",
        ignore_check=True,
    )  # fmt: skip
    assert repository.git("branch", "--list", "lower"), "it is needed to tell the commits apart"
    preview = await preview_landing(stack.landing.workspace, stack.upper.id)
    assert preview.new_base == "main"


async def test_a_conflict_of_the_upper_one_leaves_it_as_it_was(
    stack: Stack, repository: Repository
) -> None:
    repository.commit("c.txt", "of main\n")
    before = stack.landing.git(stack.upper, "rev-parse", "HEAD")
    landed = await stack.land(stack.lower, "squash")
    assert "in conflict with it in c.txt" in " ".join(landed.notes)
    assert stack.now(stack.upper).base_branch == "lower"
    assert stack.landing.git(stack.upper, "rev-parse", "HEAD") == before
    assert stack.landing.git(stack.upper, "status", "--porcelain", "--branch") == "## upper"
    with pytest.raises(SpinneyError, match=r"stopped with conflicts in c\.txt"):
        await set_worktree_base(stack.landing.workspace, stack.upper.id, "main", move_commits=True)
    assert "AA c.txt" in stack.landing.git(stack.upper, "status", "--porcelain")


@pytest.mark.parametrize(("method", "commits"), [("merge", 6), ("squash", 2), ("rebase", 4)])
async def test_a_train_takes_a_stack_in_order(
    stack: Stack, repository: Repository, method: MergeMethod, commits: int
) -> None:
    repository.commit("other.txt", "1\n")
    top = await stack.above("top", "upper")
    stack.landing.commit(top, "d.txt", "1\n")
    await stack.landing.settle(top)
    project, trains = stack.upper.project_id, stack.landing.workspace.landing.trains
    train = await start_train(
        stack.landing.workspace, project, [stack.upper.id, stack.lower.id], method, with_check=False
    )
    await stack.landing.eventually(lambda: not trains._running)
    train = await trains.read(project)  # type: ignore[assignment]
    assert [(car.branch, car.status) for car in train.cars] == [
        ("lower", "ready"),
        ("upper", "ready"),
    ]
    landed = await land_train(stack.landing.workspace, train.id)
    assert landed.worktree_ids == [stack.lower.id, stack.upper.id]
    assert repository.git("show", "main:a.txt") == "1\n2"
    new = repository.git("rev-list", "--count", f"{landed.before}..main")
    assert int(new) == commits, "none came in twice"
    assert stack.now(stack.upper).base_branch is None
    assert stack.now(top).base_branch is None
    assert stack.own(top) == ["Change d.txt"]


async def test_a_car_whose_base_was_left_out_is_left_out(stack: Stack) -> None:
    clash = await stack.landing.branch("clash", a_txt="other\n")
    ids = [clash.id, stack.lower.id, stack.upper.id]
    trains = stack.landing.workspace.landing.trains
    await start_train(
        stack.landing.workspace, clash.project_id, ids, with_check=False, keep_going=True
    )
    await stack.landing.eventually(lambda: not trains._running)
    train = await trains.read(clash.project_id)
    assert train is not None
    assert [car.status for car in train.cars] == ["ready", "conflict", "left_out"]
    assert train.cars[2].error == "It starts from 'lower', which was left out."


async def test_what_starts_from_a_branch_that_is_there_for_good_goes_on_landing_in_it(
    landing: Landing, repository: Repository
) -> None:
    repository.git("branch", "develop")
    develop = await landing.make(branch="develop")
    landing.commit(develop, "d.txt", "1\n")
    feature = await landing.make("feature", base_branch="develop")
    landing.commit(feature, "f.txt", "1\n")
    await landing.settle(develop, feature)
    about = await preview_landing(landing.workspace, develop.id)
    landed = await land_worktree(
        landing.workspace, develop.id, about.base_commit, "merge", ignore_check=True
    )
    await landing.settle(develop, feature)
    assert landed.notes == []
    about = await preview_landing(landing.workspace, feature.id)
    assert (about.base, about.new_base) == ("develop", "")
    await land_worktree(landing.workspace, feature.id, about.base_commit, ignore_check=True)
    assert repository.git("show", "develop:f.txt") == "1"


async def test_the_base_of_a_worktree_changes(stack: Stack) -> None:
    workspace, upper = stack.landing.workspace, stack.upper
    changed = await set_worktree_base(workspace, upper.id, "main")
    assert changed.base_branch is None
    assert len(stack.own(upper)) == 4, "without a move its commits stay"
    with pytest.raises(SpinneyError, match="there is no branch or commit 'nowhere'"):
        await set_worktree_base(workspace, upper.id, "nowhere")
    await set_worktree_base(workspace, upper.id, "lower")
    for worktree, base in ((upper, "upper"), (stack.lower, "upper")):
        with pytest.raises(SpinneyError, match="starts from"):
            await set_worktree_base(workspace, worktree.id, base)
    assert stack.now(stack.lower).base_branch is None


async def test_a_preview_names_what_a_branch_brings_in_of_others(
    landing: Landing, repository: Repository
) -> None:
    four = await landing.branch("four", a="1\n", b="1\n")
    five = await landing.branch("five", c="1\n")
    landing.git(five, "merge", "--quiet", "--no-edit", "four~1")
    six = await landing.branch("six", d="1\n")
    landing.git(five, "merge", "--quiet", "--no-edit", "six")
    await landing.settle(five, six)

    async def warnings(worktree: Worktree) -> list[str]:
        return (await preview_landing(landing.workspace, worktree.id)).warnings

    assert await warnings(five) == [
        "It brings in 1 commit of 'four', which has not landed.",
        "It brings in 1 commit of 'six', which has not landed.",
    ]
    assert await warnings(four) == []
    assert await warnings(six) == []


async def test_a_fork_owns_only_what_came_after_it(landing: Landing) -> None:
    first = await landing.branch("first", a="1\n")
    fork = await landing.make("fork", base_branch="first")
    await set_worktree_base(landing.workspace, fork.id, "main")
    landing.commit(fork, "b", "1\n")
    await landing.settle(first, fork)
    preview = await preview_landing(landing.workspace, fork.id)
    assert preview.warnings == ["It brings in 1 commit of 'first', which has not landed."]
    assert (await preview_landing(landing.workspace, first.id)).warnings == []
