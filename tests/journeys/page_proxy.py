"""Synchronous proxy between the page and Spinney, with an event loop in a thread."""

import asyncio
from collections.abc import Coroutine
from threading import Thread
from typing import Any

from tests.page.proxy import Proxy
from tests.patience import PATIENCE


class PageProxy:
    """A connection that can be cut and restored."""

    def __init__(self, target: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._proxy = Proxy(target)
        self.base_url = self._proxy.base_url
        self.is_connected = False
        self.restore()

    def restore(self) -> None:
        """Let connections through."""
        self._run(self._proxy.restore())
        self.is_connected = True

    def cut(self) -> None:
        """Break all connections, and refuse new ones until `restore` is called."""
        self.is_connected = False
        self._run(self._proxy.cut())

    def close(self) -> None:
        """Break all connections and end the thread."""
        if self.is_connected:
            self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)
