"""Long results of tools: shown with their middle left out, kept whole in files of their session.

`outputs/<session>/<digest of the tool use's id>` in the data directory, for this user only. What is
kept is bounded; the oldest goes first. A full disk costs the middle of a result and nothing else.
"""

import asyncio
import codecs
import hashlib
import logging
import os
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Final, Protocol

from model.base.errors import SpinneyError
from model.base.paths import PRIVATE_DIRECTORY, PRIVATE_FILE
from model.domain.output import ToolOutput
from model.store.store import Store

SHOWN: Final = 32_000
"""Characters of a result that stand in the conversation; a longer one is cut to this."""

KEPT: Final = 16 * 1024 * 1024
"""Bytes of one result that are kept."""

KEPT_IN_ALL: Final = 1024 * 1024 * 1024
"""Bytes of all results; from here on the oldest go."""

_AFTER_CLEARING: Final = 0.9

_log = logging.getLogger(__name__)


class SessionFiles(Protocol):
    """Files that are kept by session."""

    async def remove_all_but(self, session_ids: Collection[str]) -> None:
        """Remove what belongs to no session any more."""


class ToolOutputs:
    """The files. Everything that looks at the disk runs in other threads."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._writing: dict[Path, asyncio.Task[None]] = {}
        self._size: int | None = None
        """Bytes of all files; `None` until they were counted."""

    def keep(self, session_id: str, tool_use_id: str, content: str) -> str:
        """What is shown of a result. The whole of a long one is written behind it."""
        if len(content) <= SHOWN:
            return content
        path = self._path(session_id, tool_use_id)
        earlier = self._writing.get(path)
        task = asyncio.get_running_loop().create_task(self._write(path, content, earlier))
        self._writing[path] = task
        task.add_done_callback(lambda _: self._forget(path, task))
        return shortened(content)

    async def read(self, session_id: str, tool_use_id: str, offset: int, limit: int) -> ToolOutput:
        """At most `limit` bytes of a kept result from `offset` on, whole characters only.

        Raises `not_found` for one that was short enough to be shown whole, or was removed since.
        """
        path = self._path(session_id, tool_use_id)
        if path in self._writing:
            await asyncio.wait([self._writing[path]])
        try:
            return await asyncio.to_thread(_read, path, offset, limit)
        except OSError:
            raise SpinneyError(
                "No longer text of this result is kept: the conversation shows it whole, or it was"
                " removed to make room.",
                "not_found",
            ) from None

    async def remove_all_but(self, session_ids: Collection[str]) -> None:
        """Remove what belongs to no session any more."""
        for writing in tuple(self._writing.values()):
            await asyncio.wait([writing])
        if await asyncio.to_thread(remove_folders, self._directory, frozenset(session_ids)):
            self._size = None

    async def close(self) -> None:
        """Finish what is being written."""
        await asyncio.gather(*self._writing.values(), return_exceptions=True)

    def _path(self, session_id: str, tool_use_id: str) -> Path:
        # The ids of tool uses are foreign text, and any length.
        digest = hashlib.sha256(tool_use_id.encode(errors="replace")).hexdigest()[:32]
        return self._directory / session_id / digest

    async def _write(self, path: Path, content: str, earlier: asyncio.Task[None] | None) -> None:
        if earlier is not None:
            await asyncio.wait([earlier])
        try:
            written = await asyncio.to_thread(_write, path, content)
            if self._size is None:
                self._size = await asyncio.to_thread(_size_of, self._directory)
            else:
                self._size += written
            if self._size > KEPT_IN_ALL:
                self._size = await asyncio.to_thread(_make_room, self._directory)
        except OSError as error:
            _log.warning("a long result of a tool is kept only in part: %s", error)

    def _forget(self, path: Path, task: asyncio.Task[None]) -> None:
        if self._writing.get(path) is task:
            del self._writing[path]


async def follow_sessions(store: Store, *kept: SessionFiles, spared: Collection[str] = ()) -> None:
    """Remove files that belong to no session, now and whenever sessions go, until cancelled.

    Those of the sessions called `spared` stay: they are lost, and may be found again.
    """
    gone, known = asyncio.Event(), len(store.state.sessions)

    def look() -> None:
        nonlocal known
        before, known = known, len(store.state.sessions)
        if known < before:
            gone.set()

    stop_listening = store.bus.listen(look)
    try:
        while True:
            for files in kept:
                await files.remove_all_but((*store.state.sessions, *spared))
            await gone.wait()
            gone.clear()
    finally:
        stop_listening()


def remove_folders(directory: Path, kept: frozenset[str]) -> bool:
    """Remove the folders that are not named like one of these; whether there were any."""
    try:
        gone = [folder for folder in directory.iterdir() if folder.name not in kept]
    except OSError:
        return False
    for folder in gone:
        shutil.rmtree(folder, ignore_errors=True)
    return bool(gone)


def shortened(content: str) -> str:
    """Head and tail of a long text, cut at lines where those are near, and what is missing."""
    half = SHOWN // 2
    head, tail = content[:half], content[-half:]
    if (end := head.rfind("\n", half * 3 // 4)) >= 0:
        head = head[: end + 1]
    if 0 <= (begin := tail.find("\n")) < half // 4:
        tail = tail[begin + 1 :]
    middle = content[len(head) : len(content) - len(tail)]
    lines, size = middle.count("\n"), len(middle.encode())
    gap = "" if head.endswith("\n") else "\n"
    return f"{head}{gap}[… {lines:,} lines, {size:,} bytes are left out here …]\n{tail}"


def _read(path: Path, offset: int, limit: int) -> ToolOutput:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(offset)
        raw = file.read(limit)
    decoder = codecs.getincrementaldecoder("utf-8")("ignore")
    content = decoder.decode(raw)
    end = offset + len(raw) - len(decoder.getstate()[0])
    more = bool(content) and end < size
    return ToolOutput(content=content, offset=offset, next_offset=end if more else None, size=size)


def _write(path: Path, content: str) -> int:
    """Bytes by which the files grew. Leaves no half-written file behind."""
    data = content.encode()[:KEPT].decode(errors="ignore").encode()
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


def _files(directory: Path) -> list[tuple[float, int, Path]]:
    """Time of writing, size and path of each kept result."""
    found = []
    for path in directory.glob("*/*"):
        try:
            status = path.stat(follow_symlinks=False)
        except OSError:
            continue
        found.append((status.st_mtime, status.st_size, path))
    return found


def _size_of(directory: Path) -> int:
    return sum(size for _, size, _ in _files(directory))


def _make_room(directory: Path) -> int:
    """Remove the oldest until there is room again; the bytes that are left."""
    files = sorted(_files(directory))
    left = sum(size for _, size, _ in files)
    for _, size, path in files:
        if left <= KEPT_IN_ALL * _AFTER_CLEARING:
            break
        path.unlink(missing_ok=True)
        left -= size
    return left
