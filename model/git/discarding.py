"""Changes thrown away, and brought back: each discard first keeps the file's own bytes.

What is kept lies in a folder for each discard: `record.json` and the content. Git's object store
would prune it when it likes, and filters would change it.
"""

import asyncio
import hashlib
import json
import os
import shutil
import stat
import time
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.git.changes import Changed, shown_name
from model.git.run import git
from model.git.staging import apply_patch, seen_file

MOST_KEPT: Final = 100
"""Discards kept for each worktree; older ones are forgotten."""
MOST_BYTES: Final = 512 * 1024 * 1024
"""Bytes of them; the newest is kept at any size."""
_CONTENT, _RECORD = "content", "record.json"


@dataclass(frozen=True, slots=True)
class Discarded:
    """A discard that can be undone."""

    id: str
    name: str
    """The file, as `os` finds it from the worktree's root."""
    kind: str
    """What stood there: `file`, `link` or `nothing`."""
    mode: int
    before: str
    """What names its content then; `after` likewise, since the discard."""
    after: str
    at: float
    """Seconds since 1970."""


async def discard(
    path: Path, kept: Path, shown: str, hunk: str | None, seen: str | None
) -> Discarded:
    """Take back what is not staged of a file or of one of its hunks; what was there is kept.

    Args:
        path: The worktree.
        kept: The folder for what this worktree discards.
        shown, hunk, seen: As `staging.stage` takes them.

    Raises:
        SpinneyError: the file changed meanwhile, is a submodule or has a conflict; nothing is
            discarded unless it could be kept.
    """
    file, patch = await seen_file(path, "unstaged", shown, hunk, seen)
    _check(file)
    place = path / file.name
    folder = kept / f"{time.time_ns():020}-{uuid.uuid4().hex[:8]}"
    record = await asyncio.to_thread(_keep, folder, file.name, place)
    try:
        if patch is not None:
            await apply_patch(path, patch, "--reverse")
        elif file.status == "untracked":
            await asyncio.to_thread(place.unlink)
        else:
            await git(path, "checkout-index", "--force", "-u", "--", file.name, write=True)
    except BaseException:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        raise
    return await asyncio.to_thread(_finish, kept, folder, record, place)


async def undo(path: Path, kept: Path, wanted: str | None) -> Discarded:
    """Bring back a discard (the newest, or the one of this id), byte for byte.

    Raises `SpinneyError` when there is none, or when the file changed since and would be lost.
    """
    return await asyncio.to_thread(_undo, path, kept, wanted)


def forget(kept: Path) -> None:
    """Delete all that is kept for a worktree."""
    shutil.rmtree(kept, ignore_errors=True)


def _check(file: Changed) -> None:
    shown = shown_name(file.name)
    if file.is_submodule:
        raise SpinneyError(
            f"“{shown}” is a submodule; discard its changes inside it with git.", "conflict"
        )
    if file.status == "conflicted":
        raise SpinneyError(
            f"“{shown}” has a conflict: solve it, or abort the merge as a whole.", "conflict"
        )


def _keep(folder: Path, name: str, place: Path) -> Discarded:
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
        kind, mode = _kind(place)
        if kind == "file":
            shutil.copyfile(place, folder / _CONTENT)
        elif kind == "link":
            (folder / _CONTENT).write_bytes(os.fsencode(place.readlink()))
        return Discarded(folder.name, name, kind, mode, _state(place), "", time.time())
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise SpinneyError(
            f"“{shown_name(name)}” was not discarded, because it could not be kept for an undo: "
            f"{clean_line(error.strerror or str(error))}.",
            "conflict",
        ) from None


def _finish(kept: Path, folder: Path, record: Discarded, place: Path) -> Discarded:
    done = Discarded(**{**asdict(record), "after": _state(place)})
    (folder / _RECORD).write_text(json.dumps(asdict(done)))  # ASCII: any name comes back whole
    make_room(kept)
    return done


def make_room(kept: Path) -> None:
    """Forget the oldest beyond what is kept, and never the newest."""
    size = 0
    for number, folder in enumerate(sorted(kept.iterdir(), reverse=True)):
        with suppress(OSError):
            size += (folder / _CONTENT).lstat().st_size
        if number >= MOST_KEPT or (number and size > MOST_BYTES):
            shutil.rmtree(folder, ignore_errors=True)


def _undo(path: Path, kept: Path, wanted: str | None) -> Discarded:
    folder = _found(kept, wanted)
    try:
        record = Discarded(**json.loads((folder / _RECORD).read_text()))
    except (OSError, ValueError, TypeError):
        raise SpinneyError(
            "The discard cannot be undone, because the note of it is damaged. What was discarded"
            f" lies in {folder / _CONTENT}.",
            "conflict",
        ) from None
    place = path / record.name
    if _state(place) != record.after:
        raise SpinneyError(
            f"“{shown_name(record.name)}” has changed since the discard, so it was left as it is. "
            f"What was discarded lies in {folder / _CONTENT}.",
            "conflict",
        )
    try:
        _restore(place, folder / _CONTENT, record)
    except OSError as error:
        reason = clean_line(error.strerror or str(error))
        raise SpinneyError(
            f"“{shown_name(record.name)}” could not be brought back: {reason}. "
            f"What was discarded lies in {folder / _CONTENT}.",
            "conflict",
        ) from None
    shutil.rmtree(folder, ignore_errors=True)
    return record


def _found(kept: Path, wanted: str | None) -> Path:
    with suppress(OSError):
        for folder in sorted(kept.iterdir(), reverse=True):
            if wanted in (None, folder.name) and (folder / _RECORD).is_file():
                return folder
    raise SpinneyError("There is no discard to undo in this worktree.", "not_found")


def _restore(place: Path, content: Path, record: Discarded) -> None:
    if record.kind == "nothing":
        place.unlink(missing_ok=True)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    # Beside it, then over it: nobody ever reads half of the file.
    beside = place.with_name(f".{uuid.uuid4().hex}.spinney")
    try:
        if record.kind == "link":
            beside.symlink_to(os.fsdecode(content.read_bytes()))
        else:
            shutil.copyfile(content, beside)
            beside.chmod(record.mode)
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)


def _kind(place: Path) -> tuple[str, int]:
    try:
        facts = place.lstat()
    except FileNotFoundError:
        return "nothing", 0
    if stat.S_ISLNK(facts.st_mode):
        return "link", 0
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(0, "it is neither a file nor a link")
    return "file", stat.S_IMODE(facts.st_mode)


def _state(place: Path) -> str:
    """What names kind, mode and content of what stands there."""
    try:
        kind, mode = _kind(place)
        if kind == "file":
            with place.open("rb") as file:
                return f"file {mode:o} {hashlib.file_digest(file, 'sha256').hexdigest()}"
        return f"link {place.readlink()}" if kind == "link" else kind
    except (OSError, ValueError):
        return "something else"
