"""The tree of the last run in a file: the next start shows it before a client is connected.

The file holds the rows, how they were folded, and the selection. A file that is damaged, of another
version, of another user or too large is ignored. Each remote Spinney has a file of its own.
"""

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from model.base.paths import create_private_directory, write_atomically
from model.base.text import make_visible
from tui.store.places import Place
from tui.tree.rows import SavedRow

VERSION = 3
MOST_ROWS = 400
"""Rows of the tree that are kept; more are seen in no terminal."""
MOST_FOLDS = 2000
"""Rows, beyond those, of which is kept whether they were folded; the newest."""
MOST_SERVERS = 20
"""Spinneys on other machines whose screens are kept; those seen last."""
MOST_BYTES = 1_000_000
"""Size limit of the file."""

_KINDS = ("project", "worktree", "session")
_ELSEWHERE = "screens"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the next start shows."""

    theme: Literal["system", "light", "dark"] = "system"
    rows: tuple[SavedRow, ...] = ()
    folds: Mapping[Place, bool] = field(default_factory=dict)
    """Rows that somebody folded (false) or unfolded (true); the newest last."""
    pointed: Place | None = None
    """The row that the tree's cursor was on."""
    session_id: str = ""
    """The session that was open."""


def file_of(data: Path, server: str) -> Path:
    """The file for this machine's own Spinney, or for the one at an address."""
    if not server:
        return data / "screen.json"
    import hashlib  # and all of OpenSSL, which nobody else needs before the first frame

    return data / "terminal" / _ELSEWHERE / f"{hashlib.sha256(server.encode()).hexdigest()}.json"


def read(path: Path) -> Snapshot:
    """The snapshot in this file; an empty one if it cannot be used."""
    try:
        stored = json.loads(_own_bytes(path))
        if stored["version"] not in (2, VERSION):  # 2 held a picture of the conversation besides
            return Snapshot()
        if stored["theme"] not in ("system", "light", "dark"):
            return Snapshot()
        return Snapshot(
            stored["theme"],
            tuple(_row(*row) for row in stored["rows"][:MOST_ROWS]),
            {_place(*place): bool(is_open) for is_open, *place in stored["folds"][-MOST_FOLDS:]},
            _place(*stored["pointed"]) if stored["pointed"] is not None else None,
            str(stored["session_id"]),
        )
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return Snapshot()


def write(path: Path, snapshot: Snapshot) -> None:
    """Replace the file. Raises `SpinneyError`; one that would be too large is not written."""
    stored = {
        "version": VERSION,
        "theme": snapshot.theme,
        "rows": [
            [row.depth, row.place.kind, row.place.id, row.parts, row.is_open, row.holds]
            for row in snapshot.rows
        ],
        "folds": [
            [is_open, place.kind, place.id]
            for place, is_open in list(snapshot.folds.items())[-MOST_FOLDS:]
        ],
        "pointed": snapshot.pointed and [snapshot.pointed.kind, snapshot.pointed.id],
        "session_id": snapshot.session_id,
    }
    data = json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    if len(data) <= MOST_BYTES:
        if path.parent.name == _ELSEWHERE:
            create_private_directory(path.parent.parent)
            create_private_directory(path.parent)
        write_atomically(path, data)
        if path.parent.name == _ELSEWHERE:
            _forget_oldest(path.parent)


def _forget_oldest(folder: Path) -> None:
    with suppress(OSError):
        kept = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for file in kept[:-MOST_SERVERS]:
            file.unlink(missing_ok=True)


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


def _row(depth: Any, kind: Any, key: Any, parts: Any, is_open: Any, holds: Any = False) -> SavedRow:
    said = tuple((_text(text), _text(role)) for text, role in parts)
    return SavedRow(_depth(depth), _place(kind, key), said, bool(is_open), bool(holds))


def _depth(depth: Any) -> int:
    if not isinstance(depth, int):
        raise TypeError("no depth")
    return depth


def _place(kind: Any, key: Any) -> Place:
    if kind not in _KINDS or not isinstance(key, str):
        raise ValueError("no place")
    return Place(kind, key)


def _text(text: Any) -> str:
    if not isinstance(text, str) or make_visible(text) is not text or "\n" in text or "\t" in text:
        raise ValueError("no text that Spinney has drawn")
    return text
