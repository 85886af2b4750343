"""The line between page and Spinney for callers without a loop: it has a thread of its own."""

import asyncio
from collections.abc import Coroutine
from threading import Thread
from typing import Any

from tests.page.line import Line
from tests.patience import PATIENCE


class PageLine:
    """A line that can be cut and restored."""

    def __init__(self, target: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._line = Line(target)
        self.base_url = self._line.base_url
        self.is_whole = False
        self.restore()

    def restore(self) -> None:
        """Let connections through."""
        self._run(self._line.restore())
        self.is_whole = True

    def cut(self) -> None:
        """Break all connections, and refuse others until it is restored."""
        self.is_whole = False
        self._run(self._line.cut())

    def close(self) -> None:
        """Cut it for good, and end the thread."""
        if self.is_whole:
            self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)
