"""Where a line of a file comes from."""

from typing import Literal

from model.domain.resource import Resource

OriginKind = Literal["turn", "edit", "commit"]


class LineOrigin(Resource):
    """What wrote a line: a turn of an agent, another edit, or a commit."""

    kind: OriginKind
    """`edit`: by a person or by another program, at some time before `time`. `commit`: older than
    the worktree, or pulled into it."""
    path: str
    """Where the line was written; another path if the file was renamed or the line copied."""
    line: int
    text: str
    time: float
    """Seconds since 1970."""
    author: str
    """The agent, or the author of the commit; empty for an edit."""
    session_id: str | None = None
    turn_id: str | None = None
    message_id: str | None = None
    """The message that began the turn."""
    prompt: str | None = None
    """The text of that message."""
    plan: str | None = None
    """The plan that was approved before, in the same session."""
    commit: str | None = None
    """The commit that has the line; null while it is not committed."""
    summary: str | None = None
    """The subject of that commit."""
