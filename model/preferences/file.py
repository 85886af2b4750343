"""The settings file: read, watched and written so that nobody's edit is ever lost.

People edit it with their editors while Spinney runs, so a write takes over what changed on disk
since, an unfinished edit is given time, and a broken file is moved aside, never replaced.
"""

import asyncio
import json
import logging
import os
import stat
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any

from model.base.errors import SpinneyError
from model.base.paths import create_private_directory, free_name_aside, write_atomically
from model.preferences.apply import parse_preferences
from model.preferences.schema import Preferences

MAX_BYTES = 4_000_000
UNFINISHED_SECONDS = 0.5
"""How long an editor may take between emptying the file and filling it."""
RETRY_SECONDS = 0.05
DEBOUNCE_MS = 60
POLL_MS = 2000
"""Looks at the file this often too: some file systems report no changes (network, containers)."""
MAX_RACES = 20
"""How often a write starts over because somebody else wrote meanwhile."""

OnChange = Callable[[Preferences, list[str]], Awaitable[None]]
"""Gets the settings as they are now, and sentences about what could not be used."""

_log = logging.getLogger(__name__)
_Signature = tuple[int, int, int] | None


class _BrokenError(Exception):
    """The file is there and cannot be used; the text says why."""

    signature: _Signature = None
    """What it looked like before it was read; it may have been mended since."""


class _RaceError(Exception):
    """Somebody wrote the file while a write of ours was under way."""


class PreferencesFile:
    """One settings file. `save` and `watch` may run at the same time, in one event loop."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = asyncio.Lock()
        self._known: Preferences | None = None
        """What the caller has been told last; `watch` reports what differs from it."""
        self._looked_at: _Signature = None
        self._objected = False
        """Whether the last look found something that cannot be used."""

    async def load(self) -> tuple[Preferences, list[str]]:
        """The settings, and a sentence for each thing that was wrong. Never fails.

        A missing file is made with the defaults; a broken one is moved aside first.
        """
        async with self._lock:
            preferences, problems = await asyncio.to_thread(self._load)
            self._known = preferences
            return preferences, problems

    async def save(self, preferences: Preferences, before: Preferences) -> Preferences:
        """Write what differs between `before` and `preferences`; other keys stay as on disk.

        Returns the settings that now hold, with the edits that others made meanwhile. Raises
        `SpinneyError` when nothing was written; the old file is then as it was.
        """
        async with self._lock:
            self._known = await asyncio.to_thread(self._save, preferences, before)
            return self._known

    async def watch(self, on_change: OnChange) -> None:
        """Call `on_change` whenever the file says something new, or nothing wrong any more.

        Runs until it is cancelled.
        """
        async with aclosing(_looks(self._folders(), self._names())) as looks:
            async for _ in looks:
                async with self._lock:
                    await self._report(on_change)

    async def _report(self, on_change: OnChange) -> None:
        try:
            found = await asyncio.to_thread(self._news)
        except SpinneyError as error:
            if self._known is not None:
                self._objected = True
                await on_change(self._known, [error.message])
            return
        if found is None:
            return
        objected, self._objected = self._objected, bool(found[1])
        if found[0] != self._known or found[1] or objected:
            self._known = found[0]
            await on_change(*found)

    def _folders(self) -> set[Path]:
        """Where changes show: editors replace the file, so it is its folder that is watched."""
        return {self.path.parent, self._target().parent}

    def _names(self) -> set[str]:
        return {self.path.name, self._target().name}

    def _target(self) -> Path:
        """Where to write: a link, as dotfile collections have, stays a link."""
        target = Path(os.path.realpath(self.path))
        return target if target.parent.is_dir() else self.path

    # What follows touches the disk and runs in threads.

    def _load(self) -> tuple[Preferences, list[str]]:
        problems: list[str] = []
        try:
            create_private_directory(self.path.parent)
            try:
                stored = _read_patiently(self.path)[0]
                if stored is not None:
                    return parse_preferences(stored)
            except _BrokenError as error:
                problems.append(self._move_aside(str(error)))
            write_atomically(self._target(), _encoded(Preferences()))
        except SpinneyError as error:
            problems.append(error.message)
        return Preferences(), problems

    def _save(self, preferences: Preferences, before: Preferences) -> Preferences:
        ours, base = preferences.model_dump(), before.model_dump()
        for _ in range(MAX_RACES):
            try:
                found, signature = _read_patiently(self.path)
            except _BrokenError as error:
                _log.warning("%s", self._move_aside(str(error)))
                found, signature = None, None
            merged = parse_preferences(_merged(base, ours, base if found is None else found))[0]
            check = partial(_check_unchanged, self.path, signature)
            try:
                write_atomically(self._target(), _encoded(merged), before_rename=check)
            except _RaceError:
                continue
            return merged
        raise SpinneyError(
            f"{self.path} could not be saved: another program keeps writing it. "
            "Stop that program and try again.",
            "conflict",
        )

    def _news(self) -> tuple[Preferences, list[str]] | None:
        """What the file says, or `None` when it is as it was at the last look, or missing."""
        if _signature(self.path) == self._looked_at:
            return None
        try:
            stored, self._looked_at = _read_patiently(self.path)
        except _BrokenError as error:
            self._looked_at = error.signature
            raise SpinneyError(
                f"{error}. The settings stay as they were: mend the file, or change a setting "
                "to have it moved aside."
            ) from error
        return None if stored is None else parse_preferences(stored)

    def _move_aside(self, reason: str) -> str:
        """Rename the broken file to a dated name that nothing has yet; say so in a sentence."""
        aside = free_name_aside(self.path)
        try:
            self.path.rename(aside)
        except OSError as error:
            raise SpinneyError(
                f"{reason}, and could not be moved aside: {error.strerror}. "
                "Settings are not saved until it is mended or removed.",
                "internal_error",
            ) from error
        return f"{reason}. It was kept as {aside.name}; the default settings are used."


def problems_of(path: Path) -> list[str]:
    """What in this file cannot be used, in sentences; it stays as it is."""
    try:
        stored = _read(path)[0]
    except _BrokenError as error:
        return [f"{error}."]
    return [] if stored is None else parse_preferences(stored)[1]


async def _looks(folders: set[Path], names: set[str]) -> AsyncGenerator[None, None]:
    """A tick whenever it is time to look at the file."""
    from watchfiles import awatch  # costs 30 ms, and nobody waits for it here

    yield
    try:
        async for _ in awatch(
            *folders,
            watch_filter=lambda _, path: Path(path).name in names,
            debounce=DEBOUNCE_MS,
            step=DEBOUNCE_MS // 2,
            rust_timeout=POLL_MS,
            yield_on_timeout=True,
            recursive=False,
        ):
            yield
    except OSError as error:  # no watches left on this machine, or the folder went away
        _log.warning("%s cannot be watched (%s); looking at it now and then.", folders, error)
    while True:
        await asyncio.sleep(POLL_MS / 1000)
        yield


def _read_patiently(path: Path) -> tuple[dict[str, Any] | None, _Signature]:
    """The stored object, and what the file looked like; gives an unfinished edit time."""
    latest = time.monotonic() + 2 * UNFINISHED_SECONDS
    while True:
        signature = _signature(path)
        try:
            return _read(path)
        except _BrokenError as error:
            if time.monotonic() > latest or not _just_written(path):
                error.signature = signature
                raise
        time.sleep(RETRY_SECONDS)


def _read(path: Path) -> tuple[dict[str, Any] | None, _Signature]:
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise _BrokenError(f"{path} is not a regular file")
            if status.st_size > MAX_BYTES:
                raise _BrokenError(f"{path} is too large for a settings file")
            content = file.read(MAX_BYTES)
    except FileNotFoundError:
        return None, None
    except OSError as error:
        raise _BrokenError(f"{path} cannot be read: {error.strerror}") from error
    return _decoded(content, path), (status.st_ino, status.st_mtime_ns, status.st_size)


def _open_without_waiting(path: str, flags: int) -> int:
    """Without O_NONBLOCK, a named pipe in the file's place would hang."""
    return os.open(path, flags | os.O_NONBLOCK)


def _decoded(content: bytes, path: Path) -> dict[str, Any]:
    try:
        # Also reads UTF-16 and byte order marks; NaN and Infinity, which are no JSON, are null.
        stored = json.loads(content, parse_constant=lambda _: None)
        if isinstance(stored, dict):
            _encoded(parse_preferences(stored)[0])  # fails where it is nested beyond reason
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _BrokenError(f"{path} is not valid JSON ({where}: {error.msg})") from error
    except (ValueError, RecursionError) as error:
        raise _BrokenError(f"{path} is not valid JSON ({type(error).__name__})") from error
    if not isinstance(stored, dict):
        raise _BrokenError(f"{path} does not hold a JSON object")
    return stored


def _encoded(preferences: Preferences) -> bytes:
    values = preferences.model_dump()
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()


def _merged(
    base: Mapping[str, Any], ours: Mapping[str, Any], found: Mapping[str, Any]
) -> dict[str, Any]:
    """`found`, with the keys in which `ours` differs from `base`."""
    return {**found, **{key: value for key, value in ours.items() if base.get(key, ...) != value}}


def _signature(path: Path) -> _Signature:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _check_unchanged(path: Path, signature: _Signature) -> None:
    if _signature(path) != signature:
        raise _RaceError


def _just_written(path: Path) -> bool:
    try:
        return abs(time.time() - path.stat().st_mtime) < UNFINISHED_SECONDS
    except OSError:
        return False
