"""Sends the messages of one channel, one after another, and tries again what failed."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Final

from model.base.errors import SpinneyError
from model.domain.events.notices import NoticesSent
from model.domain.notices import NoticeChannel
from model.notices.outgoing import Channel, DeliveryError, Outgoing
from model.store.store import Store

FIRST_DELAY: Final = 1.0
LONGEST_DELAY: Final = 300.0
"""Seconds between two tries; doubled after each failure, from the first to the longest."""

GIVE_UP: Final = 3600.0
"""Seconds after the first failure when what could not be sent is given up."""

_SENDING: Final = 30.0
"""Seconds that a channel has for a message."""

_REPORTED_AFTER: Final = 3
"""Failures in a row after which a person hears of it; a short loss of the network is no news."""

_MAX_WITHDRAWN: Final = 100
"""Messages that wait to be taken back."""

_log = logging.getLogger(__name__)


class Delivery:
    """The messages of one channel.

    Args:
        channel: What sends.
        store: Saved before each message, so that none is sent twice after a crash.
        on_free: Called when the next message can be sent, or tried again.
        report: Called with the channel and why it fails, or `None` when it works again.
        monotonic: Returns seconds.
    """

    def __init__(
        self,
        channel: Channel,
        store: Store,
        on_free: Callable[[], None],
        report: Callable[[NoticeChannel, str | None], None],
        monotonic: Callable[[], float],
    ) -> None:
        self._channel = channel
        self._store = store
        self._on_free = on_free
        self._report = report
        self._monotonic = monotonic
        self._queue: deque[tuple[Outgoing, NoticesSent, Callable[[NoticesSent, float], None]]]
        self._queue = deque()
        self._withdrawn: deque[str] = deque(maxlen=_MAX_WITHDRAWN)
        self._task: asyncio.Task[None] | None = None
        self._failing_since: float | None = None
        self._failures = 0
        self._retry_at = 0.0
        self._reported = ""

    @property
    def is_free(self) -> bool:
        """Whether no message is being sent."""
        return self._task is None

    @property
    def delay(self) -> float:
        """Seconds until the next try after a failure."""
        return max(0.0, self._retry_at - self._monotonic())

    def send(
        self,
        message: Outgoing,
        event: NoticesSent,
        put_back: Callable[[NoticesSent, float], None],
    ) -> None:
        """Send a message soon; `put_back(event, due)` is called if it is to be tried again."""
        self._queue.append((message, event, put_back))
        self._start()

    def withdraw(self, key: str) -> None:
        """Take a message back soon, if it was sent and the service can do that."""
        self._withdrawn.append(key)
        self._start()

    async def close(self) -> None:
        """Stop sending. What was not sent is sent again after the next start."""
        for _, event, put_back in self._queue:
            put_back(event, event.at)
        self._queue.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="notice-delivery")

    async def _work(self) -> None:
        try:
            while self._queue or self._withdrawn:
                if self._queue:
                    await self._send(*self._queue.popleft())
                else:
                    preferences = self._store.state.preferences
                    await self._channel.withdraw(self._withdrawn.popleft(), preferences)
        finally:
            self._task = None
            self._on_free()

    async def _send(
        self,
        message: Outgoing,
        event: NoticesSent,
        put_back: Callable[[NoticesSent, float], None],
    ) -> None:
        notices = self._store.state.notices
        if not any(key in notices for key in event.notice_ids):
            return  # answered meanwhile
        if self.delay > 0:
            put_back(event, event.at)  # an earlier message of the same moment has failed
            return
        try:
            await self._store.flush()
            preferences = self._store.state.preferences
            if not self._channel.is_ready(preferences):
                return  # It was taken out of the settings meanwhile.
            async with asyncio.timeout(_SENDING):
                await self._channel.send(message, preferences)
        except TimeoutError:
            self._on_failed(DeliveryError("it did not answer in time"), event, put_back)
        except DeliveryError as error:
            self._on_failed(error, event, put_back)
        except SpinneyError as error:  # The disk is full.
            self._on_failed(DeliveryError(error.message), event, put_back)
        except Exception:
            _log.exception("a notice was not sent by %s", self._channel.name)
            bug = DeliveryError("something went wrong inside Spinney, see its log", retry=False)
            self._on_failed(bug, event, put_back)
        else:
            self._failing_since, self._failures, self._retry_at = None, 0, 0.0
            if self._reported:
                self._reported = ""
                self._report(self._channel.name, None)

    def _on_failed(
        self,
        error: DeliveryError,
        event: NoticesSent,
        put_back: Callable[[NoticesSent, float], None],
    ) -> None:
        now = self._monotonic()
        self._failures += 1
        since = self._failing_since = now if self._failing_since is None else self._failing_since
        _log.info("a notice was not sent by %s: %s", self._channel.name, error.message)
        if not error.retry or now - since >= GIVE_UP:
            self._failing_since = None
            self._report_failure(error.message)
            return
        delay = min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(self._failures - 1, 10))
        self._retry_at = now + max(delay, min(error.retry_after or 0.0, GIVE_UP))
        put_back(event, event.at)
        if self._failures >= _REPORTED_AFTER:
            self._report_failure(error.message)

    def _report_failure(self, problem: str) -> None:
        if problem != self._reported:
            self._reported = problem
            self._report(self._channel.name, problem)
