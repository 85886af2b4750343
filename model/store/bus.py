"""The event bus: one bounded ring buffer, which every reader follows with its own cursor.

Publishing never waits for a reader. Events collect in a window that is sealed into the ring at once
if the bus was idle, and otherwise every 16 ms or as soon as it is full; inside a window the deltas
of one block merge. The ring is bounded in events and in bytes. A reader that falls behind by more
than the ring learns which events it missed and reloads the state. The bus belongs to one event
loop; other threads access it through that loop.
"""

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from model.base.text_memory import text_bytes
from model.domain.events.base import Event
from model.domain.events.messages import ContentDelta
from model.domain.events.sessions import SessionUpdated
from model.domain.events.worktrees import GitStatusUpdated, WorktreeEvent

CAPACITY = 1000
"""Events that a ring holds (interface 8), unless they are too large."""

RING_BYTES = 4 * 1024 * 1024
"""Bytes of text in a ring's events: fast streams merge into few large events, of which a thousand
would be hundreds of megabytes."""

FRAMED_BYTES = 1024 * 1024
"""The newest events up to this size keep their encoded frames, one for each form. For readers that
are further behind, events are encoded again."""

MAX_DELTA = 64 * 1024
"""Characters of a delta. Merged deltas are not longer, and longer ones are split. So each is a
small part of the ring and of a client's send buffer."""

WINDOW = 0.016
"""Seconds between two seals under load: one screen frame."""

WINDOW_FULL = 100
"""Events after which a window is sealed at once: with 16 ms per window a burst would overrun the
ring."""


_SHORT_EVENT = 400
"""Bytes that an event without long texts counts as."""


@dataclass(slots=True)
class Published:
    """An event in the ring with its encoded frames, each encoded once while the ring holds it."""

    seq: int
    event: Event
    frames: dict[str, bytes] = field(default_factory=dict)
    """Encoded forms, by a name that the reader chooses."""
    weight: int = 0
    """Approximate bytes of the event's texts."""
    keeps_frames: bool = True

    def frame(self, form: str, encode: Callable[["Published"], bytes]) -> bytes:
        """Return the frame of this form, encoded on first use and then shared by all readers."""
        frame = self.frames.get(form)
        if frame is None:
            frame = encode(self)
            if self.keeps_frames:
                self.frames[form] = frame
        return frame

    def drop_frames(self) -> None:
        """Drop the frames and keep none from now on."""
        self.keeps_frames = False
        self.frames.clear()


class _Ring:
    """The newest events, bounded in number and in bytes; the newest one is always kept."""

    def __init__(self, capacity: int, max_bytes: int) -> None:
        self.entries: deque[Published] = deque()
        self._weight = 0
        self._capacity = capacity
        self._max_bytes = max_bytes

    def append(self, entry: Published) -> list[Published]:
        """Append an event; return the oldest ones, which it pushed out."""
        self.entries.append(entry)
        self._weight += entry.weight
        dropped = []
        while len(self.entries) > self._capacity or (
            self._weight > self._max_bytes and len(self.entries) > 1
        ):
            dropped.append(self.entries.popleft())
            self._weight -= dropped[-1].weight
        return dropped


def _weight(event: Event) -> int:
    """Return the approximate bytes of an event's texts."""
    if isinstance(event, ContentDelta):
        return text_bytes(event.content)
    if isinstance(event, WorktreeEvent | GitStatusUpdated | SessionUpdated):
        return _SHORT_EVENT  # Their texts are short, and they are many.
    return text_bytes(event)


@dataclass(frozen=True, slots=True)
class Missed:
    """Sequence numbers of the events that a reader has missed, both inclusive."""

    first: int
    last: int


class EventBus:
    """Numbers events, merges deltas, keeps the newest 1000 and notifies listeners."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.seq = 0
        """The sequence number of the newest event."""
        self.sealed_bytes = 0
        """Total bytes of the texts of all sealed events."""
        self._ring = _Ring(capacity, RING_BYTES)
        self._with_frames = _Ring(capacity, FRAMED_BYTES)
        self._end = 0
        self._window: dict[int, Published] = {}
        self._open_deltas: dict[str, int] = {}
        self._listeners: list[Callable[[], None]] = []
        self._session_rings: dict[str, tuple[_Ring, int]] = {}
        self._next_seal = 0.0
        self._timer: asyncio.Handle | None = None

    def publish(self, event: Event) -> None:
        """Number the event and add it to the window, merged with an open delta of its block."""
        if isinstance(event, ContentDelta) and len(event.content) > MAX_DELTA:
            for piece in event.split(MAX_DELTA):
                self.publish(piece)
            return
        self.seq += 1
        session = event.related_session_id
        if session is not None:
            open_seq = self._open_deltas.pop(session, None)
            if isinstance(event, ContentDelta):
                if open_seq is not None:
                    earlier = self._window[open_seq].event
                    merged = isinstance(earlier, ContentDelta) and earlier.merge(event, MAX_DELTA)
                    if merged:
                        # Moved to the end: sequence numbers in the ring only ever grow.
                        del self._window[open_seq]
                        event = merged
                self._open_deltas[session] = self.seq
        self._window[self.seq] = Published(self.seq, event)
        self._schedule()

    def seal(self) -> None:
        """Move the window into the ring now, so that later events come after it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._window:
            return
        for entry in self._window.values():
            entry.weight = _weight(entry.event)
            self.sealed_bytes += entry.weight
            self._ring.append(entry)
            for old in self._with_frames.append(entry):
                old.drop_frames()
        if self._session_rings:
            self._keep_for_followers()
        # From now: windows that were sealed early must not delay the following ones.
        self._next_seal = asyncio.get_running_loop().time() + WINDOW
        self._end += len(self._window)
        self._window = {}
        self._open_deltas = {}
        for listener in tuple(self._listeners):
            listener()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each seal, on the bus's loop; return a function that stops this."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def reader(self, since: int | None = None) -> "Reader":
        """Return a reader from now on, or from what the ring still holds after number `since`."""
        self.seal()
        return Reader(self, self._end if since is None else self._index_after(since), since)

    def follow(self) -> "Follower":
        """Return a reader from now on that can be awaited."""
        return Follower(self)

    def _index_after(self, seq: int) -> int:
        behind = sum(1 for entry in self._ring.entries if entry.seq > seq)
        return self._end - behind

    def _keep_for_followers(self) -> None:
        for entry in self._window.values():
            followed = self._session_rings.get(entry.event.related_session_id or "")
            if followed is not None:
                followed[0].append(entry)

    def _schedule(self) -> None:
        is_full = len(self._window) == WINDOW_FULL
        if self._timer is not None and not is_full:
            return
        loop = asyncio.get_running_loop()
        if self._timer is not None:
            self._timer.cancel()
        if is_full:
            self._timer = loop.call_soon(self.seal)
            return
        now = loop.time()
        due = max(now, self._next_seal)
        self._timer = loop.call_at(due, self.seal) if due > now else loop.call_soon(self.seal)

    @property
    def end(self) -> int:
        """The index after the newest sealed event."""
        return self._end

    @property
    def start(self) -> int:
        """The index of the oldest event in the ring."""
        return self._end - len(self._ring.entries)

    @property
    def newest_sealed(self) -> int:
        """The sequence number of the newest event in the ring, 0 before the first."""
        entries = self._ring.entries
        return entries[-1].seq if entries else 0

    def entries(self, index: int) -> list[Published]:
        """Return the sealed events from this index on."""
        # From the newest on: few are new, and a deque is walked from its end.
        newest = list(islice(reversed(self._ring.entries), max(0, self._end - index)))
        newest.reverse()
        return newest

    def _follow(self, session_id: str) -> None:
        ring, readers = self._session_rings.get(session_id, (_Ring(CAPACITY, RING_BYTES), 0))
        self._session_rings[session_id] = (ring, readers + 1)

    def _unfollow(self, session_id: str) -> None:
        ring, readers = self._session_rings[session_id]
        if readers == 1:
            del self._session_rings[session_id]
        else:
            self._session_rings[session_id] = (ring, readers - 1)

    def _followed(self, session_ids: set[str], after: int, before: int) -> Iterator[Published]:
        for session_id in session_ids:
            ring, _ = self._session_rings[session_id]
            yield from (entry for entry in ring.entries if after < entry.seq < before)


def _take_up_to(entries: list[Published], max_bytes: int) -> list[Published]:
    """Return the first entries, at least one, up to `max_bytes`."""
    for count, entry in enumerate(entries):
        max_bytes -= entry.weight
        if max_bytes <= 0:
            return entries[: count + 1]
    return entries


class Reader:
    """One reader of the bus: a cursor into the ring and the sessions it has subscribed to."""

    def __init__(self, bus: EventBus, index: int, since: int | None) -> None:
        self._bus = bus
        self._index = index
        self._last_seq = since if since is not None else bus.seq
        self._subscribed: set[str] = set()

    def take(self, max_bytes: int = sys.maxsize) -> tuple[list[Published], Missed | None]:
        """Return new events in order, and what was missed if the ring overran this reader.

        Events of subscribed sessions that the ring has dropped come from those sessions' buffers.
        About `max_bytes` are returned at most; the rest follows on the next call.
        """
        bus = self._bus
        if self._index >= bus.end:
            return [], None
        entries = _take_up_to(bus.entries(self._index), max_bytes)
        missed, buffered = None, list[Published]()
        if self._index < bus.start or (entries and self._lost_before(entries[0])):
            first = entries[0].seq
            missed = Missed(self._last_seq + 1, first - 1)
            buffered = sorted(
                bus._followed(self._subscribed, self._last_seq, first),
                key=lambda entry: entry.seq,
            )
        self._index = max(self._index, bus.start) + len(entries)
        self._last_seq = entries[-1].seq
        return buffered + entries, missed

    def skip(self) -> None:
        """Count everything sealed as read: for readers that share the result of one `take`."""
        self._index = self._bus.end
        self._last_seq = self._bus.newest_sealed

    def _lost_before(self, oldest: Published) -> bool:
        """Whether a resuming reader's number is older than anything the ring still holds."""
        return (
            self._index == self._bus.start
            and self._bus.start > 0
            and oldest.seq > self._last_seq + 1
        )

    @property
    def behind(self) -> int:
        """How many sealed events this reader has not read."""
        return self._bus.end - self._index

    @property
    def index(self) -> int:
        """The index of the next event, equal for readers at the same position."""
        return self._index

    def subscribe(self, session_id: str) -> None:
        """Keep this session's events in a separate buffer for this reader."""
        if session_id not in self._subscribed:
            self._subscribed.add(session_id)
            self._bus._follow(session_id)

    def unsubscribe(self, session_id: str) -> None:
        """Undo `subscribe`; unknown sessions are ignored."""
        if session_id in self._subscribed:
            self._subscribed.remove(session_id)
            self._bus._unfollow(session_id)

    def close(self) -> None:
        """Unsubscribe from everything."""
        for session_id in tuple(self._subscribed):
            self.unsubscribe(session_id)


class Follower:
    """A reader for one task, which waits for what it has not read while it is entered."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._reader = bus.reader()
        self._awake = asyncio.Event()
        self._stop_listening: Callable[[], None] = lambda: None

    def __enter__(self) -> "Follower":
        self._stop_listening = self._bus.listen(self._awake.set)
        self._awake.set()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_listening()

    async def next(self) -> tuple[list[Published], Missed | None]:
        """Wait for events and return them, and what was missed if the ring overran this reader.

        The first call, and the next one after `wake`, return at once, with or without events.
        """
        await self._awake.wait()
        self._awake.clear()
        return self._reader.take()

    def wake(self) -> None:
        """Let `next` return though nothing has happened."""
        self._awake.set()
