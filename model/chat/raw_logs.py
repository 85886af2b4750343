"""Raw logs: all traffic with the sessions' agent processes, while the user has enabled them.

Lines wait in one bounded queue; one task formats and writes them in worker threads. Producers never
wait: lines that do not fit into the queue are counted, and the log states how many were dropped.
"""

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from model.backends.traffic import Direction, RawMessage, TrafficRecorder
from model.base.errors import SpinneyError
from model.base.instance import find_running_instance
from model.base.masking import SecretMasker, find_named_secrets
from model.base.paths import Directories, file_error
from model.base.plural import plural
from model.chat import raw_files
from model.chat.raw_lines import format_line
from model.chat.tool_outputs import remove_other_folders
from model.domain.output import RawLog
from model.preferences.schema import Preferences
from model.store.store import Store

MAX_QUEUED: Final = 4 * 1024 * 1024
"""Bytes of queued lines; further lines are dropped."""

_LINE_OVERHEAD: Final = 200
"""Additional bytes that each queued line is counted with."""

READ_TIMEOUT: Final = 0.5
"""Seconds that a reader waits for pending writes."""

BATCH_DELAY: Final = 0.05
"""Seconds for which lines are collected before they are written together."""

_log = logging.getLogger(__name__)

_PAUSE_AFTER: Final = 32 * 1024
_PAUSE: Final = 0.005
"""Bytes that are formatted at a stretch, some milliseconds of work, and seconds of pause that leave
the interpreter to the event loops. Lines that arrive faster are dropped in either case."""

_Line = tuple[float, Direction, str, bytes]


class RawLogs:
    """The raw logs of all sessions; `notify` is called with a message if they cannot be written."""

    def __init__(
        self, directories: Directories, store: Store, notify: Callable[[str], None]
    ) -> None:
        self._directory = directories.raw_logs
        self._lock = directories.lock
        self._store = store
        self._notify = notify
        self._queued: dict[str, list[_Line]] = {}
        self._queued_bytes = 0
        self._dropped: dict[str, int] = {}
        self._session_secrets: dict[str, set[str]] = {}
        """Secrets of each session's process, by session id."""
        self._preference_secrets: tuple[Preferences | None, set[str]] = (None, set())
        self._masks: dict[str, tuple[frozenset[str], SecretMasker]] = {}
        self._write_task: asyncio.Task[None] | None = None
        """Writes the queued lines."""
        self._is_failing = False

    @property
    def is_enabled(self) -> bool:
        """Whether the user has enabled raw logs."""
        return self._store.state.preferences.debug_mode_enabled

    def make_recorder(self, session_id: str, values: Mapping[str, Any]) -> TrafficRecorder:
        """Create a session's recorder; those of `values` with a secret's name are masked."""
        record = _SessionRecorder(self, session_id)
        record.mask_secrets(values)
        return record

    def enqueue(self, session_id: str, direction: Direction, kind: str, raw: RawMessage) -> None:
        """Queue a line, or count it as dropped if the queue is full."""
        if session_id not in self._store.state.sessions:
            return
        data = _as_bytes(raw)
        size = len(data) + len(kind) + _LINE_OVERHEAD
        if self._queued_bytes and self._queued_bytes + size > MAX_QUEUED:
            self._count_dropped(session_id, 1)
            return
        self._queued_bytes += size
        self._queued.setdefault(session_id, []).append((time.time(), direction, kind, data))
        if self._write_task is None:
            self._write_task = asyncio.get_running_loop().create_task(self._write_batch())

    def add_secrets(self, session_id: str, values: Mapping[str, Any]) -> None:
        """Mask those of these values that have a secret's name."""
        if secrets := find_named_secrets(values):
            self._session_secrets.setdefault(session_id, set()).update(secrets)

    async def read(
        self, session_id: str, before: int | None, after: int | None, limit: int
    ) -> RawLog:
        """Read a piece of a session's log, see `raw_files.read`; empty if there is no log.

        Includes the newest lines, unless writing them takes longer than `READ_TIMEOUT`.
        """
        await self.flush(READ_TIMEOUT)
        folder, is_recording = self._directory / session_id, self.is_enabled
        return await asyncio.to_thread(
            raw_files.read, folder, before, after, limit, recording=is_recording
        )

    async def remove_all_but(self, session_ids: Collection[str]) -> None:
        """Remove the logs of all other sessions."""
        await self.flush()
        for session_id in self._session_secrets.keys() - session_ids:
            del self._session_secrets[session_id]
        for session_id in self._masks.keys() - session_ids:
            del self._masks[session_id]
        # A session created meanwhile may already have its first lines.
        kept_ids = frozenset((*session_ids, *self._store.state.sessions))
        await asyncio.to_thread(remove_other_folders, self._directory, kept_ids)

    async def flush(self, timeout: float | None = None) -> None:
        """Wait until all lines recorded so far are written, or for about `timeout` seconds each."""
        for _ in range(2):  # the batch being written, and the one queued behind it
            if self._write_task is not None:
                await asyncio.wait([self._write_task], timeout=timeout)

    async def close(self) -> None:
        """Write the queued lines."""
        await self.flush()

    async def _write_batch(self) -> None:
        await asyncio.sleep(BATCH_DELAY)
        queued, self._queued, self._queued_bytes = self._queued, {}, 0
        dropped, self._dropped = self._dropped, {}
        try:
            token = await asyncio.to_thread(_read_local_token, self._lock)
            error: OSError | None = None
            for session_id in self._store.state.sessions.keys() & {*queued, *dropped}:
                lines, dropped_count = queued.get(session_id, []), dropped.get(session_id, 0)
                folder, mask = self._directory / session_id, self._masking_of(session_id, token)
                try:
                    await asyncio.to_thread(_write, folder, lines, dropped_count, mask)
                except OSError as failure:
                    error = failure
                    self._count_dropped(session_id, len(lines) + dropped_count)
            self._report_error(error)
        except Exception:
            _log.exception("the raw logs could not be written")
        finally:
            self._write_task = None
            if self._queued:
                self._write_task = asyncio.get_running_loop().create_task(self._write_batch())

    def _count_dropped(self, session_id: str, count: int) -> None:
        self._dropped[session_id] = self._dropped.get(session_id, 0) + count

    def _report_error(self, error: OSError | None) -> None:
        """Notify once when writing fails, and again only if it fails after having worked."""
        if error is not None and not self._is_failing:
            why = file_error(self._directory, error, "written").message
            self._notify(f"Raw logs are incomplete: new lines cannot be saved. {why}")
        self._is_failing = error is not None

    def _masking_of(self, session_id: str, token: str) -> SecretMasker:
        """Return the mask for all secrets known now, for this session."""
        preferences = self._store.state.preferences
        if self._preference_secrets[0] is not preferences:
            self._preference_secrets = preferences, _collect_secrets(preferences)
        session_secrets = self._session_secrets.get(session_id, set())
        secrets = frozenset(
            self._preference_secrets[1] | session_secrets | ({token} if token else set())
        )
        cached = self._masks.get(session_id)
        if cached is None or cached[0] != secrets:
            cached = self._masks[session_id] = (secrets, SecretMasker(secrets))
        return cached[1]


class _SessionRecorder:
    """Records the traffic of one session's process."""

    def __init__(self, logs: RawLogs, session_id: str) -> None:
        self._logs = logs
        self._session_id = session_id

    def __call__(self, direction: Direction, message: RawMessage, kind: str = "") -> None:
        if self._logs.is_enabled:
            self._logs.enqueue(self._session_id, direction, kind, message)

    def mask_secrets(self, values: Mapping[str, Any]) -> None:
        self._logs.add_secrets(self._session_id, values)


def _as_bytes(raw: RawMessage) -> bytes:
    if isinstance(raw, bytes):
        return raw
    if not isinstance(raw, str):
        raw = json.dumps(raw, ensure_ascii=False, separators=(",", ":"))
    return raw.encode(errors="replace")


def _write(folder: Path, lines: Iterable[_Line], dropped: int, mask: SecretMasker) -> None:
    written, bytes_since_pause = [], 0
    for timestamp, direction, kind, data in lines:
        written.append(format_line(timestamp, direction, kind, data, mask))
        bytes_since_pause += len(written[-1])
        if bytes_since_pause > _PAUSE_AFTER:
            bytes_since_pause = 0
            time.sleep(_PAUSE)
    if dropped:
        note = f"{dropped:,} {plural(dropped, 'line')} dropped".encode()
        written.append(format_line(time.time(), "\u00b7", "", note, mask))
    raw_files.append(folder, written)


def _read_local_token(lock: Path) -> str:
    """Return the token of this user's running Spinney; empty if none is running."""
    try:
        running = find_running_instance(lock)
    except SpinneyError:
        return ""
    return running.token if running else ""


def _collect_secrets(preferences: Preferences) -> set[str]:
    """Return the secrets in the user's environment and preferences."""
    settings = {"http_server_token": preferences.http_server_token}
    secrets = find_named_secrets(
        {**os.environ, **settings, "tracker_api_key": preferences.tracker_api_key}
    )
    for profile in preferences.custom_cli_profiles:
        try:
            secrets |= find_named_secrets(profile.settings())
        except SpinneyError:
            continue  # agents are not started with this profile either
    return secrets
