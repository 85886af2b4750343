"""Raw logs: everything that sessions' programs are sent and say, while a person wants it.

Lines wait in one bounded queue; one writer makes them readable and writes them, in other threads.
Who speaks never waits: what does not fit into the queue is counted, and the log tells how much.
"""

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from model.backends.traffic import Direction, Raw, Record
from model.base.errors import SpinneyError
from model.base.instance import running_here
from model.base.masking import Masking, named_secrets
from model.base.paths import Directories, unsaved
from model.chat import raw_files
from model.chat.raw_lines import raw_line
from model.chat.tool_outputs import remove_folders
from model.domain.output import RawLog
from model.preferences.schema import Preferences
from model.store.store import Store

WAITING: Final = 4 * 1024 * 1024
"""Bytes of lines that wait; further ones are left out."""

_EACH: Final = 200
"""Bytes that a waiting line costs besides."""

READ_PATIENCE: Final = 0.5
"""Seconds that who reads waits for what is being written."""

GATHER: Final = 0.05
"""Seconds in which lines gather until they are written together."""

_log = logging.getLogger(__name__)

_REST_AFTER: Final = 32 * 1024
_REST: Final = 0.005
"""Bytes that are made readable at a stretch, some milliseconds of work, and seconds of rest for the
loops, which have the interpreter then: what comes faster is left out all the same."""

_Line = tuple[float, Direction, str, bytes]


class RawLogs:
    """The logs of all sessions; `tell` hears a sentence when they cannot be written."""

    def __init__(self, directories: Directories, store: Store, tell: Callable[[str], None]) -> None:
        self._directory = directories.raw_logs
        self._lock = directories.lock
        self._store = store
        self._tell = tell
        self._waiting: dict[str, list[_Line]] = {}
        self._size = 0
        self._left_out: dict[str, int] = {}
        self._hidden: dict[str, set[str]] = {}
        """By session, what its program has of secrets."""
        self._known: tuple[Preferences | None, set[str]] = (None, set())
        self._masks: dict[str, tuple[frozenset[str], Masking]] = {}
        self._round: asyncio.Task[None] | None = None
        """Writes what waits."""
        self._failing = False

    @property
    def is_on(self) -> bool:
        """Whether a person wants to know."""
        return self._store.state.preferences.debug_mode_enabled

    def record_of(self, session_id: str, hidden: Mapping[str, Any]) -> Record:
        """What takes the words of a session; of `hidden`, what is named like a secret is masked."""
        record = _SessionRecord(self, session_id)
        record.hide(hidden)
        return record

    def take(self, session_id: str, direction: Direction, kind: str, said: Raw) -> None:
        """Have a line written, if there is room for it in the queue."""
        if session_id not in self._store.state.sessions:
            return
        data = _as_bytes(said)
        size = len(data) + len(kind) + _EACH
        if self._size and self._size + size > WAITING:
            self._leave_out(session_id, 1)
            return
        self._size += size
        self._waiting.setdefault(session_id, []).append((time.time(), direction, kind, data))
        if self._round is None:
            self._round = asyncio.get_running_loop().create_task(self._write_soon())

    def hide(self, session_id: str, values: Mapping[str, Any]) -> None:
        """Never write down those of these values that are named like secrets."""
        if found := named_secrets(values):
            self._hidden.setdefault(session_id, set()).update(found)

    async def read(
        self, session_id: str, before: int | None, after: int | None, limit: int
    ) -> RawLog:
        """A piece of a session's log, see `raw_files.read`; an empty one where there is none.

        What was just said is in it, unless so much waits that one would wait for long.
        """
        await self.settled(READ_PATIENCE)
        folder, is_on = self._directory / session_id, self.is_on
        return await asyncio.to_thread(
            raw_files.read, folder, before, after, limit, recording=is_on
        )

    async def remove_all_but(self, session_ids: Collection[str]) -> None:
        """Remove what belongs to no session any more."""
        await self.settled()
        for gone in self._hidden.keys() - session_ids:
            del self._hidden[gone]
        for gone in self._masks.keys() - session_ids:
            del self._masks[gone]
        # One that was made meanwhile may have its first lines already.
        kept = frozenset((*session_ids, *self._store.state.sessions))
        await asyncio.to_thread(remove_folders, self._directory, kept)

    async def settled(self, patience: float | None = None) -> None:
        """Wait until all that was said by now is written, at most about so many seconds."""
        for _ in range(2):  # what is being written, and what waits behind it
            if self._round is not None:
                await asyncio.wait([self._round], timeout=patience)

    async def close(self) -> None:
        """Write what waits."""
        await self.settled()

    async def _write_soon(self) -> None:
        await asyncio.sleep(GATHER)
        waiting, self._waiting, self._size = self._waiting, {}, 0
        left_out, self._left_out = self._left_out, {}
        try:
            token = await asyncio.to_thread(_own_token, self._lock)
            error: OSError | None = None
            for session_id in self._store.state.sessions.keys() & {*waiting, *left_out}:
                lines, more = waiting.get(session_id, []), left_out.get(session_id, 0)
                folder, masked = self._directory / session_id, self._mask(session_id, token)
                try:
                    await asyncio.to_thread(_write, folder, lines, more, masked)
                except OSError as found:
                    error = found
                    self._leave_out(session_id, len(lines) + more)
            self._tell_of(error)
        except Exception:
            _log.exception("the raw logs could not be written")
        finally:
            self._round = None
            if self._waiting:
                self._round = asyncio.get_running_loop().create_task(self._write_soon())

    def _leave_out(self, session_id: str, lines: int) -> None:
        self._left_out[session_id] = self._left_out.get(session_id, 0) + lines

    def _tell_of(self, error: OSError | None) -> None:
        """Say once that they cannot be written; after a time when they could, once more."""
        if error is not None and not self._failing:
            why = unsaved(self._directory, error, "written").message
            self._tell(f"Raw logs lack what agents say now. {why}")
        self._failing = error is not None

    def _mask(self, session_id: str, token: str) -> Masking:
        """What is known to be secret now, for this session."""
        preferences = self._store.state.preferences
        if self._known[0] is not preferences:
            self._known = preferences, _secrets_of(preferences)
        hidden = self._hidden.get(session_id, set())
        secrets = frozenset(self._known[1] | hidden | ({token} if token else set()))
        earlier = self._masks.get(session_id)
        if earlier is None or earlier[0] != secrets:
            earlier = self._masks[session_id] = (secrets, Masking(secrets))
        return earlier[1]


class _SessionRecord:
    """What one session's program is sent and says."""

    def __init__(self, logs: RawLogs, session_id: str) -> None:
        self._logs = logs
        self._session_id = session_id

    def __call__(self, direction: Direction, said: Raw, kind: str = "") -> None:
        if self._logs.is_on:
            self._logs.take(self._session_id, direction, kind, said)

    def hide(self, values: Mapping[str, Any]) -> None:
        self._logs.hide(self._session_id, values)


def _as_bytes(said: Raw) -> bytes:
    if isinstance(said, bytes):
        return said
    if not isinstance(said, str):
        said = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    return said.encode(errors="replace")


def _write(folder: Path, lines: Iterable[_Line], left_out: int, masked: Masking) -> None:
    written, unrested = [], 0
    for at, to, kind, said in lines:
        written.append(raw_line(at, to, kind, said, masked))
        unrested += len(written[-1])
        if unrested > _REST_AFTER:
            unrested = 0
            time.sleep(_REST)
    if left_out:
        words = f"{left_out:,} {'line' if left_out == 1 else 'lines'} left out".encode()
        written.append(raw_line(time.time(), "\u00b7", "", words, masked))
    raw_files.append(folder, written)


def _own_token(lock: Path) -> str:
    """That by which this user's other terminals come in; empty where nobody serves them."""
    try:
        running = running_here(lock)
    except SpinneyError:
        return ""
    return running.token if running else ""


def _secrets_of(preferences: Preferences) -> set[str]:
    """What a person's environment and settings hold of secrets."""
    own = {"http_server_token": preferences.http_server_token}
    found = named_secrets({**os.environ, **own, "tracker_api_key": preferences.tracker_api_key})
    for profile in preferences.custom_cli_profiles:
        try:
            found |= named_secrets(profile.settings())
        except SpinneyError:
            continue  # agents are not started with it either
    return found
