"""Limits on the memory and work that hidden content costs the terminal, as counts."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from rich.segment import Segment
from textual.pilot import Pilot

from model.domain.events.messages import MessageCompleted, MessageStarted
from model.domain.events.sessions import SessionDeleted
from model.domain.messages import Message, MessagePage, TextBlock
from model.domain.usage import Usage
from model.richtext.blocks import Span as TextSpan
from tests.tui.builders import (
    a_message,
    a_project,
    a_session,
    a_state,
    a_worktree,
    an_unfinished_answer,
    content_delta,
    message_started,
)
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import is_conversation_shown
from tests.tui.waiting import until
from tui.draw.line_parts import Row
from tui.draw.markdown import get_palette
from tui.shell.app import SpinneyApp
from tui.store import history_cache
from tui.store.history import History
from tui.transcript.packed_rows import CHUNK_ROWS
from tui.transcript.parts import MessageLayout, RenderContext
from tui.transcript.rows import MAX_LAYOUTS, MAX_TALL_LAYOUTS, HistoryRows
from tui.transcript.streaming import GrowingText

pytestmark = pytest.mark.painted

WORDS = "Some **words**, and `code`.\n\n```python\nprint(1)\n```\n"


def count_instances(kind: type) -> int:
    """Count the existing objects of this class."""
    gc.collect()
    return sum(type(thing) is kind for thing in gc.get_objects())


def make_formatted_messages(session_id: str, messages: int) -> list[Message]:
    return [
        a_message(f"{number} {WORDS}", id=f"{session_id}-{number:05d}", session_id=session_id)
        for number in range(messages)
    ]


async def open_session(app: SpinneyApp, pilot: Any, session_id: str) -> Any:
    app.main.open_session(session_id)
    await until(pilot, lambda: is_conversation_shown(app, session_id))
    return app.main.chat.transcript


async def test_only_part_of_a_long_conversation_keeps_its_layouts(start: Start) -> None:
    client = a_client(message_count=500)
    client.messages["s1"] = make_formatted_messages("s1", 500)
    async with start(client) as (app, pilot):
        transcript = await open_session(app, pilot, "s1")
        assert len(transcript.viewport.rows.history.messages) == history_cache.PAGE_SIZE
        before = count_instances(MessageLayout)
        while transcript.viewport.rows.history.older_count:
            loaded = len(transcript.viewport.rows.history.messages)
            transcript.action_scroll_home()
            await until(
                pilot,
                lambda: len(transcript.viewport.rows.history.messages) > loaded,  # noqa: B023
            )
        for _ in range(130):
            transcript.action_page_down()
            await pilot.pause()
        assert transcript.layouts > MAX_LAYOUTS
        assert count_instances(MessageLayout) - before <= MAX_LAYOUTS


def test_fewer_layouts_of_long_messages_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [
        a_message(WORDS * (50 if number % 2 else 1), id=f"{number:02d}") for number in range(20)
    ]
    history = History("s1")
    history.load(MessagePage(messages=messages, total=20))
    rows = HistoryRows(history, RenderContext(80, get_palette("dark", "dracula")), {})
    monkeypatch.setattr("tui.transcript.rows.TALL_ROWS", len(rows.get_layout(0).strips))
    before = count_instances(MessageLayout) - 1
    for index in range(20):
        rows.get_layout(index)
    assert count_instances(MessageLayout) - before == 10 + MAX_TALL_LAYOUTS
    layouts = rows.layouts
    for index in (17, 18, 19):
        rows.get_layout(index)
    assert rows.layouts == layouts, "the last ones are still laid out"


def test_only_the_rows_of_a_long_text_are_kept() -> None:
    growing, text = GrowingText(Segment("   ")), ""
    before = count_instances(TextSpan)
    for number in range(40):
        text += f"{number} {WORDS}\n" * 40
        rows = growing.rows(text, 80, get_palette("dark", "dracula"))
    assert count_instances(TextSpan) - before < 20
    assert len(rows) > 6000
    assert count_instances(Row) < 4 * CHUNK_ROWS, "rows that are not read are packed"


async def test_only_the_last_large_messages_are_kept_while_the_end_is_shown(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.store.history.MAX_BYTES", 7_000)
    client = a_client()
    client.messages = {"s1": make_formatted_messages("s1", 100)}
    async with start(client) as (app, pilot):
        transcript = await open_session(app, pilot, "s1")
        history = transcript.viewport.rows.history
        assert history.older_count + len(history) == 100
        assert len(history) < 100
        first = history[0].id
        for number in range(100):
            message = a_message(f"{number} {WORDS}", id=f"new-{number}", status="processing")
            client.messages["s1"].append(message)
            client.feed(
                MessageStarted(message_id=message.id, session_id="s1", message=message),
                MessageCompleted(
                    message_id=message.id, session_id="s1", stop_reason="end", usage=Usage()
                ),
            )
        await until(pilot, lambda: history.messages[-1].id == "new-99")
        assert history[0].id != first
        assert history.older_count + len(history) == 200
        while history.older_count:
            loaded = len(history)
            transcript.action_scroll_home()
            await until(pilot, lambda: len(history) > loaded)  # noqa: B023
        assert [message.id for message in history.messages] == [
            message.id for message in client.messages["s1"]
        ]


async def test_large_hidden_conversations_are_not_kept(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.store.history.MAX_BYTES", 7_000)
    client = FakeClient(a_state(a_project(), a_worktree(), a_session(), a_session(id="s2")))
    async with start(client) as (app, pilot):
        await open_session(app, pilot, "s1")
        await open_session(app, pilot, "s2")
        before = count_instances(History)
        message = a_message(WORDS * 1000, id="long", status="processing")
        client.feed(
            MessageStarted(message_id="long", session_id="s1", message=message),
            MessageCompleted(message_id="long", session_id="s1", stop_reason="end", usage=Usage()),
        )
        client.messages["s1"] = [message]
        await until(pilot, lambda: count_instances(History) < before)
        transcript = await open_session(app, pilot, "s1")
        assert [each.id for each in transcript.viewport.rows.history.messages] == ["long"]


async def test_few_of_many_opened_conversations_are_kept(start: Start) -> None:
    count = 2 * history_cache.MAX_HISTORIES
    keys = [f"s{number}" for number in range(1, count + 1)]
    client = FakeClient(
        a_state(a_project(), a_worktree(), *(a_session(id=key, name=key) for key in keys))
    )
    client.messages = {key: make_formatted_messages(key, 300) for key in keys}
    async with start(client) as (app, pilot):
        before = count_instances(History)
        for key in keys:
            await open_session(app, pilot, key)
        assert count_instances(History) - before <= history_cache.MAX_HISTORIES
        for key in keys[-2:]:
            client.feed(SessionDeleted(session_id=key))
        await until(pilot, lambda: keys[-1] not in app.main.state.sessions)


async def test_hidden_sessions_stream_without_drawing_or_layout(start: Start) -> None:
    keys = [f"s{number}" for number in range(1, 21)]
    sessions = [a_session(id=key, name=key, status="running") for key in keys]
    client = FakeClient(a_state(a_project(), a_worktree(), *sessions))
    async with start(client) as (app, pilot):
        transcript = await open_session(app, pilot, "s1")
        client.feed(*(message_started(empty_answer(key)) for key in keys))
        await until(pilot, lambda: len(app.main.state.streaming) == len(keys))
        await wait_until_drawn(pilot)
        layouts = transcript.layouts
        with count_drawn_rows() as drawn:
            for number in range(50):
                client.feed(
                    *(
                        content_delta(f"m-{key}", f"word {number} ", session_id=key)
                        for key in keys[1:]
                    )
                )
                await pilot.pause()
            await until(pilot, lambda: streamed_text(app, "s20").endswith("word 49 "))
        assert transcript.layouts == layouts
        assert drawn() == 0
        with count_drawn_rows() as drawn:
            client.feed(content_delta("m-s1", "seen", session_id="s1"))
            await until(pilot, drawn)


async def test_hidden_sessions_stream_with_a_bounded_number_of_calls(
    start: Start,
) -> None:
    keys = [f"s{number}" for number in range(1, 21)]
    sessions = [a_session(id=key, name=key, status="running") for key in keys]
    client = FakeClient(a_state(a_project(), a_worktree(), *sessions))
    async with start(client) as (app, pilot):
        await open_session(app, pilot, "s1")
        client.feed(*(message_started(empty_answer(key)) for key in keys))
        await until(pilot, lambda: app.main.state.streaming_in("s20"))
        app.main.mirror.frame = 0.0

        async def count_calls(streaming: list[str]) -> int:
            calls = 0

            def count_event(frame: FrameType, event: str, _argument: Any) -> None:
                nonlocal calls
                calls += event == "call" and "/tui/" in frame.f_code.co_filename

            sys.setprofile(count_event)
            try:
                for number in range(8):
                    words = f"w{number} "
                    client.feed(
                        *(content_delta(f"m-{key}", words, session_id=key) for key in streaming)
                    )
                    await until(pilot, lambda: streamed_text(app, streaming[-1]).endswith(words))  # noqa: B023
            finally:
                sys.setprofile(None)
            return calls

        await count_calls(keys[1:2])
        one = await count_calls(keys[1:2])
        # Nineteen sessions cost twice as much as one: the updates of a frame are applied at once.
        assert await count_calls(keys[1:]) <= 6 * one


@contextmanager
def count_drawn_rows() -> Iterator[Callable[[], int]]:
    """Count how often rows of the conversation are drawn."""
    count = 0

    def count_event(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        code = frame.f_code
        count += (
            event == "call" and code.co_name == "render_lines" and "transcript" in code.co_filename
        )

    sys.setprofile(count_event)
    try:
        yield lambda: count
    finally:
        sys.setprofile(None)


async def wait_until_drawn(pilot: "Pilot[None]") -> None:
    """Wait until nothing of the conversation is left to draw."""
    is_drawing = True
    while is_drawing:
        with count_drawn_rows() as drawn:
            await pilot.pause()
            is_drawing = drawn() > 0


def empty_answer(session_id: str) -> Message:
    return an_unfinished_answer(f"m-{session_id}", TextBlock(text=""), session_id=session_id)


def streamed_text(app: SpinneyApp, key: str) -> str:
    message = app.main.state.streaming_in(key)
    return message.text if message is not None else ""
