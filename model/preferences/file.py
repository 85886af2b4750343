"""Reads, watches and writes the settings file without ever losing an edit.

Users edit it in their editors while Spinney runs. So a write merges with changes on disk, a read
waits for unfinished edits, and a broken file is renamed, never overwritten.
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
from model.base.paths import (
    create_private_directory,
    find_backup_path,
    open_without_waiting,
    write_atomically,
)
from model.base.watching import watch_folders
from model.preferences.apply import parse_preferences
from model.preferences.schema import Preferences

MAX_BYTES = 4_000_000
UNFINISHED_SECONDS = 0.5
"""How long an editor may take between emptying the file and filling it."""
RETRY_SECONDS = 0.05
STEP_MS = 200
"""How often the watcher's thread looks whether the system has reported a change."""
POLL_MS = 2000
"""The file is also polled: some file systems report no changes (network, containers)."""
MAX_RACES = 20
"""How often a write is retried because another program wrote at the same time."""

OnChange = Callable[[Preferences, list[str]], Awaitable[None]]
"""Called with the current settings and messages about invalid values."""

_log = logging.getLogger(__name__)
_Signature = tuple[int, int, int] | None


class _BrokenError(Exception):
    """The file exists but cannot be used; the message is the reason."""

    signature: _Signature = None
    """The file's signature before it was read; it may have been fixed since."""


class _RaceError(Exception):
    """Another program wrote the file during our write."""


class PreferencesFile:
    """One settings file. `save` and `watch` may run at the same time, in one event loop."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = asyncio.Lock()
        self._known: Preferences | None = None
        """The settings that were reported last; `watch` reports changes relative to them."""
        self._last_signature: _Signature = None
        self._had_problems = False
        """Whether the last read found invalid values."""

    async def load(self) -> tuple[Preferences, list[str]]:
        """Load the settings, with a message for each problem. Never fails.

        A missing file is created with the defaults; a broken one is renamed first.
        """
        async with self._lock:
            preferences, problems = await asyncio.to_thread(self._load)
            self._known = preferences
            return preferences, problems

    async def save(self, preferences: Preferences, before: Preferences) -> Preferences:
        """Write the differences between `before` and `preferences`; other keys stay as on disk.

        Returns the resulting settings, including concurrent edits by others. Raises
        `SpinneyError` if nothing was written; the old file is then unchanged.
        """
        async with self._lock:
            self._known = await asyncio.to_thread(self._save, preferences, before)
            return self._known

    async def watch(self, on_change: OnChange) -> None:
        """Call `on_change` whenever the settings in the file or its problems changed.

        Runs until it is canceled.
        """
        async with aclosing(_watch_ticks(self._folders(), self._names())) as ticks:
            async for _ in ticks:
                async with self._lock:
                    await self._report(on_change)

    async def _report(self, on_change: OnChange) -> None:
        try:
            changed = await asyncio.to_thread(self._read_changed)
        except SpinneyError as error:
            if self._known is not None:
                self._had_problems = True
                await on_change(self._known, [error.message])
            return
        if changed is None:
            return
        preferences, problems = changed
        had_problems, self._had_problems = self._had_problems, bool(problems)
        if preferences != self._known or problems or had_problems:
            self._known = preferences
            await on_change(preferences, problems)

    def _folders(self) -> set[Path]:
        """The folders to watch. Not the file: editors replace it instead of writing to it."""
        return {self.path.parent, self._target().parent}

    def _names(self) -> set[str]:
        return {self.path.name, self._target().name}

    def _target(self) -> Path:
        """The path to write to: a symlink, as in dotfile collections, stays a symlink."""
        target = Path(os.path.realpath(self.path))
        return target if target.parent.is_dir() else self.path

    # The following methods access the disk and run in threads.

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
            write_atomically(self._target(), _encode(Preferences()))
        except SpinneyError as error:
            problems.append(error.message)
        return Preferences(), problems

    def _save(self, preferences: Preferences, before: Preferences) -> Preferences:
        ours, base = preferences.model_dump(), before.model_dump()
        for _ in range(MAX_RACES):
            try:
                stored, signature = _read_patiently(self.path)
            except _BrokenError as error:
                _log.warning("%s", self._move_aside(str(error)))
                stored, signature = None, None
            merged = parse_preferences(_rebase(base, ours, base if stored is None else stored))[0]
            check = partial(_check_unchanged, self.path, signature)
            try:
                write_atomically(self._target(), _encode(merged), before_rename=check)
            except _RaceError:
                continue
            return merged
        raise SpinneyError(
            f"{self.path} could not be saved: another program keeps writing it. "
            "Stop the other program and try again.",
            "conflict",
        )

    def _read_changed(self) -> tuple[Preferences, list[str]] | None:
        """The settings in the file, or `None` if it is unchanged since the last read or missing."""
        if _signature(self.path) == self._last_signature:
            return None
        try:
            stored, self._last_signature = _read_patiently(self.path)
        except _BrokenError as error:
            self._last_signature = error.signature
            raise SpinneyError(
                f"{error}. The previous settings stay in effect. Fix the file, or change a "
                "setting in Spinney to have the file renamed and written again."
            ) from error
        return None if stored is None else parse_preferences(stored)

    def _move_aside(self, reason: str) -> str:
        """Rename the broken file to an unused, dated name; return a message that says so."""
        backup = find_backup_path(self.path)
        try:
            self.path.rename(backup)
        except OSError as error:
            raise SpinneyError(
                f"{reason}, and could not be renamed: {error.strerror}. "
                "Fix or remove it; until then settings are not saved.",
                "internal_error",
            ) from error
        return f"{reason}. It was renamed to {backup.name}; the default settings are used."


def read_preferences(path: Path) -> tuple[Preferences, list[str]]:
    """Return the settings in this file and a message for each problem, without changing it.

    The defaults stand for a missing or broken file.
    """
    try:
        stored = _read(path)[0]
    except _BrokenError as error:
        return Preferences(), [f"{error}."]
    return (Preferences(), []) if stored is None else parse_preferences(stored)


async def _watch_ticks(folders: set[Path], names: set[str]) -> AsyncGenerator[None, None]:
    """Yield whenever it is time to check the file."""
    yield
    try:
        async for _ in watch_folders(
            folders,
            lambda path: Path(path).name in names,
            step_ms=STEP_MS,
            debounce_ms=2 * STEP_MS,
            timeout_ms=POLL_MS,
            recursive=False,
        ):
            yield
    except OSError as error:  # no watches left on this machine, or the folder was removed
        _log.warning("%s cannot be watched (%s); polling instead.", folders, error)
    while True:
        await asyncio.sleep(POLL_MS / 1000)
        yield


def _read_patiently(path: Path) -> tuple[dict[str, Any] | None, _Signature]:
    """Read the stored object and the file's signature; waits for an unfinished edit."""
    deadline = time.monotonic() + 2 * UNFINISHED_SECONDS
    while True:
        signature = _signature(path)
        try:
            return _read(path)
        except _BrokenError as error:
            if time.monotonic() > deadline or not _is_recently_written(path):
                error.signature = signature
                raise
        time.sleep(RETRY_SECONDS)


def _read(path: Path) -> tuple[dict[str, Any] | None, _Signature]:
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
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
    return _decode(content, path), (status.st_ino, status.st_mtime_ns, status.st_size)


def _decode(content: bytes, path: Path) -> dict[str, Any]:
    try:
        # Also accepts UTF-16 and byte order marks; NaN and Infinity, invalid in JSON, become null.
        stored = json.loads(content, parse_constant=lambda _: None)
        if isinstance(stored, dict):
            _encode(parse_preferences(stored)[0])  # fails if it is nested too deeply
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _BrokenError(f"{path} is not valid JSON ({where}: {error.msg})") from error
    except (ValueError, RecursionError) as error:
        raise _BrokenError(f"{path} is not valid JSON ({type(error).__name__})") from error
    if not isinstance(stored, dict):
        raise _BrokenError(f"{path} does not contain a JSON object")
    return stored


def _encode(preferences: Preferences) -> bytes:
    values = preferences.model_dump()
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()


def _rebase(
    base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> dict[str, Any]:
    """Apply to `theirs` the keys in which `ours` differs from `base`."""
    return {**theirs, **{key: value for key, value in ours.items() if base.get(key, ...) != value}}


def _signature(path: Path) -> _Signature:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _check_unchanged(path: Path, signature: _Signature) -> None:
    if _signature(path) != signature:
        raise _RaceError


def _is_recently_written(path: Path) -> bool:
    try:
        return abs(time.time() - path.stat().st_mtime) < UNFINISHED_SECONDS
    except OSError:
        return False
