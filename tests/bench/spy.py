"""The stream that Textual writes to, watched: when a text or anything at all leaves the process."""

import asyncio
import sys
import time
from typing import Any, TextIO

Moment = tuple[float, float]
"""The wall clock and the CPU seconds of the process."""


class Spy:
    """Stands in for a stream. Written to by Textual's writing thread, watched from its loop."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._last: Moment = (0.0, 0.0)
        self._marker = ""
        self._seen: asyncio.Future[Moment] | None = None

    def write(self, text: str) -> int:
        """Pass it on, then note the moment."""
        count = self._stream.write(text)
        self._stream.flush()
        self._last = (time.perf_counter(), time.process_time())
        seen = self._seen
        if seen is not None and self._marker in text:
            self._seen = None
            seen.get_loop().call_soon_threadsafe(seen.set_result, self._last)
        return count

    def watch(self, marker: str) -> "asyncio.Future[Moment]":
        """The moment at which the marker is written next; an empty one is found in any text."""
        self._marker = marker
        self._seen = asyncio.get_running_loop().create_future()
        return self._seen

    async def quiet(self, seconds: float) -> Moment:
        """The last write after which nothing was written for so long."""
        while time.perf_counter() - self._last[0] < seconds:
            await asyncio.sleep(seconds / 5)
        return self._last

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def spy_on_terminal() -> Spy:
    """Watch the stream that Textual takes for its terminal; to be called before it starts."""
    assert sys.__stderr__ is not None
    spy = Spy(sys.__stderr__)
    sys.__stderr__ = spy  # type: ignore[assignment, misc]
    return spy
