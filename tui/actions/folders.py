"""Actions on the project tree: folders, their contents and the order of rows."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from model.api import folders as commands
from model.api.sessions import reorder_sessions
from model.api.worktrees import reorder_worktrees
from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.state import list_children, require_item
from tui.desk import Desk
from tui.screens.choose import Choice
from tui.screens.dialog import AskText, Confirm
from tui.screens.pick import Pick
from tui.store.places import Place

if TYPE_CHECKING:
    from model.domain.projects import Project
    from model.state import State

_TOP = Choice("", "(top)", "not in a folder")


async def new_folder(desk: Desk) -> None:
    """Create a folder inside the selected one."""
    parent_id = _folder_at(desk)

    async def make(name: str) -> None:
        folder = await desk.client.call(commands.create_folder, name=name, parent_id=parent_id)
        await desk.mirror.wait_for(lambda state: folder.id in state.projects)
        desk.projects.move_cursor_to(Place("project", folder.id))

    parent = desk.state.projects.get(parent_id or "")
    where = f"In '{clean_line(parent.name)}'." if parent else ""
    await _ask_until(desk, "New folder", "", where, make)


async def rename_folder(desk: Desk) -> None:
    """Rename the folder."""
    folder = desk.project
    if folder is None or not folder.is_folder:
        desk.say("Select a folder first.")
        return

    async def rename(name: str) -> None:
        await desk.client.call(commands.rename_folder, folder_id=folder.id, name=name)

    await _ask_until(desk, "Rename the folder", folder.name, "", rename)


async def _ask_until(
    desk: Desk,
    title: str,
    value: str,
    sentence: str,
    work: Callable[[str], Awaitable[None]],
) -> None:
    """Ask for a name until `work` accepts it or the user cancels."""
    while True:
        name = await desk.ask(AskText(title, value, sentence=sentence))
        if name is None or name == value:
            return
        try:
            await work(name)
            return
        except SpinneyError as error:
            value, sentence = name, error.message


async def delete_folder(desk: Desk, folder: "Project") -> None:
    """Remove an empty folder."""
    if list_children(desk.state, folder.id):
        desk.say(f"'{clean_line(folder.name)}' is not empty. Move its contents first.")
        return
    dialog = Confirm("Remove the folder", f"Remove '{clean_line(folder.name)}'?", "remove")
    if await desk.ask(dialog):
        await desk.client.call(commands.delete_folder, folder_id=folder.id)


async def move_project(desk: Desk) -> None:
    """Move the project or folder into another folder."""
    item = desk.project
    if item is None:
        desk.say("Select a project or a folder first.")
        return
    title = f"Move '{clean_line(item.name)}' to"
    chosen = await desk.ask(Pick(title, _targets(desk.state, item), item.parent_id or ""))
    if chosen is not None and chosen.value != (item.parent_id or ""):
        await desk.client.call(
            commands.move_item, item_id=item.id, new_parent_id=chosen.value or None
        )


def _targets(state: "State", item: "Project") -> list[Choice]:
    """List every folder except the item and those inside it, by full path."""
    choices: list[Choice] = []

    def collect(parent_id: str | None, path: str) -> None:
        for folder in list_children(state, parent_id):
            if folder.is_folder and folder.id != item.id:
                label = f"{path}{clean_line(folder.name)}"
                choices.append(Choice(folder.id, label))
                collect(folder.id, f"{label} / ")

    collect(None, "")
    return [_TOP, *choices]


def _folder_at(desk: Desk) -> str | None:
    """Return the folder that is selected, or that contains the selection."""
    item = desk.project
    if item is None:
        return None
    return item.id if item.is_folder else item.parent_id


# Order ------------------------------------------------------------------------------------------


async def move_up(desk: Desk) -> None:
    """Swap the row with the one of the same kind above."""
    await _step(desk, -1)


async def move_down(desk: Desk) -> None:
    """Swap the row with the one of the same kind below."""
    await _step(desk, +1)


async def _step(desk: Desk, step: int) -> None:
    # Keys can be pressed faster than events arrive, so handle one press after the other.
    async with desk.pending.reordering:
        place = desk.projects.place
        if place is None or place.kind == "root":
            return
        ids = _siblings(desk.state, place)
        at = ids.index(place.id) + step if place.id in ids else -1
        if not 0 <= at < len(ids):
            return
        ids.remove(place.id)
        ids.insert(at, place.id)
        await _reorder(desk, place, ids)
        await desk.mirror.wait_for(lambda state: _siblings(state, place) == ids)
        desk.projects.move_cursor_to(place)


def _siblings(state: "State", place: Place) -> list[str]:
    """Return the ids of the place's siblings of the same kind, itself included, in order."""
    match place.kind:
        case "session":
            session = state.sessions.get(place.id)
            return [s.id for s in state.sessions_of(session.worktree_id)] if session else []
        case "worktree":
            worktree = state.worktrees.get(place.id)
            return [w.id for w in state.worktrees_of(worktree.project_id)] if worktree else []
        case _:
            if place.id not in state.projects:
                return []
            parent_id = require_item(state, place.id).parent_id
            return [item.id for item in list_children(state, parent_id)]


async def _reorder(desk: Desk, place: Place, ids: list[str]) -> None:
    call, state = desk.client.call, desk.state
    match place.kind:
        case "session":
            worktree_id = state.sessions[place.id].worktree_id
            await call(reorder_sessions, worktree_id=worktree_id, session_ids=ids)
        case "worktree":
            project_id = state.worktrees[place.id].project_id
            await call(reorder_worktrees, project_id=project_id, worktree_ids=ids)
        case _:
            await call(commands.reorder_projects, project_ids=ids)
