"""The lines below the tree say what the selected worktree is heading for."""

from tests.tui.builders import a_project, a_state, a_worktree
from tui.store.places import Place
from tui.tree.detail import describe_place


def test_what_a_worktree_would_conflict_with_is_named() -> None:
    state = a_state(
        a_project(default_branch="main"),
        a_worktree(id="w1", name="otter", conflicts_with=["w2"], conflicts_with_base=True),
        a_worktree(id="w2", name="her\x1b[31mon"),
    )
    line = describe_place(Place("worktree", "w1"), state, "/home/ada")[0]
    assert line.endswith(" · would conflict with her␛[31mon, main")


def test_the_first_of_a_worktrees_ports_is_named() -> None:
    state = a_state(a_project(), a_worktree(id="w1", port=12_340))
    assert describe_place(Place("worktree", "w1"), state, "")[2] == "port 12340 · 0 sessions"
