"""The last screen in a file: the next start shows it at once, until the real one stands.

The file holds what the tree's rows said and the lines of the conversation. Nothing is decided by
it: a file that is damaged, of another version, of another person or too large is as good as none.
"""

import json
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rich.cells import cell_len
from rich.errors import StyleSyntaxError
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from model.paths import write_atomically
from model.text import clean
from tui.places import Place
from tui.tree_rows import Part

VERSION = 1
MOST_ROWS = 400
"""Rows of the tree that are kept; more are seen in no terminal."""
MOST_BYTES = 1_000_000
"""Of the file; a screen of 300×100 in which every cell has a style of its own takes more."""

_KINDS = ("project", "worktree", "session")


class SavedRow(NamedTuple):
    """A row of the tree."""

    depth: int
    place: Place
    parts: tuple[Part, ...]
    is_open: bool
    """Whether what is below it was shown."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The pane on the right as it was drawn, in a screen of this size."""

    session_id: str
    project_path: str
    screen: tuple[int, int]
    """Columns and rows."""
    dark: bool
    lines: tuple[Strip, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the next start shows."""

    theme: Literal["system", "light", "dark"] = "system"
    rows: tuple[SavedRow, ...] = ()
    conversation: Conversation | None = None


def read(path: Path) -> Snapshot:
    """The snapshot in this file; an empty one if it cannot be used."""
    try:
        told = json.loads(_own_bytes(path))
        if told["version"] != VERSION:
            return Snapshot()
        pane = told["conversation"]
        if told["theme"] not in ("system", "light", "dark"):
            return Snapshot()
        return Snapshot(
            told["theme"],
            tuple(_row(*row) for row in told["rows"][:MOST_ROWS]),
            _conversation(**pane) if pane is not None else None,
        )
    except (OSError, ValueError, TypeError, LookupError, RecursionError, StyleSyntaxError):
        return Snapshot()


def write(path: Path, snapshot: Snapshot) -> None:
    """Replace the file. Raises `SpinneyError`; one that would be too large is not written."""
    pane = snapshot.conversation
    told = {
        "version": VERSION,
        "theme": snapshot.theme,
        "rows": [
            [row.depth, row.place.kind, row.place.id, row.parts, row.is_open]
            for row in snapshot.rows
        ],
        "conversation": pane and {**_facts(pane), "lines": [_told(line) for line in pane.lines]},
    }
    data = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    if len(data) <= MOST_BYTES:
        write_atomically(path, data)


def _own_bytes(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
            raise OSError("no file of this person")
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError("too large")
    return data


def _row(depth: Any, kind: Any, key: Any, parts: Any, is_open: Any) -> SavedRow:
    if not isinstance(depth, int) or kind not in _KINDS or not isinstance(key, str):
        raise ValueError("no row")
    said = tuple((_text(text), _text(role)) for text, role in parts)
    return SavedRow(depth, Place(kind, key), said, bool(is_open))


def _conversation(
    session_id: str, project_path: str, screen: list[int], dark: bool, lines: list[Any]
) -> Conversation:
    columns, rows = screen
    return Conversation(
        _text(session_id), str(project_path), (columns, rows), dark, tuple(map(_line, lines))
    )


def _facts(pane: Conversation) -> dict[str, Any]:
    return {
        "session_id": pane.session_id,
        "project_path": pane.project_path,
        "screen": pane.screen,
        "dark": pane.dark,
    }


def _told(line: Iterable[Segment]) -> list[list[str]]:
    # What can be clicked is left out with the links.
    return [
        [segment.text, str(segment.style or "").partition("link ")[0].strip()] for segment in line
    ]


def _line(told: list[Any]) -> Strip:
    segments = [Segment(_text(text), Style.parse(style)) for text, style in told]
    return Strip(segments, sum(cell_len(segment.text) for segment in segments))


def _text(text: Any) -> str:
    if not isinstance(text, str) or clean(text) is not text or "\n" in text or "\t" in text:
        raise ValueError("no text that Spinney has drawn")
    return text
