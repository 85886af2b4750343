"""Event fan-out to WebSockets: encoded once, joined once, written directly to each transport.

Every connection follows the bus with a cursor. Connections at the same position share the same
bytes. A slow connection does not block the others: the bus's ring buffer overwrites events it has
not read, and it gets an `events-missed` frame if it asked for numbered frames.
"""

import asyncio
import json
import logging
import sys
from collections import deque
from collections.abc import Callable
from typing import Final, Literal

from model.domain.events.base import Event
from model.domain.events.messages import ContentDelta
from model.store.bus import EventBus, Missed, Published, Reader
from server.limits import Limits

_SLICE = 150
"""Connections written to in one loop iteration; a thousand at once take about 8 ms."""

_RETRY = 0.02
"""Seconds until slow connections are tried again."""

_FAST_RETRY = 0.002
"""The same for a connection that accepted data the last time: otherwise a client would get at most
`Limits.buffer` per `_RETRY`, however fast it reads."""

_MAX_SHARED_EVENTS = 200
"""Connections further behind than this are written to individually."""

_MAX_SHARED_RANGES = 16
"""Joined ranges in the cache."""

_MAX_WRITE = 64 * 1024

_log = logging.getLogger(__name__)

Encode = Callable[[Published], bytes]

EventFormat = Literal["plain", "numbered", "blocks"]
"""How events are encoded: as the interface has them, numbered, or numbered without text."""


def text_frame(payload: bytes) -> bytes:
    """An unmasked, unfragmented WebSocket text frame (RFC 6455, 5.2)."""
    size = len(payload)
    if size < 126:
        return b"\x81" + size.to_bytes(1, "big") + payload
    if size < 65536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + payload
    return b"\x81\x7f" + size.to_bytes(8, "big") + payload


def missed_frame(missed: Missed) -> bytes:
    """The frame that makes a numbered client reload the state."""
    payload = {"from": missed.first, "to": missed.last}
    frame = {"type": "event", "event": "events-missed", "payload": payload}
    return text_frame(json.dumps(frame).encode())


def _plain(entry: Published) -> bytes:
    try:
        return b"" if entry.event.numbered else text_frame(entry.event.frame().encode())
    except Exception:
        _log.exception("could not encode event %d (%s)", entry.seq, entry.event.name)
        return b""


def _numbered(entry: Published) -> bytes:
    try:
        return text_frame(entry.event.frame(entry.seq).encode())
    except Exception:
        _log.exception("could not encode event %d (%s)", entry.seq, entry.event.name)
        return missed_frame(Missed(entry.seq, entry.seq))


def _without_text(entry: Published) -> bytes:
    """For a page, which gets text as blocks from `server.block_feed`."""
    event = entry.event
    if isinstance(event, ContentDelta) and event.kind is None:
        return b""
    return _numbered(entry)


_ENCODERS: Final[dict[EventFormat, Encode]] = {
    "plain": _plain,
    "numbered": _numbered,
    "blocks": _without_text,
}


class Connection:
    """The outgoing side of one WebSocket: its cursor, and frames waiting for its socket buffer."""

    def __init__(
        self,
        transport: asyncio.Transport,
        reader: Reader,
        *,
        event_format: EventFormat,
        limits: Limits,
        accepts: Callable[[Event], bool] | None = None,
    ) -> None:
        """`accepts` says which events it gets; by default all."""
        self.transport = transport
        self.reader = reader
        self.event_format: EventFormat = event_format
        self.numbered = event_format != "plain"
        self.last_received = asyncio.get_running_loop().time()
        self.last_pinged = self.last_received
        self.writable = asyncio.Event()
        """Set while the client keeps up; no requests are read from it otherwise."""
        self.writable.set()
        self._encode = _ENCODERS[event_format]
        self._accepts = accepts
        self._limit = limits.buffer
        self.has_capacity = True
        """Whether its socket buffer had capacity at the last attempt to write."""
        self._pending: deque[bytes] = deque()
        self._buffered = 0
        self._last_drained = self.last_received

    def flush(self, shared: "SharedFrames") -> bool:
        """Write new events; returns whether everything was written."""
        transport, reader = self.transport, self.reader
        if transport.is_closing():
            return True
        if not self._pending and reader.behind:
            self.has_capacity = transport.get_write_buffer_size() <= self._limit
            if not self.has_capacity:
                return False
            frames = None
            if self._accepts is None:  # Frames are shared by clients that get all events.
                frames = shared.take_joined(reader, self.event_format, self._encode)
            if frames is None:
                self._read_entries(self._limit)
            else:
                if frames:
                    transport.write(frames)
                return True
        self._write_pending()
        return not (self._pending or reader.behind)

    def send(self, frame: bytes, shared: "SharedFrames") -> bool:
        """Write a frame after all sealed events; returns the same as `flush`."""
        if self.transport.is_closing():
            return True
        if self.flush(shared) and self.transport.get_write_buffer_size() <= self._limit:
            self.transport.write(frame)
            return True
        self._read_entries(sys.maxsize)
        self._pending.append(frame)
        return self.flush(shared)

    def exclude_suspension(self, seconds: float, now: float) -> None:
        """Exclude time in which this process or the machine was suspended from the timeouts."""
        self.last_received = min(self.last_received + seconds, now)
        self._last_drained = min(self._last_drained + seconds, now)

    def stuck_for(self, now: float) -> float:
        """Seconds for which a socket over its buffer limit has accepted nothing."""
        buffered = self.transport.get_write_buffer_size()
        if buffered != self._buffered or buffered <= self._limit:
            self._buffered, self._last_drained = buffered, now
        return now - self._last_drained

    def _read_entries(self, limit: int) -> None:
        entries, missed = self.reader.take(limit)
        if missed is not None and self.numbered:
            self._pending.append(missed_frame(missed))
        accepts = self._accepts
        frames = (
            entry.frame(self.event_format, self._encode)
            for entry in entries
            if accepts is None or accepts(entry.event)
        )
        self._pending.extend(frame for frame in frames if frame)

    def _write_pending(self) -> None:
        pending, transport = self._pending, self.transport
        self.has_capacity = transport.get_write_buffer_size() <= self._limit
        while pending and transport.get_write_buffer_size() <= self._limit:
            batch = [pending.popleft()]
            size = len(batch[0])
            while pending and size < _MAX_WRITE:
                batch.append(pending.popleft())
                size += len(batch[-1])
            transport.write(b"".join(batch))


class SharedFrames:
    """Cache of joined frames by range of the ring buffer, shared by all connections.

    Only for short ranges: whatever is written to a client that does not read stays in its socket
    buffer.
    """

    def __init__(self, bus: EventBus, limit: int) -> None:
        self._bus = bus
        self._limit = limit
        self._end = -1
        self._cache: dict[tuple[int, str], bytes] = {}

    def take_joined(self, reader: Reader, event_format: str, encode: Encode) -> bytes | None:
        """Take all frames new to this reader, joined; `None` if it is too far behind."""
        bus = self._bus
        index = reader.index
        if index <= bus.start and bus.start > 0:
            return None
        if bus.end != self._end:
            self._cache.clear()
            self._end = bus.end
        cached = self._cache.get((index, event_format))
        if cached is None:
            if bus.end - index > _MAX_SHARED_EVENTS:
                return None
            frames = [entry.frame(event_format, encode) for entry in bus.entries(index)]
            if sum(map(len, frames)) > self._limit:
                return None
            if len(self._cache) >= _MAX_SHARED_RANGES:
                self._cache.clear()
            cached = self._cache[index, event_format] = b"".join(frames)
        reader.skip()
        return cached


class Fanout:
    """Writes events to all connections, in slices, whenever the bus is sealed."""

    def __init__(self, bus: EventBus, limits: Limits) -> None:
        self.bus = bus
        self.connections: dict[Connection, None] = {}
        self._shared = SharedFrames(bus, limits.buffer)
        self._queue: list[Connection] = []
        self._is_dirty = False
        self._behind: dict[Connection, None] = {}
        self._retry: asyncio.TimerHandle | None = None
        self._unsubscribe = bus.listen(self._on_sealed)

    def add(self, connection: Connection) -> None:
        """Start writing events to a connection."""
        self.connections[connection] = None
        self._flush([connection])

    def remove(self, connection: Connection) -> None:
        """Stop writing to a connection."""
        self.connections.pop(connection, None)
        self._behind.pop(connection, None)
        connection.reader.close()
        connection.writable.set()

    def send(self, connection: Connection, payload: bytes) -> None:
        """Write to one connection, after all events so far.

        Does nothing if the connection was removed, because its client has disconnected.
        """
        self.bus.seal()
        self.send_frame(connection, text_frame(payload))

    def send_frame(self, connection: Connection, frame: bytes) -> None:
        """Like `send`, for a complete frame that follows the sealed events."""
        if connection in self.connections and not connection.send(frame, self._shared):
            self._mark_behind(connection)

    def close(self) -> None:
        """Unsubscribe from the bus."""
        self._unsubscribe()
        if self._retry is not None:
            self._retry.cancel()

    def _on_sealed(self) -> None:
        if self._queue:
            self._is_dirty = True
            return
        self._start_round()

    def _start_round(self) -> None:
        self._is_dirty = False
        self._queue = list(self.connections)
        self._flush_slice()

    def _flush_slice(self) -> None:
        current, self._queue = self._queue[:_SLICE], self._queue[_SLICE:]
        self._flush(current)
        if self._queue:
            asyncio.get_running_loop().call_soon(self._flush_slice)
        elif self._is_dirty:
            self._start_round()

    def _flush(self, connections: list[Connection]) -> None:
        for connection in connections:
            if not connection.flush(self._shared):
                self._mark_behind(connection)

    def _mark_behind(self, connection: Connection) -> None:
        self._behind[connection] = None
        connection.writable.clear()
        loop = asyncio.get_running_loop()
        due = loop.time() + (_FAST_RETRY if connection.has_capacity else _RETRY)
        if self._retry is not None and self._retry.when() > due:
            self._retry.cancel()
            self._retry = None
        if self._retry is None:
            self._retry = loop.call_at(due, self._retry_behind)

    def _retry_behind(self) -> None:
        self._retry = None
        behind, self._behind = list(self._behind), {}
        for connection in behind:
            if connection.flush(self._shared):
                connection.writable.set()
            else:
                self._mark_behind(connection)
