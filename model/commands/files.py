"""Implements `model.api.files`."""

from pathlib import Path
from typing import TYPE_CHECKING

from model.api import files as api
from model.base.errors import SpinneyError
from model.commands.registry import implements
from model.worktrees import worktree_in

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

FILES_LIMIT = 1000


@implements(api.list_worktree_files)
async def list_worktree_files(
    workspace: "Workspace", worktree_id: str, query: str = "", limit: int = api.FILES
) -> api.WorktreeFileList:
    if not 0 < limit <= FILES_LIMIT:
        raise SpinneyError(f"Invalid field 'limit': must be from 1 to {FILES_LIMIT}")
    if len(query) > 1000:
        raise SpinneyError("Invalid field 'query': must be at most 1000 characters")
    worktree = worktree_in(workspace.store.state, worktree_id)
    return api.WorktreeFileList(files=await workspace.files.find(Path(worktree.path), query, limit))
