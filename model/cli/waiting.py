"""Waits until sessions are done or need a person."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from model.base.errors import NotRunningError
from model.cli.lookup import Json, list_sessions
from model.cli.quick_call import connect_here

NEEDS_YOU: Final = 7
"""Exit code: a plan, a question or a permission waits for the user."""
PAUSED: Final = 8
"""Exit code: a session is paused until a person resumes it."""
FAILED: Final = 1
TIMED_OUT: Final = 124
"""Exit code, the same as that of `timeout`."""

_RESTART: Final = 30.0
"""Seconds for Spinney to come back after a restart."""
_RETRY: Final = 0.5
_STREAMED: Final = frozenset({"content-delta", "tool-use", "tool-running", "message-block"})
"""Events during a run, after which no session is done."""


def is_settled(row: Json) -> bool:
    """Whether nothing more happens in a session without a person."""
    if row["status"] in ("waiting", "failed"):
        return True
    if row["pause"] is not None:
        return bool(row["status"] == "paused" and row["pause"]["until"] is None)
    if row["status"] != "idle":
        return False
    if row["held"]:
        return bool(not row["queued"] or row["held"] == "failed")
    # After a stop, queued messages stay; after any other end, the next one is about to be sent.
    return bool(
        row["queued"] == row["scheduled"] or row["last_run_status"] not in (None, "completed")
    )


def exit_code_of(row: Json) -> int:
    """Return the exit code for a session that is settled."""
    if row["status"] == "waiting":
        return NEEDS_YOU
    if row["pause"] is not None:
        return PAUSED
    is_held = row["held"] == "failed" and row["queued"]
    is_complete = row["last_run_status"] in (None, "completed") and row["status"] != "failed"
    return FAILED if is_held or not is_complete else 0


def join_exit_codes(rows: Sequence[Json]) -> int:
    """Return the exit code for several sessions: a failure counts most."""
    codes = [exit_code_of(row) for row in rows]
    return next((code for code in (FAILED, NEEDS_YOU, PAUSED) if code in codes), 0)


def wait_for(
    session_ids: Sequence[str],
    timeout: float | None,
    *,
    only_first: bool = False,
    report: Callable[[Json], None] = lambda _: None,
) -> list[Json] | None:
    """Return the rows of the sessions once they are settled, or (`only_first`) one of them is.

    `report` is called once for each that is. A session that is deleted counts as missing. Returns
    `None` after `timeout` seconds. Survives a restart of Spinney. Raises `SpinneyError`.
    """
    until = None if timeout is None else time.monotonic() + timeout
    waiting = _Waiting(session_ids, until, only_first, report)
    lost_at: float | None = None
    while True:
        try:
            return waiting.run()
        except NotRunningError:
            now = time.monotonic()
            lost_at = now if waiting.was_connected or lost_at is None else lost_at
            if not waiting.has_begun or now - lost_at > _RESTART:
                raise
            if until is not None and now > until:
                return None
            time.sleep(_RETRY)


class _Waiting:
    """The sessions that are waited for, on one connection after the other."""

    def __init__(
        self,
        session_ids: Sequence[str],
        until: float | None,
        only_first: bool,
        report: Callable[[Json], None],
    ) -> None:
        self._ids = session_ids
        self._until = until
        self._only_first = only_first
        self._report = report
        self._reported: set[str] = set()
        self.has_begun = False
        """Whether there was a connection at all."""
        self.was_connected = False
        """Whether there was one in the last run."""

    def run(self) -> list[Json] | None:
        """Wait on a new connection."""
        self.was_connected = False
        with connect_here("?since=0") as connection:
            self.has_begun = self.was_connected = True
            while True:
                all_rows = list_sessions(connection, archived="include")
                rows = [row for row in all_rows if row["id"] in self._ids]
                settled = [row for row in rows if is_settled(row)]
                for row in settled:
                    if row["id"] not in self._reported:
                        self._reported.add(row["id"])
                        self._report(row)
                if len(settled) == len(rows) or (settled and self._only_first):
                    return settled
                places = {*self._ids, *(row["worktree_id"] for row in rows)}
                frames = connection.events(self._until)
                if not any(_concerns(frame, places) for frame in frames):
                    return None


def _concerns(frame: Json, ids: set[str]) -> bool:
    """Whether an event may settle one of these sessions or worktrees."""
    if frame["event"] in _STREAMED:
        return False
    data = frame.get("data") or frame.get("payload") or {}
    worktree = data.get("worktree") or {}
    keys = (data.get("session_id"), data.get("worktree_id"), data.get("id"), worktree.get("id"))
    return not ids.isdisjoint(keys) or frame["event"] == "events-missed"
