"""The tree of projects and folders: nesting, order, and checks before a move.

Pure functions on the state; commands call them between reading and writing.
"""

from typing import Final

from model.base.errors import SpinneyError, folder_name_exists, folder_not_found
from model.base.text import clean_line
from model.domain.events.base import Event
from model.domain.events.projects import ProjectUpdated
from model.domain.projects import Project
from model.state import State, list_children, require_item

MAX_DEPTH: Final = 3
"""Levels of folders; the deepest may still contain projects."""
_MAX_NAME_LENGTH: Final = 200


def without_secrets(project: Project) -> Project:
    """Return the project as clients may see it, without its issue tracker key."""
    return project.model_copy(update={"tracker_api_key": None})


def require_folder(state: State, folder_id: str) -> Project:
    """Return the folder with this id. Raises `not_found`, also for a project."""
    folder = require_item(state, folder_id)
    if not folder.is_folder:
        raise folder_not_found(folder_id)
    return folder


def next_order(state: State, parent_id: str | None) -> float:
    """Return the `order` of a new last item of a folder."""
    return max((item.order + 1 for item in list_children(state, parent_id)), default=0)


def check_folder_name(
    state: State, name: str, parent_id: str | None, excluded_id: str | None = None
) -> str:
    """Return the cleaned name if no sibling has it; the folder being renamed is excluded."""
    name = clean_line(name).strip()
    if not name or len(name) > _MAX_NAME_LENGTH:
        why = f"it must have between 1 and {_MAX_NAME_LENGTH} characters"
        raise SpinneyError(f"Invalid field 'name': {why}")
    siblings = (
        item
        for item in list_children(state, parent_id)
        if item.is_folder and item.id != excluded_id
    )
    if any(folder.name == name for folder in siblings):
        raise folder_name_exists(name)
    return name


def check_depth(state: State, parent_id: str | None, levels: int = 1) -> None:
    """Raise if adding `levels` of folders to this folder would exceed the maximum depth."""
    if len(_list_ancestors(state, parent_id)) + levels > MAX_DEPTH:
        raise SpinneyError("Would exceed max nesting depth", "conflict")


def make_move_events(
    state: State, item_id: str, parent_id: str | None, index: int | None
) -> list[Event]:
    """Return the events that move an item into a folder (or the root), to `index` or to the end.

    Raises:
        SpinneyError: As defined by the interface, if the item would be inside itself or too deep,
            or if a sibling folder has its name.
    """
    item = require_item(state, item_id)
    if parent_id is not None:
        require_folder(state, parent_id)
    if item_id in _list_ancestors(state, parent_id):
        raise SpinneyError("Cannot move item into itself or descendant", "conflict")
    if item.is_folder:
        check_depth(state, parent_id, _count_levels(state, item))
        check_folder_name(state, item.name, parent_id, excluded_id=item.id)
    siblings = [other for other in list_children(state, parent_id) if other.id != item_id]
    position = len(siblings) if index is None else index
    return _make_order_events(
        [
            *siblings[:position],
            item.model_copy(update={"parent_id": parent_id}),
            *siblings[position:],
        ],
        state,
    )


def make_reorder_events(state: State, ids: list[str]) -> list[Event]:
    """Return the events that put items in this order; unlisted siblings follow them."""
    listed = [require_item(state, item_id) for item_id in dict.fromkeys(ids)]
    events: list[Event] = []
    for parent_id in dict.fromkeys(item.parent_id for item in listed):
        first = [item for item in listed if item.parent_id == parent_id]
        rest = [item for item in list_children(state, parent_id) if item not in first]
        events += _make_order_events([*first, *rest], state)
    return events


def _make_order_events(items: list[Project], state: State) -> list[Event]:
    ordered = [item.model_copy(update={"order": position}) for position, item in enumerate(items)]
    return [ProjectUpdated(project=item) for item in ordered if item != state.projects[item.id]]


def _list_ancestors(state: State, folder_id: str | None) -> list[str]:
    """Return the ids of the folder and of all folders that contain it."""
    found: list[str] = []
    while folder_id is not None and folder_id in state.projects and folder_id not in found:
        found.append(folder_id)
        folder_id = state.projects[folder_id].parent_id
    return found


def _count_levels(state: State, folder: Project) -> int:
    """Return the number of folder levels, counting this one."""
    subfolders = (item for item in list_children(state, folder.id) if item.is_folder)
    return 1 + max((_count_levels(state, item) for item in subfolders), default=0)
