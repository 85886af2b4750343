"""The message of the commit with which a branch lands, as its commits suggest it."""

from collections.abc import Sequence
from typing import Final

from model.base.text import clean_line
from model.domain.hosting import MergeMethod
from model.git.history import CommitText

_MAX_LISTED: Final = 50
_MAX_LENGTH: Final = 20_000


def suggest_message(
    branch: str, into: str, method: MergeMethod, commits: Sequence[CommitText]
) -> str:
    """Return a message for a merge or squash commit.

    Args:
        branch: The branch that lands.
        into: Its base, if that is not the project's default branch.
        method: How it lands.
        commits: Those of the branch, oldest first.
    """
    listed = [f"- {commit.subject}" for commit in commits[:_MAX_LISTED]]
    if len(commits) > _MAX_LISTED:
        listed.append(f"- … and {len(commits) - _MAX_LISTED} more")
    if method == "squash" and len(commits) == 1:
        return f"{commits[0].subject}\n\n{commits[0].body}".strip()[:_MAX_LENGTH]
    if method == "squash":
        title = commits[0].subject if commits else clean_line(branch)
    else:
        title = f"Merge branch '{clean_line(branch)}'" + (f" into {into}" if into else "")
    parts = [title, "\n".join(listed)] if len(listed) > 1 else [title]
    return "\n\n".join(parts)[:_MAX_LENGTH]
