"""Commands about the tree of projects: folders, and where everything lies in them."""

import time
import uuid
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from model.base.errors import SpinneyError
from model.commands.registry import command
from model.domain.events import Event, ProjectAdded, ProjectRemoved, ProjectUpdated
from model.domain.resources import Project
from model.projects.tree import (
    check_depth,
    children_of,
    folder_in,
    folder_name,
    moved,
    place_after_all,
    reordered,
    shown,
)
from model.state import State

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@command
async def create_folder(workspace: "Workspace", name: str, parent_id: str | None = None) -> Project:
    """Make a folder, at most three levels deep; its name is its own among the folders beside."""
    folder_id = str(uuid.uuid4())

    def made(state: State) -> list[Event]:
        if parent_id is not None:
            folder_in(state, parent_id)
        check_depth(state, parent_id)
        folder = Project(
            id=folder_id,
            name=folder_name(state, name, parent_id),
            added_at=time.time(),
            order=place_after_all(state, parent_id),
            parent_id=parent_id,
            is_folder=True,
        )
        return [ProjectAdded(project=folder)]

    await workspace.store.accept(made)
    return workspace.store.state.projects[folder_id]


@command
async def rename_folder(workspace: "Workspace", folder_id: str, name: str) -> Project:
    """Give a folder another name."""

    def changed(state: State) -> list[Event]:
        folder = folder_in(state, folder_id)
        named = folder_name(state, name, folder.parent_id, but=folder_id)
        renamed = folder.model_copy(update={"name": named})
        return [] if renamed == folder else [ProjectUpdated(project=renamed)]

    await workspace.store.accept(changed)
    return workspace.store.state.projects[folder_id]


@command
async def delete_folder(workspace: "Workspace", folder_id: str) -> None:
    """Remove a folder that holds nothing."""

    def deleted(state: State) -> list[Event]:
        folder_in(state, folder_id)
        if children_of(state, folder_id):
            raise SpinneyError("Cannot delete non-empty folder", "conflict")
        return [ProjectRemoved(project_id=folder_id)]

    await workspace.store.accept(deleted)


@command
async def move_item(
    workspace: "Workspace",
    item_id: str,
    new_parent_id: str | None,
    target_index: Annotated[int, Field(ge=0, strict=True)] | None = None,
) -> Project:
    """Put a project or folder into a folder, or (`null`) the root: at a place there, or last."""
    await workspace.store.accept(lambda state: moved(state, item_id, new_parent_id, target_index))
    return shown(workspace.store.state.projects[item_id])


@command
async def reorder_projects(workspace: "Workspace", project_ids: list[str]) -> None:
    """Show projects and folders in this order; what is not named follows."""
    await workspace.store.accept(lambda state: reordered(state, project_ids))
