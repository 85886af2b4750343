"""Streamed text as block trees, for the pages that show a session: rendered once for all of them.

A page asks for a session with `{"type": "show", "session_id": …}`. From then on it gets
`content-blocks` for the text that grows there, joined over `PACE`, beside the session's events.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from model.domain import events as e
from model.domain.resources import PlanBlock, TextBlock
from model.richtext.blocks import Block, CodeBlock, as_json
from model.richtext.markdown import MarkdownStream
from model.state import State
from model.store.bus import EventBus
from server.fanout import Connection, text_frame

PACE: Final = 0.033
"""Seconds over which what was written is joined, at least."""
RATE: Final = 100_000
"""Bytes a second that a text which is sent anew with each change may take: a paragraph of forty
pages would be megabytes for a phone."""


@dataclass(slots=True)
class _Text:
    """A text that is shown while it grows."""

    stream: MarkdownStream = field(default_factory=MarkdownStream)
    sent: tuple[Block, ...] = ()
    final: int = 0
    """How many blocks of what was sent cannot change."""

    def news(self) -> tuple[int, list[dict[str, Any]]] | None:
        """The first block that is new since the last time, and all from there on."""
        blocks = self.stream.blocks
        first = self.final
        self.sent, before, self.final = blocks, self.sent, self.stream.stable
        if blocks[first:] == before[first:]:
            return None
        return first, _changes(before[first:], blocks[first:])


def _changes(before: Sequence[Block], after: Sequence[Block]) -> list[dict[str, Any]]:
    told = [as_json(block) for block in after]
    if before and after and isinstance(before[0], CodeBlock) and isinstance(after[0], CodeBlock):
        known = max(0, len(before[0].lines) - 1)  # its last line was not complete
        if not after[0].closed and after[0].lines[:known] == before[0].lines[:known]:
            told[0] |= {"from_line": known, "lines": told[0]["lines"][known:]}
    return told


@dataclass(slots=True)
class _Shown:
    """A session that pages show."""

    connections: dict[Connection, None] = field(default_factory=dict)
    late: set[Connection] = field(default_factory=set)
    """Those that took nothing for a while: they get everything once they do."""
    texts: dict[tuple[str, int], _Text] = field(default_factory=dict)
    changed: dict[tuple[str, int], None] = field(default_factory=dict)


class BlockFeed:
    """Follows the bus while somebody looks, and nothing else."""

    def __init__(
        self,
        bus: EventBus,
        state: Callable[[], State],
        write: Callable[[Connection, bytes], None],
    ) -> None:
        """`write` sends a frame to a connection after all events that have happened."""
        self._bus = bus
        self._state = state
        self._write = write
        self._shown: dict[str, _Shown] = {}
        self._place: dict[Connection, str] = {}
        self._reader = bus.reader()
        self._timer: asyncio.Handle | None = None
        self._largest = 0
        """Bytes of the largest frame of the last time."""
        self._end_listening = bus.listen(self._sealed)

    def show(self, connection: Connection, session_id: str | None) -> None:
        """Feed this connection with a session in place of the one before."""
        self.forget(connection)
        if session_id is None:
            return
        self._bus.seal()
        self._send(session_id)  # the others are as far as this one will be
        shown = self._shown.get(session_id)
        if shown is None:
            shown = self._shown[session_id] = _Shown(texts=self._begun(session_id))
            for text in shown.texts.values():
                text.news()
        shown.connections[connection] = None
        self._place[connection] = session_id
        self._send_whole(connection, session_id, shown)

    def forget(self, connection: Connection) -> None:
        """Feed it no more."""
        session_id = self._place.pop(connection, None)
        if session_id is None:
            return
        shown = self._shown[session_id]
        del shown.connections[connection]
        shown.late.discard(connection)
        if not shown.connections:
            del self._shown[session_id]

    def close(self) -> None:
        """Leave the bus."""
        self._end_listening()
        self._reader.close()
        if self._timer is not None:
            self._timer.cancel()

    def _begun(self, session_id: str) -> dict[tuple[str, int], _Text]:
        message = self._state().streaming_in(session_id)
        texts: dict[tuple[str, int], _Text] = {}
        for index, block in enumerate(message.content if message is not None else ()):
            if isinstance(block, TextBlock):
                assert message is not None
                text = texts[message.id, index] = _Text()
                text.stream.append(block.text)
        return texts

    # Following --------------------------------------------------------------------------------

    def _sealed(self) -> None:
        if not self._shown:
            self._reader.skip()
            return
        entries, missed = self._reader.take()
        if missed is not None:
            self._begin_anew()
            return
        for entry in entries:
            shown = self._shown.get(entry.event.related_session_id or "")
            if shown is not None:
                self._follow(shown, entry.event)

    def _follow(self, shown: _Shown, event: e.Event) -> None:
        match event:
            case e.ContentDelta(kind=None):
                key = (event.message_id, event.content_index)
                shown.texts.setdefault(key, _Text()).stream.append(event.content)
                shown.changed[key] = None
                self._later()
            case e.BlockChanged(block=TextBlock() | PlanBlock() as block):
                key = (event.message_id, event.content_index)
                text = shown.texts[key] = _Text()
                text.stream.append(block.text)
                shown.changed[key] = None
                self._later()
            case e.MessageCompleted() | e.MessageFailed():
                self._send(event.session_id)
                self._finish(event.session_id, shown, event.message_id)

    def _finish(self, session_id: str, shown: _Shown, message_id: str) -> None:
        for key in [key for key in shown.texts if key[0] == message_id]:
            text = shown.texts.pop(key)
            first = text.stream.finish()
            if first < len(text.stream.blocks):
                told = [as_json(block) for block in text.stream.blocks[first:]]
                self._tell(shown, _frame(session_id, key, first, told))
        for connection in shown.late:
            self._write(connection, _missed(session_id))
        shown.late.clear()

    def _begin_anew(self) -> None:
        for session_id, shown in self._shown.items():
            shown.texts = self._begun(session_id)
            shown.changed.clear()
            for text in shown.texts.values():
                text.news()
            for connection in shown.connections:
                self._send_whole(connection, session_id, shown)

    # Sending ----------------------------------------------------------------------------------

    def _later(self) -> None:
        if self._timer is None:
            pause = max(PACE, self._largest / RATE)
            self._timer = asyncio.get_running_loop().call_later(pause, self._send_all)

    def _send_all(self) -> None:
        self._timer = None
        self._largest = 0
        for session_id in tuple(self._shown):
            self._send(session_id)

    def _send(self, session_id: str) -> None:
        shown = self._shown.get(session_id)
        if shown is None:
            return
        changed, shown.changed = shown.changed, {}
        for key in changed:
            news = shown.texts[key].news()
            if news is not None:
                self._tell(shown, _frame(session_id, key, *news))
        for connection in tuple(shown.late):
            if connection.room.is_set():
                shown.late.discard(connection)
                self._send_whole(connection, session_id, shown)

    def _tell(self, shown: _Shown, frame: bytes) -> None:
        self._largest = max(self._largest, len(frame))
        for connection in shown.connections:
            if connection in shown.late or not connection.room.is_set():
                shown.late.add(connection)
            else:
                self._write(connection, frame)

    def _send_whole(self, connection: Connection, session_id: str, shown: _Shown) -> None:
        for key, text in shown.texts.items():
            self._write(connection, _frame(session_id, key, 0, map(as_json, text.sent)))


def _frame(
    session_id: str, key: tuple[str, int], first: int, blocks: Iterable[dict[str, Any]]
) -> bytes:
    payload = {
        "session_id": session_id,
        "message_id": key[0],
        "content_index": key[1],
        "from": first,
        "blocks": list(blocks),
    }
    return _event("content-blocks", payload)


def _missed(session_id: str) -> bytes:
    return _event("blocks-missed", {"session_id": session_id})


def _event(name: str, payload: dict[str, Any]) -> bytes:
    frame = {"type": "event", "event": name, "payload": payload}
    return text_frame(json.dumps(frame, separators=(",", ":")).encode())
