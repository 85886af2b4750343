"""A turn of a session: the message that began it, and what it did to the worktree's files."""

from typing import Any, Literal

from pydantic import Field

from model.domain.resource import Resource

UndoScope = Literal["files", "conversation", "both"]
"""What an undo takes back."""


class TurnFile(Resource):
    """A file that changed during a turn. Counts are null for binary files."""

    path: str
    status: Literal["added", "modified", "deleted"]
    added: int | None = None
    removed: int | None = None
    others: bool = False
    """Also changed by others at the same time: a person, another session or a script."""


class Undo(Resource):
    """One undo of one or more turns, with what is needed to take it back."""

    id: str
    at: float
    what: UndoScope
    turn_ids: list[str]
    """The undone turns, the newest first."""
    before_tree: str = ""
    """Snapshots of the worktree around the undo of the files; empty if none was undone."""
    after_tree: str = ""
    submodules: list[str] = Field(default_factory=list)
    """Submodules that have changed since the first turn began, and stay as they are."""
    conversation: dict[str, Any] | None = None
    """What brings the rewound conversation back."""
    previous: "Undo | None" = None
    """An earlier undo of the turn's files."""


class Turn(Resource):
    """A turn as it is stored. Its id is `<session>.<number>`, with six digits."""

    id: str
    session_id: str
    worktree_id: str
    number: int
    """From 1, in each session."""
    message_id: str = ""
    """The user's message; empty if the agent began by itself, or continued after a pause."""
    prompt: str = ""
    """The beginning of its text, on one line."""
    started_at: float
    ended_at: float | None = None
    before_tree: str = ""
    """The snapshots around the turn; empty if one could not be made."""
    after_tree: str = ""
    backend: str = ""
    """The agent."""
    start_token: str | None = None
    """The agent program's conversation before the turn, and its name for the turn before it."""
    start_mark: str | None = None
    resume_token: str | None = None
    """The agent program's conversation after the turn, and its name for this turn in it."""
    mark: str | None = None
    files: list[TurnFile] = Field(default_factory=list)
    shared: bool = False
    """Whether others worked in the worktree at the same time."""
    problem: str = ""
    """Why its files cannot be undone."""
    undone: Undo | None = None
    undo_began: str = ""
    """The snapshot before an undo of its files that was interrupted."""


def make_turn_id(session_id: str, number: int) -> str:
    """Return the id of a session's turn; ids sort by number."""
    return f"{session_id}.{number:06}"
