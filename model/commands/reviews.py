"""Commands for reviewing changes: coloured rows, comments and conflicts put into words."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast, get_args

from pydantic import Field

from model.base.errors import SpinneyError
from model.commands.changes import get_file_diff, list_changed_files
from model.commands.registry import command
from model.domain.resources import Resource
from model.git.changes import Side
from model.richtext.diff_comments import Comment, lost_among, message_of
from model.richtext.diff_rows import with_words
from model.richtext.diff_text import DiffText, Heading, Note, Row, diff_text

if TYPE_CHECKING:
    from model.commands.changes import FileDiff
    from model.runtime.workspace import Workspace

ROWS: Final = 1_000
"""Rows of a page."""
_ROWS_LIMIT: Final = 5_000
_CHARACTERS: Final = 400_000
"""A page ends behind so many, though it could have more rows."""
_BLOCK: Final = 100
"""Rows that are coloured together: what a lexer needs to see, within what it may take."""

Piece = tuple[str, str | None, bool]
"""A text, its token class, and whether it is among the words that changed."""

_RESOLVE: Final = (
    "A {operation} stopped in this worktree because of conflicts. Resolve them: read both sides, "
    "keep what each of them means to do, and leave no conflict markers. Check that it works, stage "
    "the files, and finish the {operation}. Say where you had to choose.\n\nFiles:\n{files}"
)


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
    workspace: "Workspace",
    worktree_id: str,
    path: str,
    side: Side = "unstaged",
    offset: int = 0,
    limit: int = ROWS,
) -> DiffRows:
    """The difference of one file as rows in colours, with the words that changed: a page of it."""
    if not 0 < limit <= _ROWS_LIMIT:
        raise SpinneyError(f"Invalid field 'limit': must be from 1 to {_ROWS_LIMIT}")
    if offset < 0:
        raise SpinneyError("Invalid field 'offset': must be 0 or more")
    diff = await get_file_diff.function(workspace, worktree_id, path, side)
    return await asyncio.to_thread(_page, diff, offset, limit)


@command
async def write_review(
    workspace: "Workspace", worktree_id: str, comments: list[ReviewComment]
) -> Review:
    """Put comments on the changes into one message for a session; tell whose lines are gone."""
    made = [
        Comment(said.path, said.side, said.line, said.is_removed, tuple(said.quoted), said.text)
        for said in comments
    ]

    async def read_diff(path: str, side: str) -> str:
        diff = await get_file_diff.function(workspace, worktree_id, path, cast(Side, side))
        return diff.text

    lost = await lost_among(made, get_args(Side), read_diff)
    places = [at for at, comment in enumerate(made) if comment in lost]
    return Review(message=message_of(made, lost), lost=places)


@command
async def write_conflict_task(workspace: "Workspace", worktree_id: str) -> ConflictTask:
    """Put the conflicts of a worktree into a message that asks a session to resolve them."""
    changes = await list_changed_files.function(workspace, worktree_id)
    files = [file.path for file in changes.files if file.status == "conflicted"]
    if not files:
        raise SpinneyError("No file has a conflict here.", "conflict")
    listed = "\n".join(f"- {path}" for path in files)
    task = workspace.store.state.preferences.magic_prompts.get("resolve_conflicts")
    words = _RESOLVE.format(operation=changes.operation or "merge", files=listed)
    return ConflictTask(message=f"{task}\n\nFiles:\n{listed}" if task else words, files=files)


def _page(diff: "FileDiff", offset: int, limit: int) -> DiffRows:
    """In a thread: reading and colouring take long."""
    text = diff_text(diff.text)
    rows: list[ShownRow] = []
    left = _CHARACTERS
    for start in range(offset, min(offset + limit, len(text.rows)), _BLOCK):
        stop = min(start + _BLOCK, offset + limit)
        block = list(_shown(text, start, stop, diff.path))
        rows += block
        left -= sum(len(piece) for row in block for piece, _, _ in row.pieces)
        if left < 0:
            break
    return DiffRows(
        path=diff.path,
        digest=diff.digest,
        hunks=diff.hunks,
        rows=rows,
        offset=offset,
        total=len(text.rows),
    )


def _shown(text: DiffText, start: int, stop: int, path: str) -> list[ShownRow]:
    coloured = text.coloured(start, stop, path)
    return [
        _row(row, [(*token, changed) for token, changed in with_words(tokens, text.words(at))])
        for at, (row, tokens) in enumerate(zip(text.rows[start:stop], coloured, strict=True), start)
    ]


def _row(row: Row, pieces: list[Piece]) -> ShownRow:
    match row:
        case Heading(hunk, words):
            return ShownRow(sign="@", pieces=[(words, None, False)], hunk=hunk)
        case Note(words):
            return ShownRow(sign="\\", pieces=[(words, None, False)])
        case _:
            return ShownRow(
                sign=row.sign, pieces=pieces, old=row.old, new=row.new, unended=row.no_line_break
            )
