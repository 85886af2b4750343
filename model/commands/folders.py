"""Implements `model.api.folders`."""

import time
import uuid
from typing import TYPE_CHECKING

from model.api import folders as api
from model.base.errors import SpinneyError
from model.commands.registry import implements
from model.domain.events.base import Event
from model.domain.events.projects import ProjectAdded, ProjectRemoved, ProjectUpdated
from model.domain.projects import Project
from model.projects.tree import (
    check_depth,
    check_folder_name,
    make_move_events,
    make_reorder_events,
    next_order,
    require_folder,
    without_secrets,
)
from model.state import State, list_children

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.create_folder)
async def create_folder(workspace: "Workspace", name: str, parent_id: str | None = None) -> Project:
    folder_id = str(uuid.uuid4())

    def create(state: State) -> list[Event]:
        if parent_id is not None:
            require_folder(state, parent_id)
        check_depth(state, parent_id)
        folder = Project(
            id=folder_id,
            name=check_folder_name(state, name, parent_id),
            added_at=time.time(),
            order=next_order(state, parent_id),
            parent_id=parent_id,
            is_folder=True,
        )
        return [ProjectAdded(project=folder)]

    await workspace.store.accept(create)
    return workspace.store.state.projects[folder_id]


@implements(api.rename_folder)
async def rename_folder(workspace: "Workspace", folder_id: str, name: str) -> Project:

    def rename(state: State) -> list[Event]:
        folder = require_folder(state, folder_id)
        new_name = check_folder_name(state, name, folder.parent_id, excluded_id=folder_id)
        renamed = folder.model_copy(update={"name": new_name})
        return [] if renamed == folder else [ProjectUpdated(project=renamed)]

    await workspace.store.accept(rename)
    return workspace.store.state.projects[folder_id]


@implements(api.delete_folder)
async def delete_folder(workspace: "Workspace", folder_id: str) -> None:

    def delete(state: State) -> list[Event]:
        require_folder(state, folder_id)
        if list_children(state, folder_id):
            raise SpinneyError("Cannot delete non-empty folder", "conflict")
        return [ProjectRemoved(project_id=folder_id)]

    await workspace.store.accept(delete)


@implements(api.move_item)
async def move_item(
    workspace: "Workspace", item_id: str, new_parent_id: str | None, target_index: int | None = None
) -> Project:
    await workspace.store.accept(
        lambda state: make_move_events(state, item_id, new_parent_id, target_index)
    )
    return without_secrets(workspace.store.state.projects[item_id])


@implements(api.reorder_projects)
async def reorder_projects(workspace: "Workspace", project_ids: list[str]) -> None:
    await workspace.store.accept(lambda state: make_reorder_events(state, project_ids))
