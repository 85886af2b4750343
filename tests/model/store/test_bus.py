"""The event bus: it never blocks, merges deltas, and reports missed events to slow readers."""

import asyncio
import sys

import pytest

from model.domain.events.base import Event
from model.domain.events.messages import ContentDelta, RunNoticed
from model.domain.events.sessions import SessionDeleted
from model.store.bus import (
    CAPACITY,
    FRAMED_BYTES,
    MAX_DELTA,
    RING_BYTES,
    WINDOW,
    WINDOW_FULL,
    EventBus,
    Missed,
    Reader,
)
from tests.patience import PATIENCE


def delta(text: str, session: str = "s", index: int = 0, message: str = "m") -> ContentDelta:
    return ContentDelta(message_id=message, content=text, content_index=index, session_id=session)


def take_events(reader: Reader) -> list[Event]:
    return [entry.event for entry in reader.take()[0]]


async def test_a_reader_receives_only_later_events() -> None:
    bus = EventBus()
    bus.publish(SessionDeleted(session_id="old"))
    reader = bus.reader()
    bus.publish(SessionDeleted(session_id="new"))
    bus.seal()
    assert take_events(reader) == [SessionDeleted(session_id="new")]
    assert take_events(reader) == []


async def test_deltas_of_one_block_merge_and_keep_the_newest_number() -> None:
    bus = EventBus()
    reader = bus.reader()
    for text in ("a", "b", "c"):
        bus.publish(delta(text))
    bus.seal()
    [entry] = reader.take()[0]
    assert (entry.seq, entry.event) == (3, delta("abc"))


async def test_deltas_of_two_sessions_merge_apart_and_numbers_only_grow() -> None:
    bus = EventBus()
    reader = bus.reader()
    for text in ("a", "b"):
        bus.publish(delta(text, "one", message="m1"))
        bus.publish(delta(text, "two", message="m2"))
    bus.seal()
    entries, _ = reader.take()
    assert [entry.seq for entry in entries] == [3, 4]
    assert [entry.event.content for entry in entries if isinstance(entry.event, ContentDelta)] == [
        "ab",
        "ab",
    ]


async def test_deltas_do_not_merge_across_another_event_of_their_session() -> None:
    bus = EventBus()
    reader = bus.reader()
    notice = RunNoticed(session_id="s", text="retrying")
    for event in (delta("a"), notice, delta("b")):
        bus.publish(event)
    bus.seal()
    assert take_events(reader) == [delta("a"), notice, delta("b")]


async def test_deltas_of_different_blocks_do_not_merge() -> None:
    bus = EventBus()
    reader = bus.reader()
    bus.publish(delta("a", index=0))
    bus.publish(delta("b", index=1))
    bus.seal()
    assert take_events(reader) == [delta("a", index=0), delta("b", index=1)]


async def test_a_burst_is_published_before_the_window_ends() -> None:
    bus = EventBus()
    bus.publish(SessionDeleted(session_id="first"))
    await asyncio.sleep(0)
    reader = bus.reader()
    for number in range(WINDOW_FULL):
        bus.publish(SessionDeleted(session_id=str(number)))
    assert take_events(reader) == []
    await asyncio.sleep(0)
    assert len(take_events(reader)) == WINDOW_FULL


async def test_windows_sealed_early_do_not_delay_later_events() -> None:
    bus = EventBus()
    for _ in range(10_000):
        bus.publish(SessionDeleted(session_id="early"))
        bus.seal()
    sealed = asyncio.Event()
    bus.listen(sealed.set)
    bus.publish(SessionDeleted(session_id="after"))
    # Ten thousand windows of 16 ms are 160 s.
    await asyncio.wait_for(sealed.wait(), PATIENCE)


async def test_a_slow_reader_receives_the_missed_range_and_the_newest_events() -> None:
    bus = EventBus()
    reader = bus.reader()
    for number in range(CAPACITY + 200):
        bus.publish(SessionDeleted(session_id=str(number)))
        bus.seal()
    entries, missed = reader.take()
    assert missed == Missed(1, 200)
    assert [entry.seq for entry in entries] == list(range(201, CAPACITY + 201))


async def test_a_subscribed_session_keeps_its_events_under_a_flood_of_others() -> None:
    bus = EventBus()
    reader = bus.reader()
    reader.subscribe("mine")
    bus.publish(RunNoticed(session_id="mine", text="kept"))
    for number in range(CAPACITY + 50):
        bus.publish(RunNoticed(session_id="other", text=str(number)))
        bus.seal()
    entries, missed = reader.take()
    assert missed is not None
    assert entries[0].event == RunNoticed(session_id="mine", text="kept")
    assert len(entries) == CAPACITY + 1
    numbers = [entry.seq for entry in entries]
    assert numbers == sorted(numbers)


async def test_a_reader_resumes_from_the_number_it_knows() -> None:
    bus = EventBus()
    for number in range(5):
        bus.publish(SessionDeleted(session_id=str(number)))
    reader = bus.reader(since=3)
    assert [entry.seq for entry in reader.take()[0]] == [4, 5]
    assert bus.reader(since=5).take() == ([], None)


async def test_resuming_from_before_the_ring_reports_missed_events() -> None:
    bus = EventBus()
    for number in range(CAPACITY + 10):
        bus.publish(SessionDeleted(session_id=str(number)))
    entries, missed = bus.reader(since=2).take()
    assert missed == Missed(3, 10)
    assert len(entries) == CAPACITY


async def test_listeners_are_called_at_once_when_idle_and_per_window_under_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now)
    bus = EventBus()
    sealed = asyncio.Event()
    seals = 0

    def listen() -> None:
        nonlocal seals
        seals += 1
        sealed.set()

    stop = bus.listen(listen)
    bus.publish(SessionDeleted(session_id="first"))
    await sealed.wait()
    assert seals == 1
    sealed.clear()
    for number in range(WINDOW_FULL - 1):
        bus.publish(SessionDeleted(session_id=str(number)))
        await asyncio.sleep(0)
    assert seals == 1
    now += WINDOW
    await sealed.wait()
    assert seals == 2
    stop()


async def test_a_frame_is_encoded_once_for_all_readers() -> None:
    bus = EventBus()
    readers = [bus.reader() for _ in range(3)]
    bus.publish(SessionDeleted(session_id="s"))
    bus.seal()
    encoded = []
    for reader in readers:
        for entry in reader.take()[0]:
            frame = entry.frame("plain", lambda e: encoded.append(e.seq) or b"frame")  # type: ignore[func-returns-value]
            assert frame == b"frame"
    assert encoded == [1]


async def test_the_ring_is_limited_in_bytes_and_slow_readers_receive_the_missed_range() -> None:
    bus = EventBus()
    reader, following = bus.reader(), bus.reader()
    following.subscribe("s")
    for number in range(3 * RING_BYTES // MAX_DELTA):
        bus.publish(delta("x" * MAX_DELTA, index=number))
        bus.seal()
    for late in (reader, following):
        entries, missed = late.take()
        assert missed is not None and missed.last == entries[0].seq - 1
        assert entries[-1].seq == bus.seq
        assert RING_BYTES * 0.9 < sum(entry.weight for entry in entries) <= RING_BYTES


async def test_the_byte_limit_of_the_ring_holds_for_wide_characters() -> None:
    bus = EventBus()
    reader = bus.reader()
    for number in range(2 * RING_BYTES // MAX_DELTA):
        bus.publish(delta("\U0001f9f5" + "x" * (MAX_DELTA - 1), index=number))
        bus.seal()
    entries, _ = reader.take()
    texts = [entry.event.content for entry in entries if isinstance(entry.event, ContentDelta)]
    assert RING_BYTES * 0.9 < sum(map(sys.getsizeof, texts)) <= RING_BYTES


async def test_a_subscribed_session_has_its_own_byte_limit_under_a_flood_of_others() -> None:
    bus = EventBus()
    reader = bus.reader()
    reader.subscribe("mine")
    bus.publish(delta("kept", session="mine"))
    for session in ("other", "mine"):
        for number in range(2 * RING_BYTES // MAX_DELTA):
            bus.publish(delta("x" * MAX_DELTA, session=session, index=number))
            bus.seal()
        entries, _ = reader.take()
        own = [entry for entry in entries if entry.event.related_session_id == "mine"]
        assert sum(entry.weight for entry in entries) <= 2 * RING_BYTES
        assert bool(own) and (own[0].event == delta("kept", session="mine")) == (session == "other")


async def test_long_text_is_split_into_deltas_of_bounded_length() -> None:
    bus = EventBus()
    reader = bus.reader()
    text = "".join(f"{number:07d} " for number in range(MAX_DELTA // 2))
    bus.publish(delta(text[:-100]))
    for number in range(100):
        bus.publish(delta(text[len(text) - 100 + number]))
    bus.seal()
    contents = [event.content for event in take_events(reader) if isinstance(event, ContentDelta)]
    assert "".join(contents) == text
    assert max(map(len, contents)) <= MAX_DELTA


async def test_a_reader_can_take_events_in_parts() -> None:
    bus = EventBus()
    reader = bus.reader()
    for number in range(10):
        bus.publish(delta("x" * 1000, index=number))
    bus.seal()
    parts = []
    while (part := reader.take(3500)) != ([], None):
        assert part[1] is None
        parts.append([entry.seq for entry in part[0]])
    assert [number for part in parts for number in part] == list(range(1, 11))
    assert [len(part) for part in parts] == [4, 4, 2]


async def test_frames_are_kept_for_the_newest_events_only() -> None:
    bus = EventBus()
    for number in range(2 * FRAMED_BYTES // MAX_DELTA):
        bus.publish(delta("x" * MAX_DELTA, index=number))
        bus.seal()
        for entry in bus.entries(0):
            assert entry.frame("plain", lambda e: str(e.seq).encode()) == str(entry.seq).encode()
    kept = [entry.weight for entry in bus.entries(0) if entry.frames]
    assert FRAMED_BYTES * 0.9 < sum(kept) <= FRAMED_BYTES


async def test_a_follower_waits_for_events_or_until_it_is_woken() -> None:
    bus = EventBus()
    follower = bus.follow()
    bus.publish(SessionDeleted(session_id="before it waits"))
    bus.seal()
    with follower:
        assert [entry.seq for entry in (await follower.next())[0]] == [1]
        waiting = asyncio.create_task(follower.next())
        await asyncio.sleep(0)
        assert not waiting.done()
        bus.publish(SessionDeleted(session_id="while it waits"))
        assert [entry.seq for entry in (await waiting)[0]] == [2]
        follower.wake()
        assert await follower.next() == ([], None)
    bus.publish(SessionDeleted(session_id="after the end"))
    bus.seal()
    assert not bus._listeners
