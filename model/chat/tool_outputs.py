"""Long tool results: shown with their middle cut out, kept complete in files of their session.

`outputs/<session>/<digest of the tool use's id>` in the data directory, for this user only. Total
size is bounded; the oldest files are removed first. A full disk costs only the middle of a result.
"""

import asyncio
import codecs
import hashlib
import logging
import os
import re
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Final, Protocol

from model.base.errors import SpinneyError
from model.base.paths import PRIVATE_DIRECTORY, PRIVATE_FILE
from model.domain.output import ToolOutput
from model.store.store import Store

MAX_SHOWN: Final = 32_000
"""Characters of a result in the conversation; a longer one is cut to this."""

MAX_FILE_SIZE: Final = 16 * 1024 * 1024
"""Bytes of one result that are kept."""

MAX_TOTAL_SIZE: Final = 1024 * 1024 * 1024
"""Bytes of all results; beyond that the oldest are removed."""

_FILL_AFTER_CLEANUP: Final = 0.9
_BOUNDARIES: Final = (re.compile(r"\n"), re.compile(r"[,;{}\[\]]"), re.compile(r"\s"))
"""Where to cut a text, best first: between lines, between entries as of JSON, between words."""

_log = logging.getLogger(__name__)


class SessionFiles(Protocol):
    """Files that are kept per session."""

    async def remove_all_but(self, session_ids: Collection[str]) -> None:
        """Remove the files of all other sessions."""


class ToolOutputs:
    """The files. All disk access runs in worker threads."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._writes: dict[Path, asyncio.Task[None]] = {}
        self._size: int | None = None
        """Bytes of all files; `None` until they have been counted."""

    def shorten_and_save(self, session_id: str, tool_use_id: str, content: str) -> str:
        """Return the text to show for a result; a long one is shortened and saved to a file."""
        if len(content) <= MAX_SHOWN:
            return content
        path = self._path(session_id, tool_use_id)
        previous = self._writes.get(path)
        task = asyncio.get_running_loop().create_task(self._write(path, content, previous))
        self._writes[path] = task
        task.add_done_callback(lambda _: self._forget(path, task))
        return shorten(content)

    async def read(self, session_id: str, tool_use_id: str, offset: int, limit: int) -> ToolOutput:
        """Read at most `limit` bytes of a saved result from `offset`, in whole characters.

        Raises `not_found` for a result that was short enough to be shown whole, or was removed.
        """
        path = self._path(session_id, tool_use_id)
        if path in self._writes:
            await asyncio.wait([self._writes[path]])
        try:
            return await asyncio.to_thread(_read, path, offset, limit)
        except OSError:
            raise SpinneyError(
                "This result has no saved file: it is shown in full, or the file was removed to"
                " free space.",
                "not_found",
            ) from None

    async def share(self, session_id: str, other_id: str) -> None:
        """Give the files of a session to another one that has copies of its messages, too."""
        for write in tuple(self._writes.values()):
            await asyncio.wait([write])
        source, target = self._directory / session_id, self._directory / other_id
        await asyncio.to_thread(link_files, source, target)
        self._size = None

    async def remove_all_but(self, session_ids: Collection[str]) -> None:
        """Remove the files of all other sessions."""
        for write in tuple(self._writes.values()):
            await asyncio.wait([write])
        if await asyncio.to_thread(remove_other_folders, self._directory, frozenset(session_ids)):
            self._size = None

    async def close(self) -> None:
        """Finish pending writes."""
        await asyncio.gather(*self._writes.values(), return_exceptions=True)

    def _path(self, session_id: str, tool_use_id: str) -> Path:
        # The ids of tool uses are untrusted text of any length.
        digest = hashlib.sha256(tool_use_id.encode(errors="replace")).hexdigest()[:32]
        return self._directory / session_id / digest

    async def _write(self, path: Path, content: str, previous: asyncio.Task[None] | None) -> None:
        if previous is not None:
            await asyncio.wait([previous])
        try:
            written = await asyncio.to_thread(_write, path, content)
            if self._size is None:
                self._size = await asyncio.to_thread(_total_size, self._directory)
            else:
                self._size += written
            if self._size > MAX_TOTAL_SIZE:
                self._size = await asyncio.to_thread(_remove_oldest, self._directory)
        except OSError as error:
            _log.warning("could not save a long tool result: %s", error)

    def _forget(self, path: Path, task: asyncio.Task[None]) -> None:
        if self._writes.get(path) is task:
            del self._writes[path]


async def remove_files_of_deleted_sessions(
    store: Store, *stores: SessionFiles, keep: Collection[str] = ()
) -> None:
    """Remove files of deleted sessions, now and after each deletion, until cancelled.

    Files of the sessions in `keep` stay: these sessions are lost and may be recovered.
    """
    session_removed, count = asyncio.Event(), len(store.state.sessions)

    def check() -> None:
        nonlocal count
        previous, count = count, len(store.state.sessions)
        if count < previous:
            session_removed.set()

    stop_listening = store.bus.listen(check)
    try:
        while True:
            for files in stores:
                await files.remove_all_but((*store.state.sessions, *keep))
            await session_removed.wait()
            session_removed.clear()
    finally:
        stop_listening()


def remove_other_folders(directory: Path, keep: frozenset[str]) -> bool:
    """Remove the folders that are not named in `keep`; return whether there were any."""
    try:
        orphans = [folder for folder in directory.iterdir() if folder.name not in keep]
    except OSError:
        return False
    for folder in orphans:
        shutil.rmtree(folder, ignore_errors=True)
    return bool(orphans)


def shorten(content: str) -> str:
    """Return the head and tail of a long text, cut where a line or entry ends, and what was cut.

    A secret that is cut in two would not be recognized, and so shown to guests.
    """
    half = MAX_SHOWN // 2
    head, tail = content[:half], content[-half:]
    head = head[: _last_boundary(head, half * 3 // 4)]
    tail = tail[_first_boundary(tail, half // 4) :]
    middle = content[len(head) : len(content) - len(tail)]
    lines, size = middle.count("\n"), len(middle.encode())
    gap = "" if head.endswith("\n") else "\n"
    return f"{head}{gap}[… {lines:,} lines, {size:,} bytes are left out here …]\n{tail}"


def _last_boundary(text: str, begin: int) -> int:
    """Return where the last line, else entry, else word ends after `begin`; else the end."""
    for boundary in _BOUNDARIES:
        if ends := [match.end() for match in boundary.finditer(text, begin)]:
            return ends[-1]
    return len(text)


def _first_boundary(text: str, end: int) -> int:
    """Return where the first line, else entry, else word ends before `end`; else the start."""
    found = (boundary.search(text, 0, end) for boundary in _BOUNDARIES)
    return next((match.end() for match in found if match is not None), 0)


def _read(path: Path, offset: int, limit: int) -> ToolOutput:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(offset)
        raw = file.read(limit)
    decoder = codecs.getincrementaldecoder("utf-8")("ignore")
    content = decoder.decode(raw)
    end = offset + len(raw) - len(decoder.getstate()[0])
    has_more = bool(content) and end < size
    return ToolOutput(
        content=content, offset=offset, next_offset=end if has_more else None, size=size
    )


def _write(path: Path, content: str) -> int:
    """Write the file and return its size in bytes. Leaves no partial file behind."""
    data = content.encode()[:MAX_FILE_SIZE].decode(errors="ignore").encode()
    path.parent.parent.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    path.parent.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(path, flags, PRIVATE_FILE), "wb") as file:
            file.write(data)
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return len(data)


def link_files(source: Path, target: Path) -> None:
    """Give the files in one session's folder to another session, too. Blocks."""
    try:
        for path in source.iterdir():
            target.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
            (target / path.name).hardlink_to(path)
    except FileNotFoundError:
        pass  # there are none
    except OSError as error:
        _log.warning("could not share the files of a session: %s", error)


def _list_files(directory: Path) -> list[tuple[float, int, Path]]:
    """Return modification time, size and path of each saved result."""
    files = []
    for path in directory.glob("*/*"):
        try:
            status = path.stat(follow_symlinks=False)
        except OSError:
            continue
        files.append((status.st_mtime, status.st_size, path))
    return files


def _total_size(directory: Path) -> int:
    return sum(size for _, size, _ in _list_files(directory))


def _remove_oldest(directory: Path) -> int:
    """Remove the oldest files until the total is small enough; return the bytes that are left."""
    files = sorted(_list_files(directory))
    remaining = sum(size for _, size, _ in files)
    for _, size, path in files:
        if remaining <= MAX_TOTAL_SIZE * _FILL_AFTER_CLEANUP:
            break
        path.unlink(missing_ok=True)
        remaining -= size
    return remaining
