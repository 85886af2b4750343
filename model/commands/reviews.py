"""Implements `model.api.reviews`."""

import asyncio
from typing import TYPE_CHECKING, Final, cast, get_args

from model.api import reviews as api
from model.base.errors import SpinneyError
from model.commands.changes import get_file_diff, list_changed_files, locate
from model.commands.history import get_commit_file_diff
from model.commands.registry import implements
from model.commands.turns import get_turn_file_diff
from model.domain.changes import Side
from model.git import changes
from model.git.file_text import read_lines
from model.preferences.prompts import describe_place, find_prompt_text, write_prompt
from model.richtext.diff_comments import Comment, find_lost, format_message
from model.richtext.diff_rows import (
    MAX_ROW_LENGTH,
    DiffRow,
    diff_rows,
    find_changed_words,
    highlight_rows,
    split_at_changes,
)
from model.richtext.diff_text import DiffText, FileNote, HunkHeading, Row, parse_diff
from model.worktrees import require_worktree

if TYPE_CHECKING:
    from model.api.changes import FileDiff
    from model.runtime.workspace import Workspace

_MAX_LIMIT: Final = 5_000
_MAX_CHARACTERS: Final = 400_000
"""After this many characters a page ends, even with fewer rows than its limit."""
_BLOCK: Final = 100
"""Rows that are highlighted together: enough context for a lexer, within its size limit."""


@implements(api.get_diff_rows)
async def get_diff_rows(
    workspace: "Workspace",
    worktree_id: str,
    path: str,
    side: Side = "unstaged",
    offset: int = 0,
    limit: int = api.DEFAULT_LIMIT,
    commit: str | None = None,
    turn_id: str | None = None,
) -> api.DiffRows:
    check_page(offset, limit)
    if turn_id is not None:
        diff = await get_turn_file_diff(workspace, turn_id, path)
    elif commit is None:
        diff = await get_file_diff(workspace, worktree_id, path, side)
    else:
        diff = await get_commit_file_diff(workspace, worktree_id, commit, path)
    return await asyncio.to_thread(make_page, diff, offset, limit)


def check_page(offset: int, limit: int) -> None:
    """Raise `SpinneyError` for a page that `make_page` cannot make."""
    if not 0 < limit <= _MAX_LIMIT:
        raise SpinneyError(f"Invalid field 'limit': must be from 1 to {_MAX_LIMIT}")
    if offset < 0:
        raise SpinneyError("Invalid field 'offset': must be 0 or more")


@implements(api.get_edit_rows)
async def get_edit_rows(
    workspace: "Workspace",
    path: str,
    old: str,
    new: str,
) -> api.EditRows:
    return await asyncio.to_thread(_compare, path, old, new)


@implements(api.get_file_lines)
async def get_file_lines(
    workspace: "Workspace",
    worktree_id: str,
    path: str,
    side: Side = "unstaged",
    first: int = 1,
    limit: int = api.MAX_LINES,
) -> api.FileLines:
    if not 0 < limit <= api.MAX_LINES:
        raise SpinneyError(f"Invalid field 'limit': must be from 1 to {api.MAX_LINES}")
    if first < 1:
        raise SpinneyError("Invalid field 'first': must be 1 or more")
    lines = await _read_lines(workspace, worktree_id, path, side)
    rows = [
        DiffRow(" ", line[:MAX_ROW_LENGTH], new=number)
        for number, line in enumerate(lines[first - 1 : first - 1 + limit], first)
    ]
    return await asyncio.to_thread(_show_lines, rows, path, len(lines))


@implements(api.write_review)
async def write_review(
    workspace: "Workspace", worktree_id: str, comments: list[api.ReviewComment]
) -> api.Review:
    given = [
        Comment(each.path, each.side, each.line, each.is_removed, tuple(each.quoted), each.text)
        for each in comments
    ]

    async def read_diff(path: str, side: str) -> str:
        diff = await get_file_diff(workspace, worktree_id, path, cast(Side, side))
        return diff.text

    async def read_text(path: str, side: str) -> list[str]:
        return await _read_lines(workspace, worktree_id, path, cast(Side, side))

    lost = await find_lost(given, get_args(Side), read_diff, read_text)
    indices = [index for index, comment in enumerate(given) if comment in lost]
    return api.Review(message=format_message(given, lost), lost=indices)


@implements(api.write_conflict_task)
async def write_conflict_task(workspace: "Workspace", worktree_id: str) -> api.ConflictTask:
    found = await list_changed_files(workspace, worktree_id)
    files = [file.path for file in found.files if file.status == "conflicted"]
    if not files:
        raise SpinneyError("No file has a conflict here.", "conflict")
    listed = "\n".join(f"- {path}" for path in files)
    state = workspace.store.state
    worktree = require_worktree(state, worktree_id)
    place = describe_place(state.projects.get(worktree.project_id), worktree)
    values = {**place, "operation": found.operation or "merge", "files": files}
    message = write_prompt("resolve_conflicts", state.preferences, values)
    if "{files}" not in find_prompt_text("resolve_conflicts", state.preferences):
        message += f"\n\nFiles:\n{listed}"
    return api.ConflictTask(message=message, files=files)


async def _read_lines(workspace: "Workspace", worktree_id: str, path: str, side: Side) -> list[str]:
    """The lines of a changed file after the changes."""
    root, base, _ = locate(workspace, worktree_id)
    file = await changes.find_changed_file(root, side, path, base)
    return await read_lines(root, side, file)


def make_page(diff: "FileDiff", offset: int, limit: int) -> api.DiffRows:
    """Return rows of a diff. Runs in a thread: parsing and highlighting take long."""
    text = parse_diff(diff.text)
    rows: list[api.ShownRow] = []
    remaining = _MAX_CHARACTERS
    for start in range(offset, min(offset + limit, len(text.rows)), _BLOCK):
        stop = min(start + _BLOCK, offset + limit)
        block = list(_shown_rows(text, start, stop, diff.path))
        rows += block
        remaining -= sum(len(piece) for row in block for piece, _, _ in row.pieces)
        if remaining < 0:
            break
    return api.DiffRows(
        path=diff.path,
        digest=diff.digest,
        hunks=diff.hunks,
        rows=rows,
        offset=offset,
        total=len(text.rows),
    )


def _compare(path: str, old: str, new: str) -> api.EditRows:
    """Runs in a thread, as `make_page` does."""
    compared = diff_rows(old, new)
    rows: list[api.ShownRow] = []
    remaining = _MAX_CHARACTERS
    for start in range(0, len(compared), _BLOCK):
        block = compared[start : start + _BLOCK]
        changed = find_changed_words(block)
        for row, tokens, words in zip(block, highlight_rows(block, path), changed, strict=True):
            if row.hidden:
                rows.append(_row(FileNote(f"{row.hidden:,} unchanged lines"), []))
            pieces = split_at_changes(tokens, words)
            rows.append(_row(row, [(*token, is_changed) for token, is_changed in pieces]))
        remaining -= sum(len(row.text) for row in block)
        if remaining < 0:
            rows.append(_row(FileNote("The rest is not shown."), []))
            break
    return api.EditRows(rows=rows)


def _show_lines(rows: list[DiffRow], path: str, total: int) -> api.FileLines:
    """Runs in a thread, as `make_page` does."""
    highlighted = zip(rows, highlight_rows(rows, path), strict=True)
    shown = [_row(row, [(*token, False) for token in tokens]) for row, tokens in highlighted]
    return api.FileLines(rows=shown, total=total)


def _shown_rows(text: DiffText, start: int, stop: int, path: str) -> list[api.ShownRow]:
    highlighted = text.highlight(start, stop, path)
    return [
        _row(
            row,
            [
                (*token, changed)
                for token, changed in split_at_changes(tokens, text.changed_ranges(index))
            ],
        )
        for index, (row, tokens) in enumerate(
            zip(text.rows[start:stop], highlighted, strict=True), start
        )
    ]


def _row(row: Row, pieces: list[api.Piece]) -> api.ShownRow:
    match row:
        case HunkHeading(hunk, heading):
            return api.ShownRow(sign="@", pieces=[(heading, None, False)], hunk=hunk)
        case FileNote(note):
            return api.ShownRow(sign="\\", pieces=[(note, None, False)])
        case _:
            return api.ShownRow(
                sign=row.sign, pieces=pieces, old=row.old, new=row.new, unended=row.no_line_break
            )
