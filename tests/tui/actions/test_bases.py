"""Another base for a worktree, and onto it once its base has landed."""

import pytest

from model.domain.branches import Branch
from tests.tui.builders import a_project, a_state, a_worktree
from tests.tui.fake_client import FakeClient
from tests.tui.fake_desk import FakeDesk
from tests.tui.landing_desk import a_preview
from tui.actions.bases import change_base, move_onto_new_base
from tui.store.places import Place


def a_desk(*answers: object) -> FakeDesk:
    tree = a_worktree(branch="upper", base_branch="lower")
    client = FakeClient(a_state(a_project(), tree))
    names = ("main", "lower", "upper")
    client.answers["get_project_branches"] = lambda given: [
        Branch(name=name, current=False) for name in names
    ]
    client.answers["set_worktree_base"] = lambda given: tree
    client.answers["preview_landing"] = lambda given: a_preview(base="lower", new_base="")
    return FakeDesk(client, Place("worktree", "w1"), *answers)


@pytest.mark.parametrize(("way", "moves"), [("move", True), ("keep", False)])
async def test_the_base_is_chosen_and_whether_commits_move(way: str, moves: bool) -> None:
    desk = a_desk("main", way)
    await change_base(desk)
    offered = [choice.value for choice in desk.dialogs[0].choices]
    assert offered == ["main", "lower"], "not itself"
    given = {"worktree_id": "w1", "base_branch": "main", "move_commits": moves}
    assert desk.client.called("set_worktree_base") == [given]
    assert "lands in main now" in desk.said[-1]


@pytest.mark.parametrize("answers", [(None,), ("lower",), ("main", None)])
async def test_nothing_changes_where_nothing_was_chosen(answers: tuple[str | None, ...]) -> None:
    desk = a_desk(*answers)
    await change_base(desk)
    assert desk.client.called("set_worktree_base") == []


async def test_a_base_that_has_not_landed_moves_nothing() -> None:
    desk = a_desk()
    worktree = desk.state.worktrees["w1"]
    await move_onto_new_base(desk, worktree)
    assert desk.said == ["Its base has not landed."]
