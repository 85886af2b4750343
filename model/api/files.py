"""Files of a worktree."""

from model.api.command import command
from model.domain.resource import Resource

DEFAULT_LIMIT = 50


class WorktreeFileList(Resource):
    """Paths in a worktree, relative to its root."""

    files: list[str]


@command
async def list_worktree_files(
    worktree_id: str, query: str = "", limit: int = DEFAULT_LIMIT
) -> WorktreeFileList:
    """Find files of a worktree whose paths contain the letters of `query` in order, best match
    first.

    Includes tracked files and untracked ones that git does not ignore; the list may be seconds old.
    `limit` is 1 to 1,000.
    """
