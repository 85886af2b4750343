"""Helpers of the served programs: publishing with flow control, and measuring loop delays."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import psutil

from tests.bench.programs import Progress, say
from tests.bench.tables import percentile

IN_FLIGHT = 500
"""Maximum lag of the slowest client in events: half the capacity of Spinney's bus."""

DETAIL_LENGTH = 120

BEAT = 0.005


def make_detail(number: int) -> str:
    """Return the text of event `number`; all have the same length."""
    return f"{number:08d}".ljust(DETAIL_LENGTH, ".")


async def publish_all(
    publish: Callable[[str], object],
    events: int,
    per_turn: int,
    frame_size: int,
    progress: Progress,
) -> dict[str, float]:
    """Publish `per_turn` events per loop iteration until all clients have received all.

    Returns wall and CPU seconds.
    """
    began, cpu = time.perf_counter(), time.process_time()
    published = 0
    while published < events:
        if published - progress.get() // frame_size > IN_FLIGHT:
            await asyncio.sleep(0.0005)
            continue
        for number in range(published + 1, published + per_turn + 1):
            publish(make_detail(number))
        published += per_turn
        await asyncio.sleep(0)
    while progress.get() < events * frame_size:
        await asyncio.sleep(0.0005)
    return {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - cpu,
    }


class LoopWatch:
    """Measures the delay of a periodic task on the event loop.

    `late` is wall time, `held` is wall time without the time in which the thread waited for a
    processor, and `busy` is CPU time. Blocking calls without computation, such as for a file or a
    lock, are included in `held` and not in `busy`.
    """

    def __init__(self) -> None:
        self._thread = _open_schedstat()
        self._late: list[float] = []
        self._held: list[float] = []
        self._busy: list[float] = []
        self._memory = psutil.Process().memory_info().rss
        self._cpu = time.process_time()
        self._task = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        while True:
            began, cpu, queued = time.perf_counter(), time.thread_time(), self._wait_time()
            await asyncio.sleep(BEAT)
            late = max(0.0, time.perf_counter() - began - BEAT)
            self._late.append(late)
            self._held.append(max(0.0, late - (self._wait_time() - queued)))
            self._busy.append(time.thread_time() - cpu)

    def _wait_time(self) -> float:
        """Return the seconds that the loop's thread has waited for a processor."""
        if self._thread is None:
            return 0.0
        return int(os.pread(self._thread, 100, 0).split()[1]) / 1e9

    def stop(self) -> dict[str, float]:
        """Return the delays in seconds and the growth of memory in bytes."""
        self._task.cancel()
        if self._thread is not None:
            os.close(self._thread)
        return {
            "cpu": time.process_time() - self._cpu,
            "late_p99": percentile(self._late, 0.99),
            "late_max": max(self._late, default=0.0),
            "held_p99": percentile(self._held, 0.99),
            "held_max": max(self._held, default=0.0),
            "busy_p99": percentile(self._busy, 0.99),
            "busy_max": max(self._busy, default=0.0),
            "grown": psutil.Process().memory_info().rss - self._memory,
        }


def _open_schedstat() -> int | None:
    """Open the scheduler statistics of this thread; `None` if the system has none."""
    try:
        return os.open("/proc/thread-self/schedstat", os.O_RDONLY)
    except OSError:
        return None


async def answer_lines(answer: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]) -> None:
    """Answer each line of stdin until it is closed."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        say(await answer(json.loads(line)))
