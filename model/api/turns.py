"""Turns: what each did to the files; undo them, take an undo back, fork a session."""

from typing import Annotated, Final, Literal

from pydantic import Field

from model.api.changes import ChangedFile, FileDiff
from model.api.command import command
from model.domain.resource import Resource
from model.domain.sessions import Session
from model.domain.turns import TurnFile, UndoScope

MAX_TURNS: Final = 1000
"""Turns that `list_turns` returns at a time, if a `limit` is given."""

UndoAction = Literal["restore", "merge", "conflict", "keep", "submodule"]
UndoChoice = Literal["keep", "before", "markers"]


class TurnSummary(Resource):
    """A turn of a session."""

    turn_id: str
    number: int
    """From 1, in each session."""
    message_id: str
    """The user's message; empty if the agent began by itself, or continued after a pause."""
    prompt: str
    """The beginning of its text, on one line."""
    started_at: float
    ended_at: float | None
    """Null while it runs."""
    files: list[TurnFile]
    undone: UndoScope | None
    """What of it was undone."""
    undone_at: float | None = None
    """When; turns that were undone together have the same time."""
    problem: str = ""
    """Why its files cannot be undone."""


class TurnDiff(Resource):
    """The result of `get_turn_diff`."""

    turn_id: str
    files: list[ChangedFile]
    text: str
    """A unified diff of all files, or of `path`."""


class UndoneFile(Resource):
    """What an undo, or taking one back, does to a file."""

    path: str
    action: UndoAction
    """`restore`: the old content comes back. `merge`: later changes in other places stay.
    `conflict`: the same lines were changed since, so a choice is needed. `keep`: it stays.
    `submodule`: one that has changed since the turn began; what is in it is not undone."""
    others: bool = False
    """Also changed by others during the turn, so it is kept unless chosen otherwise."""
    deletes: bool = False
    """Whether the file did not exist in the content that comes back."""
    has_markers: bool = False
    """Whether the choice `markers` is possible."""


class UndoPreview(Resource):
    """The result of `preview_undo` and `preview_redo`."""

    turn_ids: list[str]
    """The turns that would be undone or come back, the newest first."""
    files: list[UndoneFile]


class UndoResult(Resource):
    """The result of `undo_turn` and `redo_turn`."""

    turns: list[TurnSummary]
    """The turns that changed, the newest first."""
    message: str = ""
    """The text of the message that began the first of them, and of those sent into that turn, to
    edit and send it again.
    """
    submodules: list[str] = Field(default_factory=list)
    """Submodules that have changed since the first of them began; they stay as they are."""


@command
async def list_turns(
    session_id: str,
    limit: Annotated[int, Field(ge=1, le=MAX_TURNS)] | None = None,
    before: Annotated[int, Field(ge=1)] | None = None,
) -> list[TurnSummary]:
    """List the turns of a session, oldest first, with the files that each changed.

    With `limit`, 1 to 1,000, only the newest of them; with `before`, those with a lower number.
    """


@command
async def get_turn_diff(turn_id: str, path: str | None = None) -> TurnDiff:
    """Get what a turn changed, as a unified diff of all files or of one `path`."""


@command
async def get_turn_file_diff(turn_id: str, path: str) -> FileDiff:
    """Get what a turn changed in one file, as `get_file_diff` has it."""


@command
async def preview_undo(turn_id: str, through: str | None = None) -> UndoPreview:
    """Compute what undoing a turn would do to each file; nothing is changed.

    With `through`, a later turn of the session, all turns up to that one are undone with it.
    """


@command
async def undo_turn(
    turn_id: str,
    what: UndoScope,
    through: str | None = None,
    choices: dict[str, UndoChoice] | None = None,
) -> UndoResult:
    """Undo a turn: its changes to the `files`, the `conversation` from its message on, or `both`.

    Changes that others made since stay. The conversation can only be taken back to a point, so
    with it all later turns of the session are undone too; without it only this turn, or those up
    to `through`. `choices` decides for files: `keep` it as it is, take it as it was `before`, or
    get both with conflict `markers`. Fails with `conflict` if a file with a conflict has no choice;
    nothing is done then. Fails so, too, for files that are saved meanwhile: they stay, all others
    are undone, and another call completes it.
    """


@command
async def preview_redo(turn_id: str) -> UndoPreview:
    """Compute what taking back the undo of a turn would do to each file; nothing is changed."""


@command
async def redo_turn(
    turn_id: str,
    choices: dict[str, UndoChoice] | None = None,
) -> UndoResult:
    """Take back the undo of a turn, for all turns that were undone with it.

    `choices` are as in `undo_turn`; `before` is a file as it was before the undo. The conversation
    comes back only if nothing was said since: fails with `conflict` otherwise. Files that are saved
    meanwhile are as in `undo_turn`.
    """


@command
async def fork_session(
    session_id: str,
    turn_id: str | None = None,
    new_worktree: bool = False,
    name: str | None = None,
) -> Session:
    """Create a session that continues the conversation from the end of a turn, or from its present
    end; the session itself stays as it is.

    With `new_worktree` it works in a new worktree whose branch and files are those after the turn.
    """
