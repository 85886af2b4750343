"""The files of a worktree, for whoever wants to name one."""

from pathlib import Path
from typing import TYPE_CHECKING

from model.base.errors import SpinneyError
from model.commands.registry import command
from model.domain.resources import Resource
from model.worktrees import worktree_in

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

FILES = 50
FILES_LIMIT = 1000


class WorktreeFileList(Resource):
    """Paths in a worktree, relative to its root."""

    files: list[str]


@command
async def list_worktree_files(
    workspace: "Workspace", worktree_id: str, query: str = "", limit: int = FILES
) -> WorktreeFileList:
    """Files of a worktree whose paths hold the letters of `query` in their order, best first.

    Those that git tracks, and new ones that it does not ignore; a list may be seconds old.
    """
    if not 0 < limit <= FILES_LIMIT:
        raise SpinneyError(f"Invalid field 'limit': must be from 1 to {FILES_LIMIT}")
    if len(query) > 1000:
        raise SpinneyError("Invalid field 'query': must be at most 1000 characters")
    worktree = worktree_in(workspace.store.state, worktree_id)
    return WorktreeFileList(files=await workspace.files.find(Path(worktree.path), query, limit))
