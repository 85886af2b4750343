"""The message of the next commit, written by an agent from what the commit will hold."""

from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.resources import Worktree
from model.git.diff import diff
from model.git.history import list_recent_subjects
from model.writing.writer import Writer

_MOST: Final = 60_000
"""Characters of the differences that the agent reads."""
_EARLIER: Final = 12


async def commit_message(writer: Writer, worktree: Worktree, stage_all: bool) -> str:
    """What to say of the staged changes, or (`stage_all`) of all that is not committed.

    Raises `SpinneyError` when there is nothing to commit or nobody who could write.
    """
    path = Path(worktree.path)
    differences = await diff(path, "working" if stage_all else "staged")
    if not differences:
        what = "to commit" if stage_all else "staged; stage changes first, or commit all"
        raise SpinneyError(f"There is nothing {what}.", "conflict")
    if not await writer.is_there("commit_message", worktree):
        raise SpinneyError(
            "No agent is there to write the message: install one or sign in, or write it yourself.",
            "backend_unavailable",
        )
    material = {
        "earlier_subjects": "\n".join(await list_recent_subjects(path, _EARLIER)),
        "branch": worktree.branch,
        "differences": differences[:_MOST],
    }
    return (await writer.write("commit_message", worktree, material, ["message"]))["message"]
