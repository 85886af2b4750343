"""Implements `model.api.reviews`."""

import asyncio
from typing import TYPE_CHECKING, Final, cast, get_args

from model.api import reviews as api
from model.base.errors import SpinneyError
from model.commands.changes import get_file_diff, list_changed_files
from model.commands.registry import implements
from model.domain.changes import Side
from model.richtext.diff_comments import Comment, lost_among, message_of
from model.richtext.diff_rows import with_words
from model.richtext.diff_text import DiffText, Heading, Note, Row, diff_text

if TYPE_CHECKING:
    from model.api.changes import FileDiff
    from model.runtime.workspace import Workspace

_ROWS_LIMIT: Final = 5_000
_CHARACTERS: Final = 400_000
"""A page ends behind so many, though it could have more rows."""
_BLOCK: Final = 100
"""Rows that are coloured together: what a lexer needs to see, within what it may take."""


_RESOLVE: Final = (
    "A {operation} stopped in this worktree because of conflicts. Resolve them: read both sides, "
    "keep what each of them means to do, and leave no conflict markers. Check that it works, stage "
    "the files, and finish the {operation}. Say where you had to choose.\n\nFiles:\n{files}"
)


@implements(api.get_diff_rows)
async def get_diff_rows(
    workspace: "Workspace",
    worktree_id: str,
    path: str,
    side: Side = "unstaged",
    offset: int = 0,
    limit: int = api.ROWS,
) -> api.DiffRows:
    if not 0 < limit <= _ROWS_LIMIT:
        raise SpinneyError(f"Invalid field 'limit': must be from 1 to {_ROWS_LIMIT}")
    if offset < 0:
        raise SpinneyError("Invalid field 'offset': must be 0 or more")
    diff = await get_file_diff(workspace, worktree_id, path, side)
    return await asyncio.to_thread(_page, diff, offset, limit)


@implements(api.write_review)
async def write_review(
    workspace: "Workspace", worktree_id: str, comments: list[api.ReviewComment]
) -> api.Review:
    made = [
        Comment(said.path, said.side, said.line, said.is_removed, tuple(said.quoted), said.text)
        for said in comments
    ]

    async def read_diff(path: str, side: str) -> str:
        diff = await get_file_diff(workspace, worktree_id, path, cast(Side, side))
        return diff.text

    lost = await lost_among(made, get_args(Side), read_diff)
    places = [at for at, comment in enumerate(made) if comment in lost]
    return api.Review(message=message_of(made, lost), lost=places)


@implements(api.write_conflict_task)
async def write_conflict_task(workspace: "Workspace", worktree_id: str) -> api.ConflictTask:
    changes = await list_changed_files(workspace, worktree_id)
    files = [file.path for file in changes.files if file.status == "conflicted"]
    if not files:
        raise SpinneyError("No file has a conflict here.", "conflict")
    listed = "\n".join(f"- {path}" for path in files)
    task = workspace.store.state.preferences.magic_prompts.get("resolve_conflicts")
    words = _RESOLVE.format(operation=changes.operation or "merge", files=listed)
    return api.ConflictTask(message=f"{task}\n\nFiles:\n{listed}" if task else words, files=files)


def _page(diff: "FileDiff", offset: int, limit: int) -> api.DiffRows:
    """In a thread: reading and colouring take long."""
    text = diff_text(diff.text)
    rows: list[api.ShownRow] = []
    left = _CHARACTERS
    for start in range(offset, min(offset + limit, len(text.rows)), _BLOCK):
        stop = min(start + _BLOCK, offset + limit)
        block = list(_shown(text, start, stop, diff.path))
        rows += block
        left -= sum(len(piece) for row in block for piece, _, _ in row.pieces)
        if left < 0:
            break
    return api.DiffRows(
        path=diff.path,
        digest=diff.digest,
        hunks=diff.hunks,
        rows=rows,
        offset=offset,
        total=len(text.rows),
    )


def _shown(text: DiffText, start: int, stop: int, path: str) -> list[api.ShownRow]:
    coloured = text.coloured(start, stop, path)
    return [
        _row(row, [(*token, changed) for token, changed in with_words(tokens, text.words(at))])
        for at, (row, tokens) in enumerate(zip(text.rows[start:stop], coloured, strict=True), start)
    ]


def _row(row: Row, pieces: list[api.Piece]) -> api.ShownRow:
    match row:
        case Heading(hunk, words):
            return api.ShownRow(sign="@", pieces=[(words, None, False)], hunk=hunk)
        case Note(words):
            return api.ShownRow(sign="\\", pieces=[(words, None, False)])
        case _:
            return api.ShownRow(
                sign=row.sign, pieces=pieces, old=row.old, new=row.new, unended=row.no_line_break
            )
