"""A wrapper of the stream that Textual writes to, which records when text is written."""

import asyncio
import sys
import time
from typing import Any, TextIO

Moment = tuple[float, float]
"""Wall clock time and CPU seconds of the process."""


class Spy:
    """Wraps a stream. Textual's writing thread writes to it; the event loop watches it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._last: Moment = (0.0, 0.0)
        self._marker = ""
        self._seen: asyncio.Future[Moment] | None = None

    def write(self, text: str) -> int:
        """Write the text, then record the time."""
        count = self._stream.write(text)
        self._stream.flush()
        self._last = (time.perf_counter(), time.process_time())
        seen = self._seen
        if seen is not None and self._marker in text:
            self._seen = None
            seen.get_loop().call_soon_threadsafe(seen.set_result, self._last)
        return count

    def watch(self, marker: str) -> "asyncio.Future[Moment]":
        """Return a future for the time of the next write that contains the marker."""
        self._marker = marker
        self._seen = asyncio.get_running_loop().create_future()
        return self._seen

    async def quiet(self, seconds: float) -> Moment:
        """Wait until nothing is written for `seconds`; return the time of the last write."""
        while time.perf_counter() - self._last[0] < seconds:
            await asyncio.sleep(seconds / 5)
        return self._last

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def spy_on_terminal() -> Spy:
    """Wrap the stream that Textual writes to; to be called before it starts."""
    assert sys.__stderr__ is not None
    spy = Spy(sys.__stderr__)
    sys.__stderr__ = spy  # type: ignore[assignment, misc]
    return spy
