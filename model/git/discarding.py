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
from functools import partial
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.paths import create_private_folders
from model.base.text import clean_line
from model.git.changes import ChangedFile, to_display_name
from model.git.file_copies import FileCopy, copying
from model.git.index_entries import read_stages, write_stages
from model.git.merging import identify_step
from model.git.replacing import (
    SavedMeanwhileError,
    delete_expected,
    remove_temporary_files,
    replacing,
)
from model.git.run import git
from model.git.snapshots.files import find_target
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
    """The file's entries in the index before a choice in a conflict, as `read_stages` has them."""
    step: str = ""
    """Identifies the merge or step of a rebase that this conflict belongs to; empty without one."""

    @property
    def has_conflict(self) -> bool:
        """Whether the undo brings a conflict back."""
        return any(not entry.endswith(" 0") for entry in self.unmerged)


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

    async def discard_in(copy: FileCopy) -> None:
        if patch is not None:
            await apply_patch(copy.folder, patch, "--reverse", environment=copy.environment)
        elif file.status == "untracked":
            await asyncio.to_thread(copy.file.unlink)
        else:
            await git(
                copy.folder, "checkout-index", "--force", "--", file.name, write=True,
                environment=copy.environment,
            )  # fmt: skip

    return await replace_file(path, discards, file.name, discard_in)


async def replace_file(
    path: Path,
    discards: Path,
    name: str,
    operation: Callable[[FileCopy], Awaitable[None]],
    *,
    unmerged: Sequence[str] = (),
    step: str = "",
) -> DiscardRecord:
    """Replace or delete the file `name` by what an operation makes of a copy, after a backup.

    `unmerged` and `step` are those of the record. If it fails, the backup is deleted. Raises
    `SpinneyError` if there can be none, or if the file was saved meanwhile; it stays as it is then.
    """
    folder = discards / f"{time.time_ns():020}-{uuid.uuid4().hex[:8]}"
    record = await asyncio.to_thread(_back_up, folder, name, path / name)
    record = replace(record, unmerged=[*unmerged], step=step)
    try:
        async with copying(path, name, partial(_write, folder / _CONTENT, record)) as copy:
            await operation(copy)
            after = await asyncio.to_thread(_put_in_place, path, record, copy.file)
    except BaseException:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        raise
    return await asyncio.to_thread(_finish, discards, folder, replace(record, after=after))


async def undo(path: Path, discards: Path, discard_id: str | None) -> DiscardRecord:
    """Restore a discard (the newest, or the one of this id) byte for byte.

    What a choice in a conflict did to the index is undone as well: markers in a file that git takes
    for resolved would be committed. Raises `SpinneyError` if there is none, if the file has changed
    since, or if the merge that the conflict belongs to is over.
    """
    folder, record = await asyncio.to_thread(_read_record, path, discards, discard_id)
    if not record.step:
        return await asyncio.to_thread(_undo, path, folder, record)
    await _check_step(path, folder, record)
    stages = await read_stages(path, record.name)
    # Before the file: what is conflicted in the index is not committed.
    await write_stages(path, record.name, record.unmerged)
    try:
        return await asyncio.to_thread(_undo, path, folder, record)
    except SpinneyError:
        await write_stages(path, record.name, stages)
        raise


def has_any(discards: Path) -> bool:
    """Return whether there is a discard to undo. Blocks."""
    with suppress(SpinneyError):
        return _find_discard(discards, None).is_dir()
    return False


async def apply_discarded(path: Path, discards: Path, discard_id: str, patch: bytes) -> None:
    """Apply a patch to the file of a discard, which is deleted then. Raises as `replace_file`."""
    folder = _find_discard(discards, discard_id)
    record = await asyncio.to_thread(_parse_record, folder)

    async def apply(copy: FileCopy) -> None:
        await apply_patch(copy.folder, patch, environment=copy.environment)

    made = await replace_file(path, discards, record.name, apply)
    for done in (made.id, discard_id):
        await asyncio.to_thread(delete_folder, discards / done)


async def _check_step(path: Path, folder: Path, record: DiscardRecord) -> None:
    if await identify_step(path) != record.step:
        raise SpinneyError(
            f"The conflict in '{to_display_name(record.name)}' cannot be brought back, because "
            "what it stopped has gone on or is over. The file as it was is in "
            f"{folder / _CONTENT}.",
            "conflict",
        )


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
        record = DiscardRecord(folder.name, name, kind, mode, "", "", time.time())
        return replace(record, before=_describe(kind, mode, folder / _CONTENT))
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise SpinneyError(
            f"'{to_display_name(name)}' was not discarded, because it could not be backed up: "
            f"{clean_line(error.strerror or str(error))}.",
            "conflict",
        ) from None


def _put_in_place(root: Path, record: DiscardRecord, made: Path) -> str:
    """Replace the file by what was made of its copy; return what identifies that.

    Raises `SpinneyError` if it is not what was backed up.
    """
    name = to_display_name(record.name)
    target = find_target(root, record.name)
    try:
        kind, _ = _get_kind_and_mode(made)
        if kind == "nothing":
            delete_expected(target, partial(_is_as, record.before))
            return kind
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target, partial(_is_as, record.before)) as temporary:
            shutil.copy(made, temporary, follow_symlinks=False)
            return _fingerprint(temporary)
    except SavedMeanwhileError as error:
        raise _saved_meanwhile(record, error, "nothing was done") from None
    except OSError as error:
        reason = clean_line(error.strerror or str(error))
        raise SpinneyError(
            f"'{name}' was not changed, because it could not be written: {reason}.", "conflict"
        ) from None


def _saved_meanwhile(
    record: DiscardRecord, error: SavedMeanwhileError, outcome: str
) -> SpinneyError:
    beside = f" An older save of that moment is in {error.beside}." if error.beside else ""
    return SpinneyError(
        f"'{to_display_name(record.name)}' was saved meanwhile and stays as it is, so {outcome}."
        f"{beside} Review it again, then retry.",
        "conflict",
    )


def _finish(discards: Path, discard: Path, record: DiscardRecord) -> DiscardRecord:
    (discard / _RECORD).write_text(json.dumps(asdict(record)))  # ASCII: any name round-trips
    prune(discards)
    return record


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
    record = _parse_record(folder)
    if not _is_as(record.after, path / record.name):
        raise _changed_since(folder, record)
    return folder, record


def _parse_record(folder: Path) -> DiscardRecord:
    try:
        return DiscardRecord(**json.loads((folder / _RECORD).read_text()))
    except (OSError, ValueError, TypeError):
        raise SpinneyError(
            "The discard cannot be undone because its record is damaged. The discarded content is"
            f" in {folder / _CONTENT}.",
            "conflict",
        ) from None


def _changed_since(folder: Path, record: DiscardRecord) -> SpinneyError:
    return SpinneyError(
        f"'{to_display_name(record.name)}' has changed since the discard, so it was not "
        f"restored. The discarded content is in {folder / _CONTENT}.",
        "conflict",
    )


def _undo(path: Path, folder: Path, record: DiscardRecord) -> DiscardRecord:
    target = find_target(path, record.name)
    try:
        _restore(target, folder / _CONTENT, record)
    except SavedMeanwhileError:
        raise _changed_since(folder, record) from None
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
        delete_expected(target, partial(_is_as, record.after))
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_temporary_files([target.parent])
    with replacing(target, partial(_is_as, record.after)) as temporary:
        _write(content, record, temporary)


def _write(content: Path, record: DiscardRecord, file: Path) -> None:
    """Write the content of a discard to a new file."""
    if record.kind == "link":
        file.symlink_to(os.fsdecode(content.read_bytes()))
    elif record.kind == "file":
        shutil.copyfile(content, file)
        file.chmod(record.mode)


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
        if kind == "link":
            return f"link {target.readlink()}"
        return _describe(kind, mode, target)
    except (OSError, ValueError):
        return "something else"


def _is_as(fingerprint: str, file: Path) -> bool:
    return _fingerprint(file) == fingerprint


def _describe(kind: str, mode: int, content: Path) -> str:
    if kind == "link":
        return f"link {os.fsdecode(content.read_bytes())}"
    if kind == "nothing":
        return kind
    with content.open("rb") as file:
        return f"file {mode:o} {hashlib.file_digest(file, 'sha256').hexdigest()}"
