"""An event loop for tests of the terminal: it skips the time in which nothing can happen.

Where nothing is ready and nothing outside of the loop can call it, an idle loop moves its clock to
its next timer instead of sleeping. So waits cost nothing, and a wait for what never comes ends at
once. While a worker thread runs, or a socket or another thread is there, no time is skipped.

Nor does work take time, but for a microsecond in each round, so that what is later has a later
time: a slow machine would change the order of timers and keys.
"""

import asyncio
import selectors
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from tests.patience import PATIENCE

_POLL: Final = 0.001
"""Seconds between two looks at a running worker thread."""

_real_monotonic: Final = time.monotonic
_now = _real_monotonic()
_waits_since: float | None = None
"""Since when the loop waits for what is outside of it; threads that wait see time pass, too."""


def monotonic() -> float:
    """Like `time.monotonic`, the time that loops have skipped and waited in this process."""
    since = _waits_since
    return _now if since is None else _now + max(0.0, _real_monotonic() - since)


def _pass(seconds: float) -> None:
    global _now
    _now += max(0.0, seconds)


class _Selector(selectors.DefaultSelector):
    """Waits for what is outside of the loop; meanwhile time passes."""

    def select(self, timeout: float | None = None) -> Any:
        global _waits_since
        if timeout == 0:
            return super().select(0)
        _waits_since = _real_monotonic()
        try:
            return super().select(timeout)
        finally:
            since, _waits_since = _waits_since, None
            _pass(_real_monotonic() - since)


class Gate(threading.Event):
    """Stops a worker thread until the test opens it; nothing waits for a thread that it stops."""

    lock: Final = threading.Lock()
    stopped = 0
    """Threads at all closed gates."""

    def __init__(self) -> None:
        super().__init__()
        self._mine = 0

    def wait(self, timeout: float | None = PATIENCE) -> bool:
        """Wait in a worker thread until the gate is open."""
        with Gate.lock:
            if not self.is_set():
                self._mine += 1
                Gate.stopped += 1
        return super().wait(timeout)

    def set(self) -> None:
        """Open the gate: its threads count as running again."""
        with Gate.lock:
            Gate.stopped -= self._mine
            self._mine = 0
            super().set()


class VirtualLoop(asyncio.SelectorEventLoop):
    """The loop; `drain` waits until it has nothing to do."""

    _ready: Any
    _scheduled: Any
    _selector: Any

    def __init__(self) -> None:
        super().__init__(_Selector())
        self.awaits_jobs = True
        """Whether `drain` waits for worker threads; not where the test stops what they wait for."""
        self._jobs = 0
        self._threads = set(threading.enumerate())
        """Those of pytest, which never call this loop."""

    def time(self) -> float:
        return monotonic()

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        job = super().run_in_executor(executor, func, *args)
        self._jobs += 1
        job.add_done_callback(self._end_job)
        return job

    def _end_job(self, job: object) -> None:
        self._jobs -= 1

    @property
    def has_running_jobs(self) -> bool:
        """Whether a worker thread will report a result without the test's doing."""
        return self._jobs > Gate.stopped

    @property
    def is_alone(self) -> bool:
        """Whether nothing outside of this loop can call it."""
        others = set(threading.enumerate()) - self._threads
        return (
            not self.has_running_jobs
            and len(self._selector.get_map()) == 1  # its own pipe
            and all(thread.name.startswith("asyncio_") for thread in others)  # idle workers
        )

    async def drain(self) -> None:
        """Wait until nothing is ready, and no worker thread runs."""
        await asyncio.sleep(0)
        while self._ready or (self.awaits_jobs and self.has_running_jobs):
            await asyncio.sleep(0 if self._ready else _POLL)

    def _run_once(self) -> None:
        if not self._ready and self._scheduled and self.is_alone:
            self._skip_to_next_timer()
        _pass(1e-6)
        super()._run_once()  # type: ignore[misc]

    def _skip_to_next_timer(self) -> None:
        due = [timer.when() for timer in self._scheduled if not timer.cancelled()]
        if due:
            _pass(min(due) - monotonic())
