"""Commands for reviewing changes: coloured rows, comments and conflicts put into words."""

from typing import Annotated, Final, Literal

from pydantic import Field

from model.api.command import command
from model.domain.changes import Side
from model.domain.resources import Resource

ROWS: Final = 1_000
"""Rows of a page."""

Piece = tuple[str, str | None, bool]
"""A text, its token class, and whether it is among the words that changed."""


class ShownRow(Resource):
    """A row of a difference."""

    sign: Literal[" ", "+", "-", "@", "\\"]
    """Git's: equal, added, removed, the heading of a hunk, or a note on the file."""
    pieces: list[Piece]
    """The text, cut by colour; of a line longer than 5,000 characters the beginning."""
    old: int | None = None
    """The line's number in the old text, from 1; `new` likewise."""
    new: int | None = None
    hunk: int | None = None
    """Of a heading: its hunk's place among the file's hunks."""
    unended: bool = False
    """Whether the change is that the text ends here without a line break."""


class DiffRows(Resource):
    """What `get_diff_rows` gives."""

    path: str
    digest: str
    """Names this difference."""
    hunks: list[str]
    """The name of each hunk, in order; empty for one that was cut off."""
    rows: list[ShownRow]
    offset: int
    total: int
    """Rows of the whole difference."""


class ReviewComment(Resource):
    """A remark on lines that follow one another."""

    path: str
    side: Side
    """Which difference it was made in."""
    line: int
    """The first line's number in the new text, or for a removed line in the old one."""
    is_removed: bool = False
    quoted: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
    """The lines with their signs."""
    text: str


class Review(Resource):
    """What `write_review` gives."""

    message: str
    """In which a session reads the comments."""
    lost: list[int]
    """The places of those comments whose lines are on no side of the changes."""


class ConflictTask(Resource):
    """What `write_conflict_task` gives."""

    message: str
    files: list[str]


@command
async def get_diff_rows(
    worktree_id: str, path: str, side: Side = "unstaged", offset: int = 0, limit: int = ROWS
) -> DiffRows:
    """The difference of one file as rows in colours, with the words that changed: a page of it."""


@command
async def write_review(worktree_id: str, comments: list[ReviewComment]) -> Review:
    """Put comments on the changes into one message for a session; tell whose lines are gone."""


@command
async def write_conflict_task(worktree_id: str) -> ConflictTask:
    """Put the conflicts of a worktree into a message that asks a session to resolve them."""
