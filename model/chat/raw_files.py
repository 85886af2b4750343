"""The files of raw logs: `raw-logs/<session>/raw-<place>.log` in the data directory.

A session has two at most. Each is named after the place in the whole log at which it begins, so a
place stays true when the older one goes, and after a restart.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from model.base.paths import PRIVATE_DIRECTORY, PRIVATE_FILE
from model.domain.output import RawLog

SIZE: Final = 4 * 1024 * 1024
"""Bytes of one file; one older file is kept."""


def append(folder: Path, lines: Iterable[bytes]) -> None:
    """Write lines at the end, for this user only, and let go of what is too old.

    Raises `OSError`; no line is then left there in part.
    """
    folder.parent.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    folder.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    start, size = (_sizes(folder) or [(0, 0)])[-1]
    waiting = bytearray()
    for line in lines:
        if size + len(waiting) + len(line) > SIZE and size + len(waiting):
            _write(_path(folder, start), waiting)
            start, size, waiting = start + size + len(waiting), 0, bytearray()
            _let_go(folder)
        waiting += line
    _write(_path(folder, start), waiting)


def read(
    folder: Path, before: int | None, after: int | None, limit: int, *, recording: bool
) -> RawLog:
    """At most `limit` bytes: what comes `after` a place, or the last ones `before` one or the end.

    Where the asked for is kept no more, or never was, the piece begins or ends elsewhere.
    """
    kept = _sizes(folder)
    first = kept[0][0] if kept else 0
    end = kept[-1][0] + kept[-1][1] if kept else 0
    if after is not None and after <= end:
        start = max(first, after)
        data = _bytes(folder, kept, start, min(end, start + limit))
        if start + len(data) < end and b"\n" in data:
            data = data[: data.rindex(b"\n") + 1]
    else:
        until = end if before is None else max(first, min(before, end))
        start = max(first, until - limit)
        data = _bytes(folder, kept, start, until)
        line = data.find(b"\n") + 1
        if start > first and 0 < line < len(data):
            data, start = data[line:], start + line
    return RawLog(
        text=data.decode(errors="replace"),
        start=start,
        end=start + len(data),
        is_first=start <= first,
        size=end - first,
        path=str(_path(folder, kept[-1][0])) if kept else "",
        recording=recording,
    )


def _path(folder: Path, start: int) -> Path:
    return folder / f"raw-{start}.log"


def _sizes(folder: Path) -> list[tuple[int, int]]:
    """Where the files begin, and their sizes; the oldest first."""
    found = []
    with suppress(OSError):
        for entry in os.scandir(folder):
            number = entry.name.removeprefix("raw-").removesuffix(".log")
            if number.isascii() and number.isdigit() and entry.name == f"raw-{number}.log":
                found.append((int(number), entry.stat(follow_symlinks=False).st_size))
    return sorted(found)


def _let_go(folder: Path) -> None:
    for start, _ in _sizes(folder)[:-1]:
        _path(folder, start).unlink(missing_ok=True)


def _write(path: Path, data: bytes | bytearray) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, PRIVATE_FILE)
    try:
        before = os.fstat(descriptor).st_size
        rest = memoryview(data)
        try:
            while rest:
                # A full disk first shows as a short count, and only then as an error.
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            os.ftruncate(descriptor, before)
            raise
    finally:
        os.close(descriptor)


def _bytes(folder: Path, kept: Iterable[tuple[int, int]], start: int, end: int) -> bytes:
    """What stands between two places; what is gone meanwhile is left out."""
    found = bytearray()
    for begin, size in kept:
        if begin < end and start < begin + size:
            with suppress(OSError), _path(folder, begin).open("rb") as file:
                file.seek(max(0, start - begin))
                found += file.read(min(end, begin + size) - max(start, begin))
    return bytes(found)
