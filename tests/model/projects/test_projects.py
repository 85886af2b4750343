"""The tree of projects stays valid after any sequence of changes."""

from hypothesis import given, settings
from hypothesis import strategies as st

from model.base.errors import SpinneyError
from model.domain.events.projects import ProjectAdded
from model.domain.projects import Project
from model.projects.tree import (
    MAX_DEPTH,
    check_depth,
    check_folder_name,
    make_move_events,
    make_reorder_events,
    next_order,
)
from model.state import State, apply, list_children
from tests.nightly import examples

IDS = st.sampled_from([str(number) for number in range(12)])
PARENTS = st.none() | IDS
STEPS = st.lists(
    st.tuples(st.just("add"), st.sampled_from("abc"), st.booleans(), PARENTS)
    | st.tuples(st.just("move"), IDS, PARENTS, st.none() | st.integers(0, 5))
    | st.tuples(st.just("reorder"), st.lists(IDS, max_size=4)),
    max_size=40,
)


def _depth(state: State, parent_id: str | None) -> int:
    """The number of folders above; `MAX_DEPTH` also catches cycles."""
    above = 0
    while parent_id is not None:
        assert state.projects[parent_id].is_folder
        parent_id, above = state.projects[parent_id].parent_id, above + 1
        assert above <= MAX_DEPTH
    return above


def _add(state: State, name: str, is_folder: bool, parent_id: str | None) -> State:
    if parent_id is not None and not (
        parent_id in state.projects and state.projects[parent_id].is_folder
    ):
        return state
    if is_folder:
        check_depth(state, parent_id)
        name = check_folder_name(state, name, parent_id)
    number = len(state.projects)
    item = Project(
        id=str(number), name=name, added_at=number, is_folder=is_folder, parent_id=parent_id,
        order=next_order(state, parent_id),
    )  # fmt: skip
    return apply(state, ProjectAdded(project=item))


@settings(max_examples=examples(50, 200), deadline=None)
@given(STEPS)
def test_the_tree_stays_valid_after_any_changes(steps: list[tuple[object, ...]]) -> None:
    state = State()
    for step in steps:
        try:
            match step:
                case ("add", str(name), bool(is_folder), None | str() as parent_id):
                    state = _add(state, name, is_folder, parent_id)
                case ("move", str(item), None | str() as parent_id, None | int() as index):
                    for event in make_move_events(state, item, parent_id, index):
                        state = apply(state, event)
                case ("reorder", list(ids)):
                    for event in make_reorder_events(state, ids):
                        state = apply(state, event)
        except SpinneyError:
            continue
    for item in state.projects.values():
        assert _depth(state, item.parent_id) <= MAX_DEPTH - item.is_folder
    for parent_id in {item.parent_id for item in state.projects.values()}:
        inside = list_children(state, parent_id)
        folders = [item.name for item in inside if item.is_folder]
        assert len(set(folders)) == len(folders)
        assert len({item.order for item in inside}) == len(inside)
