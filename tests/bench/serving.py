"""What the served programs share: publishing as fast as clients take it, and watching a loop."""

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
"""Events that the slowest client may be behind: half of what Spinney's bus holds for it."""

DETAIL_LENGTH = 120

BEAT = 0.005


def detail(number: int) -> str:
    """The text of event `number`: all events are equally long."""
    return f"{number:08d}".ljust(DETAIL_LENGTH, ".")


async def publish_all(
    publish: Callable[[str], object],
    events: int,
    per_turn: int,
    frame_size: int,
    progress: Progress,
) -> dict[str, float]:
    """Publish in turns of the loop until all clients have all; wall and CPU seconds."""
    began, cpu = time.perf_counter(), time.process_time()
    published = 0
    while published < events:
        if published - progress.get() // frame_size > IN_FLIGHT:
            await asyncio.sleep(0.0005)
            continue
        for number in range(published + 1, published + per_turn + 1):
            publish(detail(number))
        published += per_turn
        await asyncio.sleep(0)
    while progress.get() < events * frame_size:
        await asyncio.sleep(0.0005)
    return {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - cpu,
    }


class LoopWatch:
    """Measures how long the loop kept a beat waiting: by the wall (late), by the wall without the
    time in which the thread could have run but other programs did (held), by its CPU time (busy).

    What holds a loop without computing, such as a file or a lock, is in held and not in busy.
    """

    def __init__(self) -> None:
        self._thread = _scheduled()
        self._late: list[float] = []
        self._held: list[float] = []
        self._busy: list[float] = []
        self._memory = psutil.Process().memory_info().rss
        self._cpu = time.process_time()
        self._task = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        while True:
            began, cpu, queued = time.perf_counter(), time.thread_time(), self._queued()
            await asyncio.sleep(BEAT)
            late = max(0.0, time.perf_counter() - began - BEAT)
            self._late.append(late)
            self._held.append(max(0.0, late - (self._queued() - queued)))
            self._busy.append(time.thread_time() - cpu)

    def _queued(self) -> float:
        """Seconds that the loop's thread has waited for a processor."""
        if self._thread is None:
            return 0.0
        return int(os.pread(self._thread, 100, 0).split()[1]) / 1e9

    def stop(self) -> dict[str, float]:
        """Seconds, and bytes of memory that came to stay."""
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


def _scheduled() -> int | None:
    """A descriptor of what the system knows of this thread's turns; `None` where it counts none."""
    try:
        return os.open("/proc/thread-self/schedstat", os.O_RDONLY)
    except OSError:
        return None


async def answer_lines(answer: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]) -> None:
    """Answer each line of stdin until it closes."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        say(await answer(json.loads(line)))
