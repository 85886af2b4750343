"""A conversation's inbox, handled in order: events of the server, and items of the adapter."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from model.backends import agent_events
from model.backends.opencode.event_stream import ServerEvent
from model.backends.opencode.server import NAME
from model.backends.process import InvalidLine
from model.backends.traffic import TrafficRecorder
from model.base.errors import SpinneyError

_log = logging.getLogger(__name__)


class EventsMissed:
    """Events may have been lost."""


@dataclass(frozen=True, slots=True)
class TurnAborted:
    """The turn with this number was ended early."""

    turn: int
    failure: agent_events.TurnFailed | None = None


@dataclass(frozen=True, slots=True)
class ServerLost:
    """The server exited."""

    reason: str


InboxItem = ServerEvent | InvalidLine | EventsMissed | TurnAborted | ServerLost


class Inbox:
    """Listens to the server for a conversation, and has its items handled one after another."""

    def __init__(
        self,
        conversation: str,
        record: TrafficRecorder,
        on_status: Callable[[str], None],
        handle: Callable[[InboxItem | None], Awaitable[None]],
        get_timeout: Callable[[], float | None],
    ) -> None:
        """`handle` gets an item, or `None` after `get_timeout` seconds without one.

        `on_status` gets each status of the conversation at once, before earlier items are handled.
        """
        self._conversation = conversation
        self.record = record
        self._on_status = on_status
        self._handle = handle
        self._get_timeout = get_timeout
        self._items: asyncio.Queue[InboxItem] = asyncio.Queue()

    def on_event(self, event: ServerEvent | InvalidLine) -> None:
        """Queue an event."""
        if isinstance(event, ServerEvent) and event.session_id == self._conversation:
            self._on_status(event.status)
        self.put(event)

    def on_events_missed(self) -> None:
        """Queue a check of what happened while no events arrived."""
        self.put(EventsMissed())

    def on_exit(self, reason: str) -> None:
        """Queue the exit of the program."""
        self.put(ServerLost(reason))

    def put(self, item: InboxItem) -> None:
        """Queue an item."""
        self._items.put_nowait(item)

    async def process(self) -> str:
        """Handle items until the server exits; return the reason."""
        while True:
            item: InboxItem | None = None
            with suppress(TimeoutError):
                async with asyncio.timeout(self._get_timeout()):
                    item = await self._items.get()
            if isinstance(item, ServerLost):
                return item.reason
            try:
                await self._handle(item)
            except SpinneyError as error:
                _log.warning("%s: %s", NAME, error.message)
            except Exception:  # an event that cannot be handled must not end the conversation
                _log.exception("%s sent an event that could not be handled", NAME)
