"""Commands about the tree of projects: folders, and where everything lies in them."""

from typing import Annotated

from pydantic import Field

from model.api.command import command
from model.domain.resources import Project


@command
async def create_folder(name: str, parent_id: str | None = None) -> Project:
    """Make a folder, at most three levels deep; its name is its own among the folders beside."""


@command
async def rename_folder(folder_id: str, name: str) -> Project:
    """Give a folder another name."""


@command
async def delete_folder(folder_id: str) -> None:
    """Remove a folder that holds nothing."""


@command
async def move_item(
    item_id: str,
    new_parent_id: str | None,
    target_index: Annotated[int, Field(ge=0, strict=True)] | None = None,
) -> Project:
    """Put a project or folder into a folder, or (`null`) the root: at a place there, or last."""


@command
async def reorder_projects(project_ids: list[str]) -> None:
    """Show projects and folders in this order; what is not named follows."""
