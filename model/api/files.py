"""The files of a worktree, for whoever wants to name one."""

from model.api.command import command
from model.domain.resources import Resource

FILES = 50


class WorktreeFileList(Resource):
    """Paths in a worktree, relative to its root."""

    files: list[str]


@command
async def list_worktree_files(
    worktree_id: str, query: str = "", limit: int = FILES
) -> WorktreeFileList:
    """Files of a worktree whose paths hold the letters of `query` in their order, best first.

    Those that git tracks, and new ones that it does not ignore; a list may be seconds old.
    """
