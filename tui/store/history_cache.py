"""The conversations that are open or were lately: read once, then kept live by events."""

from collections import OrderedDict

from model.api.sessions import get_messages
from model.client.base import Client
from model.domain.events import Event
from model.state import State
from tui.store.history import History

PAGE = 100
KEPT = 8
"""Conversations that stay live after one has left them, so that coming back costs nothing."""


class HistoryCache:
    """One history for each conversation, the one used last at the end."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._live: OrderedDict[str, History] = OrderedDict()
        self.shown: str | None = None
        """The session that is open, whose messages stay however many there are."""
        self._held: dict[str, list[Event]] = {}
        """Events that came while the first page was being read."""

    def get(self, session_id: str) -> History | None:
        """The conversation, if it is live."""
        return self._live.get(session_id)

    async def open(self, session_id: str, state: State) -> History:
        """Read the newest page. `state` is what was known when this was called."""
        history = History(session_id)
        held = self._held[session_id] = []
        try:
            page = await self._client.call(get_messages, session_id=session_id, limit=PAGE)
        finally:
            if self._held.get(session_id) is held:
                del self._held[session_id]
        history.load(page, state.streaming_in(session_id))
        # The page may hold what these tell already; folding them once more ends alike.
        for event in held:
            history.apply(event)
        self._live[session_id] = history
        self._live.move_to_end(session_id)
        while len(self._live) > KEPT:
            self._live.popitem(last=False)
        return history

    async def older(self, history: History, limit: int = PAGE) -> int:
        """Read the page before what is there; how many messages came."""
        page = await self._client.call(
            get_messages,
            session_id=history.session_id,
            limit=limit,
            offset=len(history.messages),
        )
        return history.prepend(page)

    def apply(self, event: Event, state: State) -> tuple[str, int] | None:
        """Fold an event; the session and the first index that changed in its conversation.

        `state` holds the event already.
        """
        session_id = event.concerns
        if session_id is None:
            return None
        if session_id in self._held:
            self._held[session_id].append(event)
        if (history := self._live.get(session_id)) is None:
            return None
        index = history.apply(event, state.streaming)
        if index is not None and session_id != self.shown and history.is_large:
            self.forget(session_id)
        return (session_id, index) if index is not None else None

    def forget(self, session_id: str | None = None) -> None:
        """Drop one conversation, or all after events were missed."""
        if session_id is None:
            self._live.clear()
        else:
            self._live.pop(session_id, None)
