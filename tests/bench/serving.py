"""What the served programs share: publishing as fast as clients take it, and watching a loop."""

import asyncio
import json
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
    """Measures how long the loop kept a beat waiting, by the wall and by its own CPU time.

    The wall also counts what other programs on the machine took; the thread's CPU time between two
    beats does not.
    """

    def __init__(self) -> None:
        self._late: list[float] = []
        self._busy: list[float] = []
        self._memory = psutil.Process().memory_info().rss
        self._cpu = time.process_time()
        self._task = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        while True:
            began, cpu = time.perf_counter(), time.thread_time()
            await asyncio.sleep(BEAT)
            self._late.append(max(0.0, time.perf_counter() - began - BEAT))
            self._busy.append(time.thread_time() - cpu)

    def stop(self) -> dict[str, float]:
        """Seconds, and bytes of memory that came to stay."""
        self._task.cancel()
        return {
            "cpu": time.process_time() - self._cpu,
            "late_p99": percentile(self._late, 0.99),
            "late_max": max(self._late, default=0.0),
            "busy_p99": percentile(self._busy, 0.99),
            "busy_max": max(self._busy, default=0.0),
            "grown": psutil.Process().memory_info().rss - self._memory,
        }


async def answer_lines(answer: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]) -> None:
    """Answer each line of stdin until it closes."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        say(await answer(json.loads(line)))
