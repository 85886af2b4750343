"""Discard changes and undo a discard: the file's original bytes are backed up first.

Each discard has a folder with `record.json` and the content. Git's object store would prune the
content at any time, and filters would change it.
"""

import asyncio
import hashlib
import json
import os
import shutil
import stat
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.paths import create_private_folders
from model.base.text import clean_line
from model.git.changes import ChangedFile, to_display_name
from model.git.merging import identify_step
from model.git.replacing import remove_temporary_files, replacing
from model.git.run import git
from model.git.staging import apply_patch, find_selection

MAX_DISCARDS: Final = 100
"""Discards kept for each worktree; older ones are deleted."""
MAX_BYTES: Final = 512 * 1024 * 1024
"""Total bytes of a worktree's discards; the newest is kept at any size."""
_CONTENT, _RECORD = "content", "record.json"


@dataclass(frozen=True, slots=True)
class DiscardRecord:
    """A discard that can be undone."""

    id: str
    name: str
    """The path of the file in the worktree, as `os` accepts it."""
    kind: str
    """What the path was: `file`, `link` or `nothing`."""
    mode: int
    before: str
    """Identifies the content before the discard; `after` identifies it afterwards."""
    after: str
    at: float
    """Seconds since 1970."""
    unmerged: list[str] = field(default_factory=list)
    """If a conflict was resolved: its entries in the index, each `<mode> <blob> <stage>`."""
    step: str = ""
    """Identifies the merge or step of a rebase that the conflict belongs to."""


async def discard(
    path: Path,
    discards: Path,
    display_name: str,
    hunk_name: str | None,
    expected_digest: str | None,
) -> DiscardRecord:
    """Discard the unstaged changes of a file or of one of its hunks, after a backup.

    Args:
        path: The worktree.
        discards: The folder with the discards of this worktree.
        display_name, hunk_name, expected_digest: As for `staging.stage`.

    Raises:
        SpinneyError: The file changed meanwhile, is a submodule, has a conflict, or could not be
            backed up; nothing is discarded.
    """
    file, patch = await find_selection(path, "unstaged", display_name, hunk_name, expected_digest)
    _check_discardable(file)

    async def discard_file() -> None:
        if patch is not None:
            await apply_patch(path, patch, "--reverse")
        elif file.status == "untracked":
            await asyncio.to_thread((path / file.name).unlink)
        else:
            await git(path, "checkout-index", "--force", "-u", "--", file.name, write=True)

    return await replace_file(path, discards, file.name, discard_file)


async def replace_file(
    path: Path,
    discards: Path,
    name: str,
    operation: Callable[[], Awaitable[None]],
    *,
    unmerged: Sequence[str] = (),
) -> DiscardRecord:
    """Run an operation that overwrites or deletes the file `name`, after a backup.

    `unmerged` are the entries of its conflict, if it resolves one. If it fails, the backup is
    deleted. Raises `SpinneyError` if there can be none.
    """
    target = path / name
    folder = discards / f"{time.time_ns():020}-{uuid.uuid4().hex[:8]}"
    record = await asyncio.to_thread(_back_up, folder, name, target)
    if unmerged:
        record = replace(record, unmerged=[*unmerged], step=await identify_step(path))
    try:
        await operation()
    except BaseException:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        raise
    return await asyncio.to_thread(_finish, discards, folder, record, target)


async def undo(path: Path, discards: Path, discard_id: str | None) -> DiscardRecord:
    """Restore a discard (the newest, or the one of this id) byte for byte.

    A conflict that was resolved comes back in the index as well: markers in a file that git takes
    for resolved would be committed. Raises `SpinneyError` if there is none, if the file has changed
    since, or if the merge that the conflict belongs to is over.
    """
    folder, record = await asyncio.to_thread(_read_record, path, discards, discard_id)
    if record.unmerged:
        await _bring_back_conflict(path, folder, record)
    return await asyncio.to_thread(_undo, path, folder, record)


async def _bring_back_conflict(path: Path, folder: Path, record: DiscardRecord) -> None:
    if await identify_step(path) != record.step:
        raise SpinneyError(
            f"The conflict in '{to_display_name(record.name)}' cannot be brought back, because "
            "what it stopped has gone on or is over. The file as it was is in "
            f"{folder / _CONTENT}.",
            "conflict",
        )
    await write_conflict(path, record.name, record.unmerged)


async def write_conflict(path: Path, name: str, entries: Sequence[str]) -> None:
    """Give a file these entries of a conflict in the index, each `<mode> <blob> <stage>`."""
    removed = f"0 {'0' * len(entries[0].split(' ')[1])}"
    lines = (os.fsencode(f"{entry}\t{name}") + b"\0" for entry in (removed, *entries))
    await git(path, "update-index", "-z", "--index-info", write=True, stdin=b"".join(lines))


def delete_folder(folder: Path) -> None:
    """Delete a worktree's folder of discards and everything in it."""
    shutil.rmtree(folder, ignore_errors=True)


def _check_discardable(file: ChangedFile) -> None:
    display_name = to_display_name(file.name)
    if file.is_submodule:
        raise SpinneyError(
            f"'{display_name}' is a submodule. Discard its changes with git inside it.", "conflict"
        )
    if file.status == "conflicted":
        raise SpinneyError(
            f"'{display_name}' has a conflict. Resolve it, or abort the whole merge.", "conflict"
        )


def _back_up(folder: Path, name: str, target: Path) -> DiscardRecord:
    try:
        create_private_folders(folder.parent)
        folder.mkdir(mode=0o700)
        kind, mode = _get_kind_and_mode(target)
        if kind == "file":
            shutil.copyfile(target, folder / _CONTENT)
        elif kind == "link":
            (folder / _CONTENT).write_bytes(os.fsencode(target.readlink()))
        return DiscardRecord(folder.name, name, kind, mode, _fingerprint(target), "", time.time())
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise SpinneyError(
            f"'{to_display_name(name)}' was not discarded, because it could not be backed up: "
            f"{clean_line(error.strerror or str(error))}.",
            "conflict",
        ) from None


def _finish(discards: Path, discard: Path, record: DiscardRecord, target: Path) -> DiscardRecord:
    completed = DiscardRecord(**{**asdict(record), "after": _fingerprint(target)})
    (discard / _RECORD).write_text(json.dumps(asdict(completed)))  # ASCII: any name round-trips
    prune(discards)
    return completed


def prune(folder: Path) -> None:
    """Delete the oldest discards beyond the limits, but never the newest."""
    size = 0
    for number, discard in enumerate(sorted(folder.iterdir(), reverse=True)):
        with suppress(OSError):
            size += (discard / _CONTENT).lstat().st_size
        if number >= MAX_DISCARDS or (number and size > MAX_BYTES):
            shutil.rmtree(discard, ignore_errors=True)


def _read_record(path: Path, discards: Path, discard_id: str | None) -> tuple[Path, DiscardRecord]:
    """Return a discard's folder and record, if its file is as it was left."""
    folder = _find_discard(discards, discard_id)
    try:
        record = DiscardRecord(**json.loads((folder / _RECORD).read_text()))
    except (OSError, ValueError, TypeError):
        raise SpinneyError(
            "The discard cannot be undone because its record is damaged. The discarded content is"
            f" in {folder / _CONTENT}.",
            "conflict",
        ) from None
    if _fingerprint(path / record.name) != record.after:
        raise SpinneyError(
            f"'{to_display_name(record.name)}' has changed since the discard, so it was not "
            f"restored. The discarded content is in {folder / _CONTENT}.",
            "conflict",
        )
    return folder, record


def _undo(path: Path, folder: Path, record: DiscardRecord) -> DiscardRecord:
    target = path / record.name
    try:
        _restore(target, folder / _CONTENT, record)
    except OSError as error:
        reason = clean_line(error.strerror or str(error))
        raise SpinneyError(
            f"'{to_display_name(record.name)}' could not be restored: {reason}. "
            f"The discarded content is in {folder / _CONTENT}.",
            "conflict",
        ) from None
    shutil.rmtree(folder, ignore_errors=True)
    return record


def _find_discard(discards: Path, discard_id: str | None) -> Path:
    with suppress(OSError):
        for folder in sorted(discards.iterdir(), reverse=True):
            if discard_id in (None, folder.name) and (folder / _RECORD).is_file():
                return folder
    raise SpinneyError("There is no discard to undo in this worktree.", "not_found")


def _restore(target: Path, content: Path, record: DiscardRecord) -> None:
    if record.kind == "nothing":
        target.unlink(missing_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_temporary_files([target.parent])
    with replacing(target) as temporary:
        if record.kind == "link":
            temporary.symlink_to(os.fsdecode(content.read_bytes()))
        else:
            shutil.copyfile(content, temporary)
            temporary.chmod(record.mode)


def _get_kind_and_mode(target: Path) -> tuple[str, int]:
    try:
        facts = target.lstat()
    except FileNotFoundError:
        return "nothing", 0
    if stat.S_ISLNK(facts.st_mode):
        return "link", 0
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(0, "it is neither a file nor a link")
    return "file", stat.S_IMODE(facts.st_mode)


def _fingerprint(target: Path) -> str:
    """Return a text that identifies kind, mode and content of what is at `target`."""
    try:
        kind, mode = _get_kind_and_mode(target)
        if kind == "file":
            with target.open("rb") as file:
                return f"file {mode:o} {hashlib.file_digest(file, 'sha256').hexdigest()}"
        return f"link {target.readlink()}" if kind == "link" else kind
    except (OSError, ValueError):
        return "something else"
