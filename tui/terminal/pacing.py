"""Flow control for the terminal, so that no output queues up behind a backlog.

Over SSH the kernel accepts everything immediately, and the output is buffered on the way. So each
frame ends with a status query, and its answer acknowledges the frame. Latency and rate of the line
are estimated from the answers. If a terminal does not answer, the next frame is written when the
kernel has accepted the last one.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

STATUS_QUERY: Final = "\x1b[5n"
"""The device status query, answered by `ESC [ 0 n`. Every terminal since the VT100 supports it;
tmux and GNU screen answer it themselves."""
RECHECK_INTERVAL: Final = 0.01
"""Seconds between two checks whether the kernel has accepted a frame."""
FIRST_ANSWER_TIMEOUT: Final = 2.0
"""Seconds to wait for a terminal that has never answered."""
STALL_TIMEOUT: Final = 30.0
"""The same for one that has answered before: the line is stalled."""
_MAX_BUSY: Final = 0.05
"""Seconds that the line may still be busy when the next frame is written to it."""
_MAX_FRAME_TIME: Final = 0.15
"""Maximum seconds for a frame; the rest is drawn by the next ones. A key waits no longer."""
_MIN_BYTES: Final = 256
"""Bytes that a frame may always have, however slow the line is."""
_MIN_SAMPLE: Final = 100
"""Minimum bytes of a frame for measuring the rate."""
_DECAY: Final = 0.8
"""Weight of older frames in the rate, relative to the newest one."""
_LATENCY_GAIN: Final = 0.05
"""Share of the difference by which a longer round trip raises the latency."""
_MAX_SLOWDOWN: Final = 4
"""Maximum factor by which a single answer can be slower than estimated."""
_TOLERANCE: Final = 0.25
"""Seconds that an answer may be late before the line is considered slower than estimated."""


class _Sent(NamedTuple):
    size: int
    at: float
    expected: float
    """When its answer is expected."""
    is_alone: bool
    """Whether the line was idle."""


class Pacer:
    """Estimates of the line. `is_drained` returns whether the kernel has accepted all output."""

    def __init__(
        self,
        is_drained: Callable[[], bool],
        *,
        sends_queries: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_drained = is_drained
        self._sends_queries = sends_queries
        self._clock = clock
        self._unanswered: deque[_Sent] = deque()
        self._latency: float | None = None
        """The shortest round trip, raised slowly."""
        self._last_answer = 0.0
        self._bytes = self._seconds = 0.0

    @property
    def query(self) -> str:
        """The query to append to a frame; empty if the terminal does not answer."""
        return STATUS_QUERY if self._sends_queries else ""

    @property
    def rate(self) -> float | None:
        """Bytes per second, or `None` if unknown."""
        return self._bytes / max(self._seconds, 1e-4) if self._bytes else None

    @property
    def limit(self) -> int | None:
        """Maximum bytes of the next frame; `None` if unlimited."""
        return (
            max(_MIN_BYTES, int(self.rate * _MAX_FRAME_TIME))
            if self._sends_queries and self.rate
            else None
        )

    def wait(self) -> float:
        """Seconds until the next frame may be written, or until `wait` should be called again."""
        if not self._is_drained():
            return RECHECK_INTERVAL
        if not self._unanswered:
            return 0.0
        now = self._clock()
        latency = self._latency
        remaining = (
            self._unanswered[0].at
            + (FIRST_ANSWER_TIMEOUT if latency is None else STALL_TIMEOUT)
            - now
        )
        if remaining <= 0:
            self._sends_queries = latency is not None
            self._unanswered.clear()
            return 0.0
        if latency is None:
            # No answer yet: one frame may follow the first query.
            return (
                remaining
                if sum(sent.size for sent in self._unanswered) > len(STATUS_QUERY)
                else 0.0
            )
        if self.rate is None or now > self._unanswered[0].expected + latency + _TOLERANCE:
            return remaining
        return max(0.0, self._unanswered[-1].expected - latency - now - _MAX_BUSY)

    def note_sent(self, size: int) -> None:
        """Note that a frame of `size` bytes and its query were written."""
        if not self._sends_queries:
            return
        now = self._clock()
        expected = now + (self._latency or 0.0)
        if self._unanswered:
            expected = max(expected, self._unanswered[-1].expected)
        expected += size / self.rate if self.rate else 0.0
        self._unanswered.append(_Sent(size, now, expected, not self._unanswered))

    def receive(self) -> None:
        """Note that the terminal has answered."""
        self._sends_queries = True
        if not self._unanswered:
            return  # the answer to an abandoned query
        now, sent = self._clock(), self._unanswered.popleft()
        self._learn_latency(now - sent.at, sent)
        if sent.size >= _MIN_SAMPLE:
            started_at = max(self._last_answer, sent.at + (self._latency or 0.0))
            duration = max(0.0, now - started_at)
            if self.rate:  # A stall must not lower the rate for long.
                duration = min(duration, _MAX_SLOWDOWN * sent.size / self.rate + _TOLERANCE)
            self._bytes = self._bytes * _DECAY + sent.size
            self._seconds = self._seconds * _DECAY + duration
        self._last_answer = now

    def _learn_latency(self, round_trip: float, sent: _Sent) -> None:
        # Never from frames that may have queued: an overestimated latency makes the line seem
        # faster than it is, so output queues, and the latency seems even longer.
        if self._latency is None or round_trip < self._latency:
            self._latency = round_trip
        elif sent.is_alone and sent.size < _MIN_SAMPLE:
            self._latency += (round_trip - self._latency) * _LATENCY_GAIN

    def forget(self) -> None:
        """Forget pending queries, because another program used the terminal."""
        self._unanswered.clear()
