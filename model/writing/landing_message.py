"""Let an agent write the message of the commit with which a branch lands."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.worktrees import Worktree
from model.git.branch_summary import summarize_branch
from model.git.history import list_commits_since, list_recent_subjects
from model.writing.writer import Writer

_MAX_COMMITS: Final = 20_000
_MAX_DIFFERENCES: Final = 60_000
"""Characters that the agent reads."""
_SUBJECT_COUNT: Final = 12


async def generate_landing_message(
    writer: Writer, worktree: Worktree, base: str, sessions: Sequence[str]
) -> str:
    """Return a message for all commits of a worktree's branch together.

    `sessions` says what was worked on. Raises `SpinneyError` if there is nothing to land or no
    agent is available.
    """
    path = Path(worktree.path)
    commits = await list_commits_since(path, base)
    if not commits:
        raise SpinneyError(
            f"'{clean_line(worktree.branch)}' has no commit that '{base}' lacks.", "conflict"
        )
    if not await writer.is_available("commit_message", worktree):
        raise SpinneyError(
            "No agent is available to write the message. Install an agent or sign in to one, or "
            "write the message yourself.",
            "backend_unavailable",
        )
    table, differences = await summarize_branch(path, base, _MAX_DIFFERENCES)
    texts = "\n\n".join(f"{commit.subject}\n\n{commit.body}".strip() for commit in commits)
    material = {
        "earlier_subjects": "\n".join(await list_recent_subjects(path, _SUBJECT_COUNT)),
        "branch": f"{worktree.branch}, which lands in {base} as one commit",
        "sessions": "\n".join(sessions),
        "commits": texts[:_MAX_COMMITS],
        "files": table,
        "differences": differences,
    }
    return (await writer.write("commit_message", worktree, material, ["message"]))["message"]
