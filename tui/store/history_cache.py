"""A cache of recently opened conversations: loaded once, then kept live by events."""

from collections import OrderedDict
from contextlib import suppress

from model.api.sessions import get_messages
from model.api.turns import list_turns
from model.base.errors import SpinneyError
from model.client.base import Client
from model.domain.events.base import Event
from model.state import State
from tui.store.history import History

PAGE_SIZE = 100
MAX_HISTORIES = 8
"""Conversations that stay live after they were closed, so that reopening is free."""


class HistoryCache:
    """Histories by session, the most recently used one last."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._histories: OrderedDict[str, History] = OrderedDict()
        self.open_session_id: str | None = None
        """The open session, whose history is never dropped for its size."""
        self.second_session_id: str | None = None
        """The session shown beside the open one; likewise."""
        self._buffered: dict[str, list[Event]] = {}
        """Events received while the first page is being loaded."""

    def get(self, session_id: str) -> History | None:
        """The conversation, if it is live."""
        return self._histories.get(session_id)

    async def open(self, session_id: str, state: State) -> History:
        """Load the newest page. `state` is the state at the time of the call."""
        history = History(session_id)
        buffered = self._buffered[session_id] = []
        try:
            page = await self._client.call(get_messages, session_id=session_id, limit=PAGE_SIZE)
        finally:
            if self._buffered.get(session_id) is buffered:
                del self._buffered[session_id]
        history.load(page, state.streaming_in(session_id))
        # The page may already include these events; applying them again has no effect.
        for event in buffered:
            history.apply(event)
        self._histories[session_id] = history
        self._histories.move_to_end(session_id)
        while len(self._histories) > MAX_HISTORIES:
            self._histories.popitem(last=False)
        return history

    async def load_turns(self, history: History, limit: int = PAGE_SIZE) -> bool:
        """Load what the turns before the first known one changed; returns whether any is new.

        Each turn has a message, so that a page of turns is enough for a page of messages.
        """
        turns = await self._client.call(
            list_turns,
            session_id=history.session_id,
            limit=limit,
            before=history.first_turn or None,
        )
        history.first_turn = turns[0].number if turns else 1
        changed = [history.set_turn_files(turn.message_id, turn.files) for turn in turns]
        return any(index is not None for index in changed)

    async def load_older(self, history: History, limit: int = PAGE_SIZE) -> int:
        """Load the previous page; returns the number of new messages."""
        page = await self._client.call(
            get_messages,
            session_id=history.session_id,
            limit=limit,
            offset=len(history.messages),
        )
        if history.first_turn > 1:
            with suppress(SpinneyError):  # The messages are there without them.
                await self.load_turns(history, limit)
        return history.prepend(page)

    def apply(self, event: Event, state: State) -> tuple[str, int] | None:
        """Apply an event; returns the session and the index of the changed message, or `None`.

        `state` includes the event already.
        """
        session_id = event.related_session_id
        if session_id is None:
            return None
        if session_id in self._buffered:
            self._buffered[session_id].append(event)
        if (history := self._histories.get(session_id)) is None:
            return None
        index = history.apply(event, state.streaming)
        visible = (self.open_session_id, self.second_session_id)
        if index is not None and session_id not in visible and history.is_large:
            self.forget(session_id)
        return (session_id, index) if index is not None else None

    def forget(self, session_id: str | None = None) -> None:
        """Drop one conversation, or all of them after events were missed."""
        if session_id is None:
            self._histories.clear()
        else:
            self._histories.pop(session_id, None)
