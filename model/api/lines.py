"""Why a line of a file is there."""

from model.api.command import command
from model.domain.line_origins import LineOrigin


@command
async def explain_line(worktree_id: str, path: str, line: int) -> LineOrigin:
    """Explain a line of a file: the turn that wrote it with its prompt and plan, or the commit.

    Args:
        worktree_id: The worktree.
        path: The file, relative to the worktree.
        line: The number of the line, from 1, as the file is now.
    """
