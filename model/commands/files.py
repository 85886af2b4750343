"""Implements `model.api.files`."""

from pathlib import Path
from typing import TYPE_CHECKING

from model.api import files as api
from model.base.errors import SpinneyError
from model.commands.registry import implements
from model.worktrees import worktree_in

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_MAX_LIMIT = 1000


@implements(api.list_worktree_files)
async def list_worktree_files(
    workspace: "Workspace", worktree_id: str, query: str = "", limit: int = api.DEFAULT_LIMIT
) -> api.WorktreeFileList:
    if not 0 < limit <= _MAX_LIMIT:
        raise SpinneyError(f"Invalid field 'limit': must be from 1 to {_MAX_LIMIT}")
    if len(query) > 1000:
        raise SpinneyError("Invalid field 'query': must be at most 1000 characters")
    worktree = worktree_in(workspace.store.state, worktree_id)
    return api.WorktreeFileList(files=await workspace.files.find(Path(worktree.path), query, limit))
