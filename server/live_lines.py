"""The last line of what running sessions write, for pages that list them.

A page names the sessions whose lines it shows with `{"type": "watch", "session_ids": […]}`. From
then on it gets each changed line as `live-line`, at most once per `FLUSH_INTERVAL`.
"""

import asyncio
import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from model.base.text import clean_line
from model.domain.events.base import Event
from model.domain.events.messages import BlockChanged, ContentDelta, MessageStarted
from model.domain.messages import TextBlock
from model.state import State
from model.store.bus import EventBus
from server.fanout import Connection, text_frame

FLUSH_INTERVAL: Final = 0.25
"""Minimum seconds between two lines of a session."""
_MAX_LINE: Final = 200
"""Characters of a line, from its end; as many as a card has room for."""
_KEPT: Final = 2 * _MAX_LINE


@dataclass(slots=True)
class _Tail:
    """The end of the text that a session writes."""

    index: int = -1
    """Of its block in the message."""
    text: str = ""

    def append(self, index: int, text: str) -> None:
        before = self.text if index == self.index else ""
        self.index, self.text = index, (before + text[-_KEPT:])[-_KEPT:]

    @property
    def line(self) -> str:
        """The last line that is not empty."""
        lines = self.text.rstrip().rsplit("\n", 1)
        return clean_line(lines[-1])[-_MAX_LINE:]


class LiveLines:
    """Follows the bus while at least one page watches a session."""

    def __init__(
        self,
        bus: EventBus,
        state: Callable[[], State],
        write: Callable[[Connection, bytes], None],
    ) -> None:
        """`write` sends a frame to a connection after all events so far."""
        self._state = state
        self._write = write
        self._watched: dict[Connection, frozenset[str]] = {}
        self._tails: dict[str, _Tail] = {}
        self._changed: set[str] = set()
        self._timer: asyncio.Handle | None = None
        self._reader = bus.reader()
        self._unsubscribe = bus.listen(self._on_sealed)

    def watch(self, connection: Connection, session_ids: Collection[str]) -> None:
        """Send the lines of these sessions to a connection, instead of those before."""
        before = self._watched.pop(connection, frozenset())
        if session_ids:
            self._watched[connection] = frozenset(session_ids)
        self._forget_unwatched()
        for session_id in session_ids:
            if session_id not in self._tails:
                self._tails[session_id] = self._read_tail(session_id)
            if session_id not in before:
                self._send(connection, session_id)

    def forget(self, connection: Connection) -> None:
        """Send no more lines to a connection."""
        self.watch(connection, ())

    def close(self) -> None:
        """Unsubscribe from the bus."""
        self._unsubscribe()
        self._reader.close()
        if self._timer is not None:
            self._timer.cancel()

    def _forget_unwatched(self) -> None:
        watched = frozenset[str]().union(*self._watched.values())
        for session_id in self._tails.keys() - watched:
            del self._tails[session_id]
        self._changed &= watched

    def _read_tail(self, session_id: str) -> _Tail:
        tail = _Tail()
        message = self._state().streaming_in(session_id)
        for index, block in enumerate(message.content if message is not None else ()):
            if isinstance(block, TextBlock):
                tail.append(index, block.text)
        return tail

    def _on_sealed(self) -> None:
        if not self._watched:
            self._reader.skip()
            return
        entries, missed = self._reader.take()
        if missed is not None:
            self._tails = {each: self._read_tail(each) for each in self._tails}
            self._changed |= self._tails.keys()
        for entry in entries:
            tail = self._tails.get(entry.event.related_session_id or "")
            if tail is not None:
                self._apply(tail, entry.event)
        if self._changed and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_INTERVAL, self._flush)

    def _apply(self, tail: _Tail, event: Event) -> None:
        match event:
            case ContentDelta(kind=None):
                tail.append(event.content_index, event.content)
            case BlockChanged(block=TextBlock() as block):
                tail.index = -1
                tail.append(event.content_index, block.text)
            case MessageStarted():
                tail.index, tail.text = -1, ""
            case _:
                return
        self._changed.add(event.session_id)

    def _flush(self) -> None:
        self._timer = None
        changed, self._changed = self._changed, set()
        for connection, watched in self._watched.items():
            if connection.writable.is_set():
                for session_id in changed & watched:
                    self._send(connection, session_id)

    def _send(self, connection: Connection, session_id: str) -> None:
        payload = {"session_id": session_id, "text": self._tails[session_id].line}
        frame = {"type": "event", "event": "live-line", "payload": payload}
        self._write(connection, text_frame(json.dumps(frame, separators=(",", ":")).encode()))
