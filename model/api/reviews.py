"""Reviews: diffs as highlighted rows, comments, conflicts."""

from typing import Annotated, Final, Literal

from pydantic import Field

from model.api.command import command
from model.domain.changes import Side
from model.domain.resource import Resource

DEFAULT_LIMIT: Final = 1_000
"""Rows per page."""

MAX_LINES: Final = 500
"""Lines of a file per call."""

Piece = tuple[str, str | None, bool]
"""Text, its token class, and whether it is part of a word that changed."""


class ShownRow(Resource):
    """A row of a diff."""

    sign: Literal[" ", "+", "-", "@", "\\"]
    """As in git: unchanged, added, removed, hunk heading, or a note about the file."""
    pieces: list[Piece]
    """The text, split by token class; lines of more than 5,000 characters are truncated."""
    old: int | None = None
    """The line number in the old text, from 1; `new` likewise."""
    new: int | None = None
    hunk: int | None = None
    """The index of the hunk, for a heading."""
    unended: bool = False
    """Whether the change is a missing line break at the end of the text."""


class DiffRows(Resource):
    """The result of `get_diff_rows`."""

    path: str
    digest: str
    """Identifies this version of the diff."""
    hunks: list[str]
    """The id of each hunk, in order; empty for a truncated one."""
    rows: list[ShownRow]
    offset: int
    total: int
    """The number of rows of the whole diff."""


class EditRows(Resource):
    """The result of `get_edit_rows`."""

    rows: list[ShownRow]


class FileLines(Resource):
    """The result of `get_file_lines`."""

    rows: list[ShownRow]
    total: int
    """The number of lines of the whole file."""


class ReviewComment(Resource):
    """A comment on consecutive lines of a diff."""

    path: str
    side: Side
    """The diff that the comment was made on."""
    line: int
    """The first line's number in the new text, or in the old text for removed lines."""
    is_removed: bool = False
    quoted: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
    """The lines with their signs."""
    text: str


class Review(Resource):
    """The result of `write_review`."""

    message: str
    """The comments as a message for a session."""
    lost: list[int]
    """The indices of comments whose lines are no longer in any diff."""


class ConflictTask(Resource):
    """The result of `write_conflict_task`."""

    message: str
    files: list[str]


@command
async def get_diff_rows(
    worktree_id: str,
    path: str,
    side: Side = "unstaged",
    offset: int = 0,
    limit: int = DEFAULT_LIMIT,
    commit: str | None = None,
    turn_id: str | None = None,
) -> DiffRows:
    """Get a page of the diff of one file as rows, with syntax highlighting and the words that
    changed: on a side, in a `commit`, or in a turn.

    `limit` is 1 to 5,000; a page ends early after 400,000 characters.
    """


@command
async def get_edit_rows(path: str, old: str, new: str) -> EditRows:
    """Compare two versions of a file's text, as in the input of an agent's edit; the rows are as in
    `get_diff_rows`, with notes in place of the unchanged lines between changes.

    Ends after 400,000 characters.
    """


@command
async def get_file_lines(
    worktree_id: str,
    path: str,
    side: Side = "unstaged",
    first: int = 1,
    limit: int = MAX_LINES,
) -> FileLines:
    """Get lines of a changed file as it is after the changes, to show what is around its hunks.

    `first` is a line number, from 1; `limit` is 1 to 500. Rows are as in `get_diff_rows`, without
    numbers of the old text.
    """


@command
async def write_review(worktree_id: str, comments: list[ReviewComment]) -> Review:
    """Combine comments on changes into one message for a session; reports comments whose lines are
    gone.
    """


@command
async def write_conflict_task(worktree_id: str) -> ConflictTask:
    """Write a message that asks an agent to resolve the conflicts of a worktree.

    Fails with `conflict` if there are none.
    """
