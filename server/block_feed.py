"""Streamed text as block trees for the pages that show a session, rendered once for all of them.

A page subscribes with `{"type": "show", "session_id": …}`. From then on it gets the changes of the
session's growing text as `content-blocks`, batched over `FLUSH_INTERVAL`, besides the session's
events.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from model.domain.events.base import Event
from model.domain.events.messages import BlockChanged, ContentDelta, MessageCompleted, MessageFailed
from model.domain.messages import PlanBlock, TextBlock
from model.richtext.blocks import Block, CodeBlock, as_json
from model.richtext.markdown import MarkdownStream
from model.state import State
from model.store.bus import EventBus
from server.fanout import Connection, text_frame

FLUSH_INTERVAL: Final = 0.033
"""Minimum seconds between two frames of changes."""
MAX_RESEND_RATE: Final = 100_000
"""Maximum bytes per second for text that is resent with each change: a paragraph of forty pages
would be megabytes for a phone."""


@dataclass(slots=True)
class _StreamedText:
    """A text block that is being streamed."""

    stream: MarkdownStream = field(default_factory=MarkdownStream)
    sent: tuple[Block, ...] = ()
    final: int = 0
    """How many of the sent blocks cannot change any more."""

    def take_changes(self) -> tuple[int, list[dict[str, Any]]] | None:
        """The index of the first block that changed since the last call, and all blocks from it."""
        blocks = self.stream.blocks
        first = self.final
        self.sent, before, self.final = blocks, self.sent, self.stream.stable
        if blocks[first:] == before[first:]:
            return None
        return first, _encode_changes(before[first:], blocks[first:])


def _encode_changes(before: Sequence[Block], after: Sequence[Block]) -> list[dict[str, Any]]:
    encoded = [as_json(block) for block in after]
    if before and after and isinstance(before[0], CodeBlock) and isinstance(after[0], CodeBlock):
        unchanged = max(0, len(before[0].lines) - 1)  # its last line was not complete
        if not after[0].closed and after[0].lines[:unchanged] == before[0].lines[:unchanged]:
            encoded[0] |= {"from_line": unchanged, "lines": encoded[0]["lines"][unchanged:]}
    return encoded


@dataclass(slots=True)
class _ShownSession:
    """A session that at least one page shows."""

    connections: dict[Connection, None] = field(default_factory=dict)
    lagging: set[Connection] = field(default_factory=set)
    """Connections that could not keep up: they get the full text once they can be written to."""
    texts: dict[tuple[str, int], _StreamedText] = field(default_factory=dict)
    changed: dict[tuple[str, int], None] = field(default_factory=dict)


class BlockFeed:
    """Follows the bus while at least one page shows a session."""

    def __init__(
        self,
        bus: EventBus,
        state: Callable[[], State],
        write: Callable[[Connection, bytes], None],
    ) -> None:
        """`write` sends a frame to a connection after all events so far."""
        self._bus = bus
        self._state = state
        self._write = write
        self._shown: dict[str, _ShownSession] = {}
        self._session_ids: dict[Connection, str] = {}
        self._reader = bus.reader()
        self._timer: asyncio.Handle | None = None
        self._largest = 0
        """Bytes of the largest frame of the last flush."""
        self._unsubscribe = bus.listen(self._on_sealed)

    def show(self, connection: Connection, session_id: str | None) -> None:
        """Subscribe a connection to a session, instead of the previous one."""
        self.forget(connection)
        if session_id is None:
            return
        self._bus.seal()
        self._flush(session_id)  # the other pages are then in the same state as this one
        shown = self._shown.get(session_id)
        if shown is None:
            shown = self._shown[session_id] = _ShownSession(texts=self._collect_texts(session_id))
            for text in shown.texts.values():
                text.take_changes()
        shown.connections[connection] = None
        self._session_ids[connection] = session_id
        self._send_full(connection, session_id, shown)

    def forget(self, connection: Connection) -> None:
        """Unsubscribe a connection."""
        session_id = self._session_ids.pop(connection, None)
        if session_id is None:
            return
        shown = self._shown[session_id]
        del shown.connections[connection]
        shown.lagging.discard(connection)
        if not shown.connections:
            del self._shown[session_id]

    def close(self) -> None:
        """Unsubscribe from the bus."""
        self._unsubscribe()
        self._reader.close()
        if self._timer is not None:
            self._timer.cancel()

    def _collect_texts(self, session_id: str) -> dict[tuple[str, int], _StreamedText]:
        message = self._state().streaming_in(session_id)
        texts: dict[tuple[str, int], _StreamedText] = {}
        for index, block in enumerate(message.content if message is not None else ()):
            if isinstance(block, TextBlock):
                assert message is not None
                text = texts[message.id, index] = _StreamedText()
                text.stream.append(block.text)
        return texts

    # Following --------------------------------------------------------------------------------

    def _on_sealed(self) -> None:
        if not self._shown:
            self._reader.skip()
            return
        entries, missed = self._reader.take()
        if missed is not None:
            self._restart()
            return
        for entry in entries:
            shown = self._shown.get(entry.event.related_session_id or "")
            if shown is not None:
                self._apply(shown, entry.event)

    def _apply(self, shown: _ShownSession, event: Event) -> None:
        match event:
            case ContentDelta(kind=None):
                key = (event.message_id, event.content_index)
                shown.texts.setdefault(key, _StreamedText()).stream.append(event.content)
                shown.changed[key] = None
                self._schedule_flush()
            case BlockChanged(block=TextBlock() | PlanBlock() as block):
                key = (event.message_id, event.content_index)
                text = shown.texts[key] = _StreamedText()
                text.stream.append(block.text)
                shown.changed[key] = None
                self._schedule_flush()
            case MessageCompleted() | MessageFailed():
                self._flush(event.session_id)
                self._finish_message(event.session_id, shown, event.message_id)

    def _finish_message(self, session_id: str, shown: _ShownSession, message_id: str) -> None:
        for key in [key for key in shown.texts if key[0] == message_id]:
            text = shown.texts.pop(key)
            first = text.stream.finish()
            if first < len(text.stream.blocks):
                encoded = [as_json(block) for block in text.stream.blocks[first:]]
                self._broadcast(shown, _blocks_frame(session_id, key, first, encoded))
        for connection in shown.lagging:
            self._write(connection, _missed_frame(session_id))
        shown.lagging.clear()

    def _restart(self) -> None:
        for session_id, shown in self._shown.items():
            shown.texts = self._collect_texts(session_id)
            shown.changed.clear()
            for text in shown.texts.values():
                text.take_changes()
            for connection in shown.connections:
                self._send_full(connection, session_id, shown)

    # Sending ----------------------------------------------------------------------------------

    def _schedule_flush(self) -> None:
        if self._timer is None:
            pause = max(FLUSH_INTERVAL, self._largest / MAX_RESEND_RATE)
            self._timer = asyncio.get_running_loop().call_later(pause, self._flush_all)

    def _flush_all(self) -> None:
        self._timer = None
        self._largest = 0
        for session_id in tuple(self._shown):
            self._flush(session_id)

    def _flush(self, session_id: str) -> None:
        shown = self._shown.get(session_id)
        if shown is None:
            return
        changed, shown.changed = shown.changed, {}
        for key in changed:
            changes = shown.texts[key].take_changes()
            if changes is not None:
                self._broadcast(shown, _blocks_frame(session_id, key, *changes))
        for connection in tuple(shown.lagging):
            if connection.writable.is_set():
                shown.lagging.discard(connection)
                self._send_full(connection, session_id, shown)

    def _broadcast(self, shown: _ShownSession, frame: bytes) -> None:
        self._largest = max(self._largest, len(frame))
        for connection in shown.connections:
            if connection in shown.lagging or not connection.writable.is_set():
                shown.lagging.add(connection)
            else:
                self._write(connection, frame)

    def _send_full(self, connection: Connection, session_id: str, shown: _ShownSession) -> None:
        for key, text in shown.texts.items():
            self._write(connection, _blocks_frame(session_id, key, 0, map(as_json, text.sent)))


def _blocks_frame(
    session_id: str, key: tuple[str, int], first: int, blocks: Iterable[dict[str, Any]]
) -> bytes:
    payload = {
        "session_id": session_id,
        "message_id": key[0],
        "content_index": key[1],
        "from": first,
        "blocks": list(blocks),
    }
    return _event_frame("content-blocks", payload)


def _missed_frame(session_id: str) -> bytes:
    return _event_frame("blocks-missed", {"session_id": session_id})


def _event_frame(name: str, payload: dict[str, Any]) -> bytes:
    frame = {"type": "event", "event": name, "payload": payload}
    return text_frame(json.dumps(frame, separators=(",", ":")).encode())
