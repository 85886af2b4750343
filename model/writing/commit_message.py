"""Let an agent write the message of the next commit from its changes."""

from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.worktrees import Worktree
from model.git.diff import diff
from model.git.history import list_recent_subjects
from model.writing.writer import Writer

_MAX_CHARACTERS: Final = 60_000
"""Characters of the diff that the agent reads."""
_SUBJECT_COUNT: Final = 12


async def generate_commit_message(writer: Writer, worktree: Worktree, stage_all: bool) -> str:
    """Return a message for the staged changes, or (`stage_all`) for all uncommitted changes.

    Raises `SpinneyError` if there is nothing to commit or no agent is available.
    """
    path = Path(worktree.path)
    differences = await diff(path, "working" if stage_all else "staged")
    if not differences:
        what = "to commit" if stage_all else "staged. Stage changes first, or commit all"
        raise SpinneyError(f"There is nothing {what}.", "conflict")
    if not await writer.is_available("commit_message", worktree):
        raise SpinneyError(
            "No agent is available to write the message. Install an agent or sign in to one, or "
            "write the message yourself.",
            "backend_unavailable",
        )
    material = {
        "earlier_subjects": "\n".join(await list_recent_subjects(path, _SUBJECT_COUNT)),
        "branch": worktree.branch,
        "differences": differences[:_MAX_CHARACTERS],
    }
    return (await writer.write("commit_message", worktree, material, ["message"]))["message"]
