"""A pytest plugin that delays worker threads and the event loop at random.

`pytest -p tests.delays` finds tests that pass only while nothing stalls: the result of a thread
arrives late, and the loop pauses between two steps. `SPINNEY_DELAYS` is the seed (default 0).
"""

import asyncio
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor
from random import Random
from typing import Any, Final

LONGEST: Final = 0.025
"""Seconds; a thread can be delayed twice, before and after its work."""

SHARE: Final = 0.4
"""The share of calls in threads that are delayed; of the loop's steps it is a twentieth of this."""

_random = Random(int(os.environ.get("SPINNEY_DELAYS", "0")))
_run_in_executor: Callable[..., Any] = asyncio.BaseEventLoop.run_in_executor
_run_once: Callable[..., Any] = asyncio.BaseEventLoop._run_once  # type: ignore[attr-defined]


def _pick_delay(share: float) -> float:
    return _random.random() * LONGEST if _random.random() < share else 0.0


def _run_late(
    self: asyncio.BaseEventLoop, executor: Executor | None, work: Callable[..., Any], *given: Any
) -> Any:
    before, after = _pick_delay(SHARE), _pick_delay(SHARE)

    def work_late() -> Any:
        time.sleep(before)
        try:
            return work(*given)
        finally:
            time.sleep(after)

    return _run_in_executor(self, executor, work_late)


def _step_late(self: asyncio.BaseEventLoop) -> None:
    time.sleep(_pick_delay(SHARE / 20))
    _run_once(self)


asyncio.BaseEventLoop.run_in_executor = _run_late  # type: ignore[method-assign, assignment]
asyncio.BaseEventLoop._run_once = _step_late  # type: ignore[attr-defined]
