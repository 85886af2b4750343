"""Folders of projects."""

from typing import Annotated

from pydantic import Field

from model.api.command import command
from model.domain.projects import Project


@command
async def create_folder(name: str, parent_id: str | None = None) -> Project:
    """Create a folder, at most three levels deep; its name must be unique among its siblings."""


@command
async def rename_folder(folder_id: str, name: str) -> Project:
    """Rename a folder; its name must be unique among its siblings."""


@command
async def delete_folder(folder_id: str) -> None:
    """Delete an empty folder."""


@command
async def move_item(
    item_id: str,
    new_parent_id: str | None,
    target_index: Annotated[int, Field(ge=0, strict=True)] | None = None,
) -> Project:
    """Move a project or folder into a folder or (`null`) the root: to an index, or to the end."""


@command
async def reorder_projects(project_ids: list[str]) -> None:
    """Set the order of projects and folders; those that are not listed follow."""
