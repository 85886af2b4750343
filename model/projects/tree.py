"""The tree of projects and folders: who lies where, in which order, and what may be moved.

Pure functions on the state; commands use them between looking and writing.
"""

from typing import Final

from model.base.errors import SpinneyError, folder_name_exists, folder_not_found
from model.base.text import clean_line
from model.domain.events import Event, ProjectUpdated
from model.domain.resources import Project
from model.state import State, children_of, item_in

MAX_DEPTH: Final = 3
"""Levels of folders; projects may lie in the deepest."""
_LONGEST_NAME: Final = 200


def shown(project: Project) -> Project:
    """The project as clients may see it: without its key for the issue tracker."""
    return project.model_copy(update={"tracker_api_key": None})


def folder_in(state: State, folder_id: str) -> Project:
    """The folder of this id. Raises `not_found`, in words of its own for a project."""
    folder = item_in(state, folder_id)
    if not folder.is_folder:
        raise folder_not_found(folder_id)
    return folder


def place_after_all(state: State, parent_id: str | None) -> float:
    """The `order` of what is added to a folder."""
    return max((item.order + 1 for item in children_of(state, parent_id)), default=0)


def folder_name(state: State, name: str, parent_id: str | None, but: str | None = None) -> str:
    """The name cleaned, if no other folder beside has it; `but` is the folder that is renamed."""
    name = clean_line(name).strip()
    if not name or len(name) > _LONGEST_NAME:
        why = f"it must have between 1 and {_LONGEST_NAME} characters"
        raise SpinneyError(f"Invalid field 'name': {why}")
    beside = (item for item in children_of(state, parent_id) if item.is_folder and item.id != but)
    if any(folder.name == name for folder in beside):
        raise folder_name_exists(name)
    return name


def check_depth(state: State, parent_id: str | None, levels: int = 1) -> None:
    """Raise when `levels` of folders put into this folder would reach too deep."""
    if len(_ancestors(state, parent_id)) + levels > MAX_DEPTH:
        raise SpinneyError("Would exceed max nesting depth", "conflict")


def moved(state: State, item_id: str, parent_id: str | None, index: int | None) -> list[Event]:
    """The events that put an item into a folder (or the root), at a place there or last.

    Raises:
        SpinneyError: with the interface's words, when the item would lie in itself or too deep, or
            beside a folder of its name.
    """
    item = item_in(state, item_id)
    if parent_id is not None:
        folder_in(state, parent_id)
    if item_id in _ancestors(state, parent_id):
        raise SpinneyError("Cannot move item into itself or descendant", "conflict")
    if item.is_folder:
        check_depth(state, parent_id, _levels(state, item))
        folder_name(state, item.name, parent_id, but=item.id)
    beside = [other for other in children_of(state, parent_id) if other.id != item_id]
    place = len(beside) if index is None else index
    return _numbered(
        [*beside[:place], item.model_copy(update={"parent_id": parent_id}), *beside[place:]], state
    )


def reordered(state: State, ids: list[str]) -> list[Event]:
    """The events that put items into this order; what lies beside them unnamed follows them."""
    named = [item_in(state, item_id) for item_id in dict.fromkeys(ids)]
    events: list[Event] = []
    for parent_id in dict.fromkeys(item.parent_id for item in named):
        first = [item for item in named if item.parent_id == parent_id]
        rest = [item for item in children_of(state, parent_id) if item not in first]
        events += _numbered([*first, *rest], state)
    return events


def _numbered(items: list[Project], state: State) -> list[Event]:
    placed = [item.model_copy(update={"order": place}) for place, item in enumerate(items)]
    return [ProjectUpdated(project=item) for item in placed if item != state.projects[item.id]]


def _ancestors(state: State, folder_id: str | None) -> list[str]:
    """The folder and all that it lies in."""
    found: list[str] = []
    while folder_id is not None and folder_id in state.projects and folder_id not in found:
        found.append(folder_id)
        folder_id = state.projects[folder_id].parent_id
    return found


def _levels(state: State, folder: Project) -> int:
    """How many levels of folders there are from this one down."""
    inside = (item for item in children_of(state, folder.id) if item.is_folder)
    return 1 + max((_levels(state, item) for item in inside), default=0)
