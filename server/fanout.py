"""Events to many WebSockets: encoded once, joined once, written straight to each transport.

Every connection follows the bus with a cursor. Connections that are equally far share the same
bytes. One that doesn't read is left behind and not waited for: the bus's ring runs over it, and it
is told so if it asked for numbered frames.
"""

import asyncio
import json
import logging
import sys
from collections import deque
from collections.abc import Callable
from typing import Final, Literal

from model.domain.events import ContentDelta
from model.store.bus import EventBus, Missed, Published, Reader
from server.limits import Limits

_SLICE = 150
"""Connections written to in one turn of the loop; a thousand at once take about 8 ms."""

_RETRY = 0.02
"""Seconds until connections that were left behind are looked at again."""

_RETRY_SOON = 0.002
"""The same for one that took something the last time: else `Limits.buffer` in each `_RETRY` would
be all that a client gets, however fast it reads."""

_SHARED_EVENTS = 200
"""Connections further behind than this are written to piece by piece."""

_SHARED_STRETCHES = 16
"""Stretches that are kept joined."""

_PIECE = 64 * 1024

_log = logging.getLogger(__name__)

Encode = Callable[[Published], bytes]

Form = Literal["plain", "numbered", "blocks"]
"""How events are written: as the interface has them, numbered, or numbered without text."""


def text_frame(payload: bytes) -> bytes:
    """An unmasked, unfragmented WebSocket text frame (RFC 6455, 5.2)."""
    size = len(payload)
    if size < 126:
        return b"\x81" + size.to_bytes(1, "big") + payload
    if size < 65536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + payload
    return b"\x81\x7f" + size.to_bytes(8, "big") + payload


def missed_frame(missed: Missed) -> bytes:
    """Tells a numbered client to read the state again."""
    payload = {"from": missed.first, "to": missed.last}
    told = {"type": "event", "event": "events-missed", "payload": payload}
    return text_frame(json.dumps(told).encode())


def _plain(entry: Published) -> bytes:
    try:
        return b"" if entry.event.numbered else text_frame(entry.event.frame().encode())
    except Exception:
        _log.exception("event %d (%s) cannot be written", entry.seq, entry.event.name)
        return b""


def _numbered(entry: Published) -> bytes:
    try:
        return text_frame(entry.event.frame(entry.seq).encode())
    except Exception:
        _log.exception("event %d (%s) cannot be written", entry.seq, entry.event.name)
        return missed_frame(Missed(entry.seq, entry.seq))


def _without_text(entry: Published) -> bytes:
    """For a page, which gets text as blocks (`server.block_feed`)."""
    event = entry.event
    if isinstance(event, ContentDelta) and event.kind is None:
        return b""
    return _numbered(entry)


_FORMS: Final[dict[Form, Encode]] = {
    "plain": _plain,
    "numbered": _numbered,
    "blocks": _without_text,
}


class Connection:
    """One WebSocket's end: its cursor, and frames that wait for room in its socket."""

    def __init__(
        self, transport: asyncio.Transport, reader: Reader, *, form: Form, limits: Limits
    ) -> None:
        self.transport = transport
        self.reader = reader
        self.form: Form = form
        self.numbered = form != "plain"
        self.heard = asyncio.get_running_loop().time()
        self.pinged = self.heard
        self.room = asyncio.Event()
        """Set while the client takes what it is sent; else no more is read from it."""
        self.room.set()
        self._encode = _FORMS[form]
        self._limit = limits.buffer
        self.takes = True
        """Whether something could be written to it the last time."""
        self._waiting: deque[bytes] = deque()
        self._buffered = 0
        self._moved = self.heard

    def flush(self, shared: "Shared") -> bool:
        """Write what is new; whether nothing is left to be written."""
        transport, reader = self.transport, self.reader
        if transport.is_closing():
            return True
        if not self._waiting and reader.behind:
            self.takes = transport.get_write_buffer_size() <= self._limit
            if not self.takes:
                return False
            joined = shared.joined(reader, self.form, self._encode)
            if joined is None:
                self._take(self._limit)
            else:
                if joined:
                    transport.write(joined)
                return True
        self._write()
        return not (self._waiting or reader.behind)

    def send(self, frame: bytes, shared: "Shared") -> bool:
        """Write a frame after all events that were sealed before; as `flush` otherwise."""
        if self.transport.is_closing():
            return True
        if self.flush(shared) and self.transport.get_write_buffer_size() <= self._limit:
            self.transport.write(frame)
            return True
        self._take(sys.maxsize)
        self._waiting.append(frame)
        return self.flush(shared)

    def excuse(self, seconds: float, now: float) -> None:
        """Count no time in which this program, or the whole machine, stood still."""
        self.heard = min(self.heard + seconds, now)
        self._moved = min(self._moved + seconds, now)

    def stuck_for(self, now: float) -> float:
        """Seconds for which an overfull socket has taken nothing."""
        buffered = self.transport.get_write_buffer_size()
        if buffered != self._buffered or buffered <= self._limit:
            self._buffered, self._moved = buffered, now
        return now - self._moved

    def _take(self, most: int) -> None:
        entries, missed = self.reader.take(most)
        if missed is not None and self.numbered:
            self._waiting.append(missed_frame(missed))
        frames = (entry.frame(self.form, self._encode) for entry in entries)
        self._waiting.extend(frame for frame in frames if frame)

    def _write(self) -> None:
        waiting, transport = self._waiting, self.transport
        self.takes = transport.get_write_buffer_size() <= self._limit
        while waiting and transport.get_write_buffer_size() <= self._limit:
            piece = [waiting.popleft()]
            size = len(piece[0])
            while waiting and size < _PIECE:
                piece.append(waiting.popleft())
                size += len(piece[-1])
            transport.write(b"".join(piece))


class Shared:
    """The joined frames of each stretch of the ring, made once for all that need it.

    Only short ones: what is written at once to a client that does not read stays in its socket.
    """

    def __init__(self, bus: EventBus, most: int) -> None:
        self._bus = bus
        self._most = most
        self._end = -1
        self._joined: dict[tuple[int, str], bytes] = {}

    def joined(self, reader: Reader, form: str, encode: Encode) -> bytes | None:
        """All that is new to this reader, which counts as taken; `None` if it fell behind."""
        bus = self._bus
        index = reader.index
        if index <= bus.start and bus.start > 0:
            return None
        if bus.end != self._end:
            self._joined.clear()
            self._end = bus.end
        found = self._joined.get((index, form))
        if found is None:
            if bus.end - index > _SHARED_EVENTS:
                return None
            frames = [entry.frame(form, encode) for entry in bus.entries(index)]
            if sum(map(len, frames)) > self._most:
                return None
            if len(self._joined) >= _SHARED_STRETCHES:
                self._joined.clear()
            found = self._joined[index, form] = b"".join(frames)
        reader.skip()
        return found


class Fanout:
    """All connections: wakes with the bus, writes slice by slice."""

    def __init__(self, bus: EventBus, limits: Limits) -> None:
        self.bus = bus
        self.connections: dict[Connection, None] = {}
        self._shared = Shared(bus, limits.buffer)
        self._round: list[Connection] = []
        self._again = False
        self._behind: dict[Connection, None] = {}
        self._retry: asyncio.TimerHandle | None = None
        self._end_listening = bus.listen(self._sealed)

    def add(self, connection: Connection) -> None:
        """Begin to write events to it."""
        self.connections[connection] = None
        self._flush([connection])

    def remove(self, connection: Connection) -> None:
        """Forget it."""
        self.connections.pop(connection, None)
        self._behind.pop(connection, None)
        connection.reader.close()
        connection.room.set()

    def send(self, connection: Connection, payload: bytes) -> None:
        """Write to one connection, after every event that has happened by now.

        Nothing is written to one that was removed: its client has left.
        """
        self.bus.seal()
        self.frame(connection, text_frame(payload))

    def frame(self, connection: Connection, frame: bytes) -> None:
        """As `send`, for what is a frame already and follows the events that are sealed."""
        if connection in self.connections and not connection.send(frame, self._shared):
            self._leave_behind(connection)

    def close(self) -> None:
        """Leave the bus."""
        self._end_listening()
        if self._retry is not None:
            self._retry.cancel()

    def _sealed(self) -> None:
        if self._round:
            self._again = True
            return
        self._begin_round()

    def _begin_round(self) -> None:
        self._again = False
        self._round = list(self.connections)
        self._next_slice()

    def _next_slice(self) -> None:
        now, self._round = self._round[:_SLICE], self._round[_SLICE:]
        self._flush(now)
        if self._round:
            asyncio.get_running_loop().call_soon(self._next_slice)
        elif self._again:
            self._begin_round()

    def _flush(self, connections: list[Connection]) -> None:
        for connection in connections:
            if not connection.flush(self._shared):
                self._leave_behind(connection)

    def _leave_behind(self, connection: Connection) -> None:
        self._behind[connection] = None
        connection.room.clear()
        loop = asyncio.get_running_loop()
        due = loop.time() + (_RETRY_SOON if connection.takes else _RETRY)
        if self._retry is not None and self._retry.when() > due:
            self._retry.cancel()
            self._retry = None
        if self._retry is None:
            self._retry = loop.call_at(due, self._look_again)

    def _look_again(self) -> None:
        self._retry = None
        behind, self._behind = list(self._behind), {}
        for connection in behind:
            if connection.flush(self._shared):
                connection.room.set()
            else:
                self._leave_behind(connection)
