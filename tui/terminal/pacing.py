"""How much may be written to a terminal now, so that nothing ever waits behind a backlog.

Over SSH the kernel takes everything at once, and it waits somewhere on the way. What tells that it
has arrived is an answer: each frame ends with a question whose answer is a receipt for it. Latency
and rate of the line follow from those. A terminal that does not answer is written to when the
kernel has taken the last frame.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

ASK: Final = "\x1b[5n"
"""Is the terminal well? It answers `ESC [ 0 n`. Every one since the VT100 does, tmux and GNU screen
for themselves."""
LOOK_AGAIN: Final = 0.01
"""Seconds until it is looked again whether the kernel has taken a frame."""
UNANSWERED: Final = 2.0
"""Seconds after which a terminal that has never answered is not waited for."""
STALLED: Final = 30.0
"""The same for one that has answered before: the line stands still."""
_AHEAD: Final = 0.05
"""Seconds that the line may still be busy when the next frame is written."""
_PIECE: Final = 0.15
"""Seconds that a frame may take; the rest is drawn by the next ones. A key waits no longer."""
_LEAST: Final = 256
"""Bytes that are written at once, however slow the line is."""
_TELLING: Final = 100
"""Bytes from which a frame tells something of the rate."""
_MEMORY: Final = 0.8
"""What older frames count for in the rate, beside the newest."""
_RISE: Final = 0.05
"""By what share of the difference the latency is taken for longer."""
_SLOWER: Final = 4
"""How many times slower than was thought a line is that one answer came over."""
_LATENESS: Final = 0.25
"""Seconds that an answer may be late before the line is taken for slower than was thought."""


class _Sent(NamedTuple):
    size: int
    at: float
    expected: float
    """When its receipt should come."""
    is_alone: bool
    """Whether the line was free."""


class Pacer:
    """What is known of the line. `is_taken` tells whether the kernel has what was written."""

    def __init__(
        self,
        is_taken: Callable[[], bool],
        *,
        asks: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_taken = is_taken
        self._asks = asks
        self._clock = clock
        self._open: deque[_Sent] = deque()
        self._latency: float | None = None
        """The shortest time that an answer took."""
        self._last_receipt = 0.0
        self._bytes = self._seconds = 0.0

    @property
    def question(self) -> str:
        """What is written behind a frame."""
        return ASK if self._asks else ""

    @property
    def rate(self) -> float | None:
        """Bytes a second, or `None` where that is not known."""
        return self._bytes / max(self._seconds, 1e-4) if self._bytes else None

    @property
    def limit(self) -> int | None:
        """Bytes that the next frame may have; `None` for as many as it needs."""
        return max(_LEAST, int(self.rate * _PIECE)) if self._asks and self.rate else None

    def wait(self) -> float:
        """Seconds until the next frame may be written, or until that is to be asked again."""
        if not self._is_taken():
            return LOOK_AGAIN
        if not self._open:
            return 0.0
        now = self._clock()
        latency = self._latency
        patience = self._open[0].at + (UNANSWERED if latency is None else STALLED) - now
        if patience <= 0:
            self._asks = latency is not None
            self._open.clear()
            return 0.0
        if latency is None:
            # Nobody has answered yet: one frame goes behind the first question.
            return patience if sum(sent.size for sent in self._open) > len(ASK) else 0.0
        if self.rate is None or now > self._open[0].expected + latency + _LATENESS:
            return patience
        return max(0.0, self._open[-1].expected - latency - now - _AHEAD)

    def sent(self, size: int) -> None:
        """A frame of so many bytes was written, and its question."""
        if not self._asks:
            return
        now = self._clock()
        expected = now + (self._latency or 0.0)
        if self._open:
            expected = max(expected, self._open[-1].expected)
        expected += size / self.rate if self.rate else 0.0
        self._open.append(_Sent(size, now, expected, not self._open))

    def receive(self) -> None:
        """The terminal has answered."""
        self._asks = True
        if not self._open:
            return  # the answer to what was given up
        now, sent = self._clock(), self._open.popleft()
        self._learn_latency(now - sent.at, sent)
        if sent.size >= _TELLING:
            began = max(self._last_receipt, sent.at + (self._latency or 0.0))
            took = max(0.0, now - began)
            if self.rate:  # A line that stood still is not slow for long afterwards.
                took = min(took, _SLOWER * sent.size / self.rate + _LATENESS)
            self._bytes = self._bytes * _MEMORY + sent.size
            self._seconds = self._seconds * _MEMORY + took
        self._last_receipt = now

    def _learn_latency(self, trip: float, sent: _Sent) -> None:
        # Never from what may have waited: a latency thought too long makes the line seem faster
        # than it is, what is written then waits, and the latency seems longer still.
        if self._latency is None or trip < self._latency:
            self._latency = trip
        elif sent.is_alone and sent.size < _TELLING:
            self._latency += (trip - self._latency) * _RISE

    def forget(self) -> None:
        """The terminal was somebody else's: no answer is open."""
        self._open.clear()
