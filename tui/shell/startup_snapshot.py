"""Stores the tree of the last run in a file, shown at the next start until a client is connected.

The file holds the rows, which are expanded, and the selection. A file that is damaged, of another
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

from model.base.paths import create_private_directory, open_itself, write_atomically
from model.base.text import make_visible
from tui.store.places import SIDE_CONTENTS, Place, SideContent
from tui.store.task_choices import TaskChoices
from tui.tree.rows import SavedRow

VERSION = 3
MAX_ROWS = 400
"""Most saved rows of the tree; no terminal shows more."""
MAX_FOLDS = 2000
"""Most rows whose expansion is saved, visible or not; the newest."""
MAX_SERVERS = 20
"""Most remote Spinneys with a file; those used last."""
MAX_BYTES = 1_000_000
"""Size limit of the file."""

_KINDS = ("project", "worktree", "session")
_REMOTE_FOLDER = "screens"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of the screen that the next start shows."""

    theme: Literal["system", "light", "dark"] = "system"
    rows: tuple[SavedRow, ...] = ()
    folds: Mapping[Place, bool] = field(default_factory=dict)
    """Rows that the user collapsed (false) or expanded (true); the newest last."""
    pointed: Place | None = None
    """The row that the tree's cursor was on."""
    session_id: str = ""
    """The session that was open."""
    recent_sessions: tuple[str, ...] = ()
    """The sessions that were open, the last one first."""
    tree_width: int | None = None
    """The width in cells that the user gave the tree."""
    side_wanted: SideContent | None = None
    """What the user wants in the side pane; `None` until that was chosen."""
    task_choices: Mapping[str, TaskChoices] = field(default_factory=dict)
    """What was chosen for the last new task of each project, by its id."""
    position: tuple[str, int] | None = None
    """The message at which the open session was scrolled, and its rows above; else at its end."""
    seen_release: str = ""
    """The newest published version that was reported."""


def snapshot_path(data: Path, server: str) -> Path:
    """Return the file for the local Spinney, or for the one at the address `server`."""
    if not server:
        return data / "screen.json"
    import hashlib  # imports OpenSSL, which nothing else needs before the first frame

    return (
        data / "terminal" / _REMOTE_FOLDER / f"{hashlib.sha256(server.encode()).hexdigest()}.json"
    )


def read(path: Path) -> Snapshot:
    """Return the snapshot in this file; an empty one if it is unusable."""
    try:
        stored = json.loads(_read_own(path))
        if stored["version"] not in (2, VERSION):  # 2 also held an image of the conversation
            return Snapshot()
        if stored["theme"] not in ("system", "light", "dark"):
            return Snapshot()
        return Snapshot(
            stored["theme"],
            tuple(_row(*row) for row in stored["rows"][:MAX_ROWS]),
            {_place(*place): bool(is_open) for is_open, *place in stored["folds"][-MAX_FOLDS:]},
            _place(*stored["pointed"]) if stored["pointed"] is not None else None,
            str(stored["session_id"]),
            tuple(map(str, stored.get("recent_sessions", ()))),
            _width(stored.get("tree_width")),
            next((each for each in SIDE_CONTENTS if each == stored.get("side_wanted")), None),
            {str(key): _choices(*given) for key, *given in stored.get("task_choices", ())},
            _position(stored.get("position")),
            str(stored.get("seen_release", ""))[:100],
        )
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return Snapshot()


def write(path: Path, snapshot: Snapshot) -> None:
    """Replace the file, unless it would be too large. Raises `SpinneyError`."""
    stored = {
        "version": VERSION,
        "theme": snapshot.theme,
        "rows": [
            [row.depth, row.place.kind, row.place.id, row.parts, row.is_open, row.has_children]
            for row in snapshot.rows
        ],
        "folds": [
            [is_open, place.kind, place.id]
            for place, is_open in list(snapshot.folds.items())[-MAX_FOLDS:]
        ],
        "pointed": snapshot.pointed and [snapshot.pointed.kind, snapshot.pointed.id],
        "session_id": snapshot.session_id,
        "recent_sessions": snapshot.recent_sessions,
        "tree_width": snapshot.tree_width,
        "side_wanted": snapshot.side_wanted,
        "task_choices": [
            [key, given.backend, given.model, given.mode]
            for key, given in list(snapshot.task_choices.items())[-MAX_FOLDS:]
        ],
        "position": snapshot.position,
        "seen_release": snapshot.seen_release,
    }
    data = json.dumps(stored, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    if len(data) <= MAX_BYTES:
        if path.parent.name == _REMOTE_FOLDER:
            create_private_directory(path.parent.parent)
            create_private_directory(path.parent)
        write_atomically(path, data)
        if path.parent.name == _REMOTE_FOLDER:
            _forget_oldest(path.parent)


def _forget_oldest(folder: Path) -> None:
    with suppress(OSError):
        kept = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for file in kept[:-MAX_SERVERS]:
            file.unlink(missing_ok=True)


def _read_own(path: Path) -> bytes:
    with open(path, "rb", opener=open_itself) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
            raise OSError("not a regular file of this user")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError("too large")
    return data


def _row(depth: Any, kind: Any, key: Any, parts: Any, is_open: Any, holds: Any = False) -> SavedRow:
    texts = tuple((_text(text), _text(role)) for text, role in parts)
    return SavedRow(_depth(depth), _place(kind, key), texts, bool(is_open), bool(holds))


def _depth(depth: Any) -> int:
    if not isinstance(depth, int):
        raise TypeError("not a depth")
    return depth


def _choices(backend: Any, model: Any, mode: Any) -> TaskChoices:
    if mode not in ("plan", "build", "yolo"):
        raise ValueError("not a mode")
    return TaskChoices(_text(backend), _text(model), mode)


def _position(given: Any) -> tuple[str, int] | None:
    if given is None:
        return None
    message_id, above = given
    if not isinstance(message_id, str) or not isinstance(above, int):
        raise TypeError("not a position")
    return message_id, above


def _width(cells: Any) -> int | None:
    return cells if isinstance(cells, int) and 0 < cells < 1000 else None


def _place(kind: Any, key: Any) -> Place:
    if kind not in _KINDS or not isinstance(key, str):
        raise ValueError("not a place")
    return Place(kind, key)


def _text(text: Any) -> str:
    if not isinstance(text, str) or make_visible(text) is not text or "\n" in text or "\t" in text:
        raise ValueError("not a text that Spinney has drawn")
    return text
