"""The core thread: one event loop for model and server that no terminal can block.

A terminal that stops reading blocks the loop that writes to it. Only Textual runs on that loop;
everything else runs on this thread and continues.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_STOP_TIMEOUT = 30.0
"""Seconds for canceled tasks to end."""


class Core:
    """A thread with a running event loop; other threads access it only through these methods."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="spinney-core", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.close()

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run a coroutine on the core's loop; canceling the future cancels it there."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the core's loop and await it on the caller's."""
        return await asyncio.wrap_future(self.submit(work))

    def tell(self, callback: Callable[..., object], *args: Any) -> None:
        """Call a function on the core's loop soon."""
        self.loop.call_soon_threadsafe(callback, *args)

    def stop(self) -> None:
        """Cancel the remaining tasks and end the thread."""
        if not self._thread.is_alive():
            return
        self.submit(_cancel_others()).result(timeout=_STOP_TIMEOUT)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=_STOP_TIMEOUT)


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
