"""Measure what directories take on disk, in threads and for a limited time."""

import asyncio
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

_MAX_SECONDS: Final = 60.0
"""After which a directory counts as too large to be measured."""
_MAX_AGE: Final = 600.0
"""Seconds for which a size is not measured again."""
_BLOCK: Final = 512


def measure_directory(path: Path, seconds: float = _MAX_SECONDS) -> int | None:
    """Return the bytes that a directory takes on disk; `None` if it cannot be measured in time.

    A file with several names counts once; what other directories share with it is not known. Links
    are not followed, and other file systems are left out. Blocks.
    """
    deadline = time.monotonic() + seconds
    try:
        device = path.lstat().st_dev
    except OSError:
        return None
    total, seen = 0, set()
    folders = [str(path)]
    while folders:
        if time.monotonic() > deadline:
            return None
        for facts, name in _list_entries(folders.pop()):
            if facts.st_dev != device or facts.st_ino in seen:
                continue
            if facts.st_nlink > 1 and not name:
                seen.add(facts.st_ino)
            total += facts.st_blocks * _BLOCK
            if name:
                folders.append(name)
    return total


def _list_entries(folder: str) -> list[tuple[os.stat_result, str]]:
    """Return the facts of each entry, and the path of those that are folders."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    is_folder = entry.is_dir(follow_symlinks=False)
                    facts = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                found.append((facts, entry.path if is_folder else ""))
    except OSError:
        pass  # It vanished, or may not be read.
    return found


class DiskUsage:
    """Measures directories, each at most every ten minutes. Belongs to the core's event loop."""

    def __init__(self) -> None:
        # Of its own: a slow disk must not keep the threads that others need.
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="disk-usage")
        self._known: dict[Path, tuple[float, int | None]] = {}
        self._running: dict[Path, asyncio.Future[int | None]] = {}

    def get(self, path: Path) -> int | None:
        """Return the last known size of a directory, as far as it was measured."""
        known = self._known.get(path)
        return known[1] if known else None

    def forget(self, path: Path) -> None:
        """Measure a directory again the next time: it was deleted or changed."""
        self._known.pop(path, None)

    async def measure(self, paths: list[Path], seconds: float) -> Mapping[Path, int | None]:
        """Return the sizes of directories; what takes longer goes on, and is `None` for now."""
        waiting = [self._start(path) for path in paths if self._is_outdated(path)]
        if waiting:
            await asyncio.wait(waiting, timeout=seconds)
        return {path: self.get(path) for path in paths}

    def close(self) -> None:
        """Start no further measurement."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _is_outdated(self, path: Path) -> bool:
        known = self._known.get(path)
        return known is None or time.monotonic() - known[0] > _MAX_AGE

    def _start(self, path: Path) -> "asyncio.Future[int | None]":
        if path not in self._running:
            loop = asyncio.get_running_loop()
            future = loop.run_in_executor(self._pool, measure_directory, path)
            self._running[path] = future
            future.add_done_callback(lambda done: self._keep(path, done))
        return self._running[path]

    def _keep(self, path: Path, done: "asyncio.Future[int | None]") -> None:
        self._running.pop(path, None)
        if not done.cancelled() and done.exception() is None:
            self._known[path] = time.monotonic(), done.result()
