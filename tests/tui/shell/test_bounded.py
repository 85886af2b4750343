"""What a terminal keeps and does stays small, whatever is out of sight; counted, never timed."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from model.domain import events as e
from model.domain.resources import Message, MessagePage, TextBlock, Usage
from model.richtext.blocks import Span as TextSpan
from tests.tui.conftest import Start, until
from tests.tui.fake_client import (
    FakeClient,
    a_message,
    a_project,
    a_session,
    a_state,
    a_worktree,
)
from tui.draw.line_parts import Row
from tui.draw.markdown import get_palette
from tui.shell.app import SpinneyApp
from tui.store import history_cache
from tui.store.history import History
from tui.transcript.packed_rows import CHUNK_ROWS
from tui.transcript.parts import MessageLayout, RenderContext
from tui.transcript.rows import MAX_LAYOUTS, MAX_TALL_LAYOUTS, HistoryRows
from tui.transcript.streaming import GrowingText

WORDS = "Some **words**, and `code`.\n\n```python\nprint(1)\n```\n"


def living(kind: type) -> int:
    """How many objects of this class there are."""
    gc.collect()
    return sum(type(thing) is kind for thing in gc.get_objects())


def a_talk(session_id: str, messages: int) -> list[Message]:
    return [
        a_message(f"{number} {WORDS}", id=f"{session_id}-{number:05d}", session_id=session_id)
        for number in range(messages)
    ]


async def opened(app: SpinneyApp, pilot: Any, session_id: str) -> Any:
    app.main.open_session(session_id)

    def is_shown() -> bool:
        transcript = app.main.chat.transcript
        window = transcript.viewport if transcript is not None else None
        return window is not None and window.rows.history.session_id == session_id

    await until(pilot, is_shown)
    return app.main.chat.transcript


async def test_of_a_long_conversation_only_a_stretch_stays_laid_out(start: Start) -> None:
    client = FakeClient(a_state(a_project(), a_worktree(), a_session(message_count=500)))
    client.messages["s1"] = a_talk("s1", 500)
    async with start(client) as (app, pilot):
        transcript = await opened(app, pilot, "s1")
        assert len(transcript.viewport.rows.history.messages) == history_cache.PAGE_SIZE
        before = living(MessageLayout)
        while transcript.viewport.rows.history.older_count:
            loaded = len(transcript.viewport.rows.history.messages)
            transcript.action_scroll_home()
            await until(
                pilot,
                lambda: len(transcript.viewport.rows.history.messages) > loaded,  # noqa: B023
            )
        for _ in range(100):
            transcript.action_page_down()
            await pilot.pause()
        assert transcript.layouts > MAX_LAYOUTS
        assert living(MessageLayout) - before <= MAX_LAYOUTS


def test_of_long_messages_fewer_stay_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [
        a_message(WORDS * (50 if number % 2 else 1), id=f"{number:02d}") for number in range(20)
    ]
    history = History("s1")
    history.load(MessagePage(messages=messages, total=20))
    rows = HistoryRows(history, RenderContext(80, get_palette("dark", "dracula")), {})
    monkeypatch.setattr("tui.transcript.rows.TALL_ROWS", len(rows.get_layout(0).strips))
    before = living(MessageLayout) - 1
    for index in range(20):
        rows.get_layout(index)
    assert living(MessageLayout) - before == 10 + MAX_TALL_LAYOUTS
    layouts = rows.layouts
    for index in (17, 18, 19):
        rows.get_layout(index)
    assert rows.layouts == layouts, "the last ones are there"


def test_of_a_long_text_only_the_rows_are_kept() -> None:
    growing, text = GrowingText(3), ""
    before = living(TextSpan)
    for number in range(40):
        text += f"{number} {WORDS}\n" * 40
        rows = growing.rows(text, 80, get_palette("dark", "dracula"))
    assert living(TextSpan) - before < 20
    assert len(rows) > 7000
    assert living(Row) < 4 * CHUNK_ROWS, "those that nobody looks at are put away"


async def test_of_large_messages_only_the_last_are_kept_while_one_looks_at_the_end(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.store.history.MAX_BYTES", 7_000)
    client = FakeClient(a_state(a_project(), a_worktree(), a_session()))
    client.messages = {"s1": a_talk("s1", 100)}
    async with start(client) as (app, pilot):
        transcript = await opened(app, pilot, "s1")
        history = transcript.viewport.rows.history
        assert history.older_count + len(history) == 100
        assert len(history) < 100
        first = history[0].id
        for number in range(100):
            message = a_message(f"{number} {WORDS}", id=f"new-{number}", status="processing")
            client.messages["s1"].append(message)
            client.feed(
                e.MessageStarted(message_id=message.id, session_id="s1", message=message),
                e.MessageCompleted(
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


async def test_of_large_conversations_out_of_sight_none_is_kept(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.store.history.MAX_BYTES", 7_000)
    client = FakeClient(a_state(a_project(), a_worktree(), a_session(), a_session(id="s2")))
    async with start(client) as (app, pilot):
        await opened(app, pilot, "s1")
        await opened(app, pilot, "s2")
        before = living(History)
        message = a_message(WORDS * 1000, id="long", status="processing")
        client.feed(
            e.MessageStarted(message_id="long", session_id="s1", message=message),
            e.MessageCompleted(
                message_id="long", session_id="s1", stop_reason="end", usage=Usage()
            ),
        )
        client.messages["s1"] = [message]
        await until(pilot, lambda: living(History) < before)
        transcript = await opened(app, pilot, "s1")
        assert [each.id for each in transcript.viewport.rows.history.messages] == ["long"]


async def test_of_many_conversations_that_were_opened_few_are_kept(start: Start) -> None:
    count = 2 * history_cache.MAX_HISTORIES
    keys = [f"s{number}" for number in range(1, count + 1)]
    client = FakeClient(
        a_state(a_project(), a_worktree(), *(a_session(id=key, name=key) for key in keys))
    )
    client.messages = {key: a_talk(key, 300) for key in keys}
    async with start(client) as (app, pilot):
        before = living(History)
        for key in keys:
            await opened(app, pilot, key)
        assert living(History) - before <= history_cache.MAX_HISTORIES
        for key in keys[-2:]:
            client.feed(e.SessionDeleted(session_id=key))
        await until(pilot, lambda: keys[-1] not in app.main.state.sessions)


async def test_sessions_out_of_sight_stream_without_a_row_drawn_or_laid_out(start: Start) -> None:
    keys = [f"s{number}" for number in range(1, 21)]
    sessions = [a_session(id=key, name=key, status="running") for key in keys]
    client = FakeClient(a_state(a_project(), a_worktree(), *sessions))
    async with start(client) as (app, pilot):
        transcript = await opened(app, pilot, "s1")
        client.feed(*(started(key) for key in keys))
        await until(pilot, lambda: len(app.main.state.streaming) == len(keys))
        await until(pilot, lambda: app.main.state.streaming_in("s20"))
        await pilot.pause(0.1)
        layouts = transcript.layouts
        with rows_drawn() as drawn:
            for number in range(50):
                client.feed(*(written(key, f"word {number} ") for key in keys[1:]))
                await pilot.pause()
            await until(pilot, lambda: text_of(app, "s20").endswith("word 49 "))
        assert transcript.layouts == layouts
        assert drawn() == 0


async def test_what_streams_beside_costs_the_screen_a_bounded_number_of_calls(
    start: Start,
) -> None:
    keys = [f"s{number}" for number in range(1, 21)]
    sessions = [a_session(id=key, name=key, status="running") for key in keys]
    client = FakeClient(a_state(a_project(), a_worktree(), *sessions))
    async with start(client) as (app, pilot):
        await opened(app, pilot, "s1")
        client.feed(*(started(key) for key in keys))
        await until(pilot, lambda: app.main.state.streaming_in("s20"))
        app.main.mirror.frame = 0.0

        async def calls_of(streaming: list[str]) -> int:
            calls = 0

            def note(frame: FrameType, event: str, _argument: Any) -> None:
                nonlocal calls
                calls += event == "call" and "/tui/" in frame.f_code.co_filename

            sys.setprofile(note)
            try:
                for number in range(8):
                    words = f"w{number} "
                    client.feed(*(written(key, words) for key in streaming))
                    await until(pilot, lambda: text_of(app, streaming[-1]).endswith(words))  # noqa: B023
            finally:
                sys.setprofile(None)
            return calls

        await calls_of(keys[1:2])
        one = await calls_of(keys[1:2])
        # Nineteen that stream are twice the work of one: all of a frame is taken at once.
        assert await calls_of(keys[1:]) <= 6 * one


@contextmanager
def rows_drawn() -> Iterator[Callable[[], int]]:
    """How many rows of the conversation were drawn."""
    count = 0

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        code = frame.f_code
        count += (
            event == "call" and code.co_name == "render_line" and "transcript" in code.co_filename
        )

    sys.setprofile(note)
    try:
        yield lambda: count
    finally:
        sys.setprofile(None)


def started(key: str) -> e.MessageStarted:
    message = Message(
        id=f"m-{key}", role="assistant", content=[TextBlock(text="")], timestamp=9.0,
        session_id=key, status="processing",
    )  # fmt: skip
    return e.MessageStarted(message_id=message.id, session_id=key, message=message)


def written(key: str, text: str) -> e.ContentDelta:
    return e.ContentDelta(message_id=f"m-{key}", content=text, content_index=0, session_id=key)


def text_of(app: SpinneyApp, key: str) -> str:
    message = app.main.state.streaming_in(key)
    return message.text if message is not None else ""
