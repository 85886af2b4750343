"""Raw log files: `raw-logs/<session>/raw-<offset>.log` in the data directory.

A session has at most two. Each is named after its start offset in the whole log, so offsets stay
valid when the older file is removed, and after a restart.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from model.base.paths import PRIVATE_DIRECTORY, PRIVATE_FILE
from model.domain.output import RawLog

MAX_FILE_SIZE: Final = 4 * 1024 * 1024
"""Bytes of one file; one older file is kept."""


def append(folder: Path, lines: Iterable[bytes]) -> None:
    """Append lines to a file that only this user can read, and remove files that are too old.

    Raises `OSError`; no partial line is left then.
    """
    folder.parent.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    folder.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    start, size = (_list_files(folder) or [(0, 0)])[-1]
    pending = bytearray()
    for line in lines:
        if size + len(pending) + len(line) > MAX_FILE_SIZE and size + len(pending):
            _write(_path(folder, start), pending)
            start, size, pending = start + size + len(pending), 0, bytearray()
            _remove_old(folder)
        pending += line
    _write(_path(folder, start), pending)


def read(
    folder: Path, before: int | None, after: int | None, limit: int, *, recording: bool
) -> RawLog:
    """Read at most `limit` bytes: those `after` an offset, or those `before` an offset or the end.

    If that range is not available, the piece starts or ends at the nearest available offset.
    """
    files = _list_files(folder)
    first = files[0][0] if files else 0
    end = files[-1][0] + files[-1][1] if files else 0
    if after is not None and after <= end:
        start = max(first, after)
        data = _read_range(folder, files, start, min(end, start + limit))
        if start + len(data) < end and b"\n" in data:
            data = data[: data.rindex(b"\n") + 1]
    else:
        stop = end if before is None else max(first, min(before, end))
        start = max(first, stop - limit)
        data = _read_range(folder, files, start, stop)
        line = data.find(b"\n") + 1
        if start > first and 0 < line < len(data):
            data, start = data[line:], start + line
    return RawLog(
        text=data.decode(errors="replace"),
        start=start,
        end=start + len(data),
        is_first=start <= first,
        size=end - first,
        path=str(_path(folder, files[-1][0])) if files else "",
        recording=recording,
    )


def _path(folder: Path, start: int) -> Path:
    return folder / f"raw-{start}.log"


def _list_files(folder: Path) -> list[tuple[int, int]]:
    """Return the start offsets and sizes of the files, oldest first."""
    files = []
    with suppress(OSError):
        for entry in os.scandir(folder):
            number = entry.name.removeprefix("raw-").removesuffix(".log")
            if number.isascii() and number.isdigit() and entry.name == f"raw-{number}.log":
                files.append((int(number), entry.stat(follow_symlinks=False).st_size))
    return sorted(files)


def _remove_old(folder: Path) -> None:
    for start, _ in _list_files(folder)[:-1]:
        _path(folder, start).unlink(missing_ok=True)


def _write(path: Path, data: bytes | bytearray) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, PRIVATE_FILE)
    try:
        old_size = os.fstat(descriptor).st_size
        remaining = memoryview(data)
        try:
            while remaining:
                # A full disk first shows as a short write, and only then as an error.
                remaining = remaining[os.write(descriptor, remaining) :]
        except OSError:
            os.ftruncate(descriptor, old_size)
            raise
    finally:
        os.close(descriptor)


def _read_range(folder: Path, files: Iterable[tuple[int, int]], start: int, end: int) -> bytes:
    """Return the bytes between two offsets, without files that were removed meanwhile."""
    data = bytearray()
    for begin, size in files:
        if begin < end and start < begin + size:
            with suppress(OSError), _path(folder, begin).open("rb") as file:
                file.seek(max(0, start - begin))
                data += file.read(min(end, begin + size) - max(start, begin))
    return bytes(data)
