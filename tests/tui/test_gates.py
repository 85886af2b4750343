"""Limits that keep the terminal fast, as counts that are the same on every machine."""

import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen

from model.domain.events.sessions import SessionUpdated
from model.domain.messages import TextBlock
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
from tests.tui.reading import screen_text
from tests.tui.transcript_app import TranscriptApp, history_of, running
from tests.tui.waiting import until
from tui.shell.app import SpinneyApp
from tui.shell.startup import SAVE_INTERVAL
from tui.tree.index import MAX_FOUND
from tui.tree.widget import ProjectTree

pytestmark = pytest.mark.painted

ROOT = Path(__file__).parents[2]
MODULES = 500
"""Imported at the first frame; bare Textual with a tree, a text area and a footer has 392."""
IN_FRONT = 70
"""Imported by the process that supervises the terminal; Python itself starts with some 40."""
WIDGETS = 40
BYTES = 1024
"""Written for a typed character."""


def long_conversation(messages: int) -> FakeClient:
    client = a_client(message_count=messages)
    client.messages["s1"] = [
        a_message(f"Message **{number}**\n\n```python\nprint({number})\n```", id=f"m{number:06d}")
        for number in range(messages)
    ]
    return client


def test_few_modules_are_loaded_at_the_first_frame() -> None:
    program = """
import json, os, sys
import tui.shell.app
def connect():
    heavy = {"aiohttp", "git", "pygments", "pydantic", "sqlite3", "markdown_it", "model.state"}
    heavy |= {"argparse", "hashlib", "logging.handlers", "rich._emoji_codes"}
    found = json.dumps([len(sys.modules), sorted(heavy & set(sys.modules))])
    os.write(1, found.encode())  # Textual keeps what is printed
    os._exit(0)
tui.shell.app.SpinneyApp(connect).run(headless=True)
"""
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    count, heavy = json.loads(found.stdout.splitlines()[-1])
    assert heavy == []
    assert count <= MODULES


def test_the_supervising_process_imports_few_modules() -> None:
    program = """
import sys
import spinney, tui.terminal.requirements, tui.terminal.supervisor
tui.terminal.requirements.check_terminal = lambda: None
tui.terminal.supervisor.run_supervised = lambda work: print(*sys.modules) or 0
spinney.main([])
"""
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    modules = set(found.stdout.split())
    assert modules >= {"spinney", "tui.terminal.supervisor"}
    assert not modules & {"argparse", "json", "pathlib", "typing", "model.base.errors", "asyncio"}
    assert len(modules) <= IN_FRONT


@pytest.mark.longer
def test_an_attached_terminal_loads_no_implementation() -> None:
    program = """
import importlib, json, pkgutil, sys
import tui
for module in pkgutil.walk_packages(tui.__path__, "tui."):
    importlib.import_module(module.name)
alone = list(sys.modules)
import model.client.remote
print(json.dumps([alone, list(sys.modules)]))
"""
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    alone, attached = (set(modules) for modules in json.loads(found.stdout.splitlines()[-1]))
    assert {"tui.shell.app", "tui.shell.connection", "model.api.sessions"} <= alone
    below = ("background", "backends", "chat", "commands", "git", "hosting", "projects", "runtime")
    below += ("scripts", "store", "worktrees", "writing")
    rooms = {f"model.{room}" for room in below}
    assert [name for name in attached if ".".join(name.split(".")[:2]) in rooms] == []
    assert not attached & {"git", "sqlite3"}
    assert "aiohttp" not in alone


async def test_the_style_sheet_is_parsed_once_before_the_first_frame(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    with count_calls(Stylesheet, "reparse", monkeypatch) as again:
        async with start(long_conversation(1)):
            assert again == []


async def test_ten_thousand_messages_are_few_widgets(start: Start) -> None:
    client = long_conversation(10_000)
    async with start(client) as (app, pilot):
        transcript = await wait_for_transcript(app, pilot)
        assert len(app.screen.query("*")) + 1 <= WIDGETS
        # Only visible messages are laid out.
        assert transcript.layouts <= 60
        before = transcript.layouts
        transcript.action_scroll_home()
        await pilot.pause()
        assert transcript.layouts - before <= 60


async def wait_for_transcript(app: SpinneyApp, pilot: Any) -> Any:
    await until(pilot, lambda: app.main.chat.transcript is not None)
    transcript = app.main.chat.transcript
    assert transcript is not None
    await until(pilot, lambda: transcript.viewport is not None and transcript.is_ready)
    return transcript


@contextmanager
def count_calls(owner: type, name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Collect the calls of a method, one entry each."""
    calls: list[str] = []
    done: Callable[..., Any] = getattr(owner, name)

    def count(*given: Any, **named: Any) -> Any:
        calls.append(name)
        return done(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, count)
        yield calls


async def test_streamed_text_causes_no_screen_layout(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = long_conversation(200)
    async with start(client) as (app, pilot):
        await wait_for_transcript(app, pilot)
        client.feed(message_started(an_unfinished_answer("n", TextBlock(text=""))))
        await until(pilot, lambda: app.main.state.streaming_in("s1"))
        client.feed(content_delta("n", "It begins. "))
        await until(pilot, lambda: "It begins" in screen_text(app))
        with (
            count_calls(Screen, "_refresh_layout", monkeypatch) as layouts,
            count_calls(Stylesheet, "apply", monkeypatch) as styled,
            count_calls(ProjectTree, "render_lines", monkeypatch) as trees,
        ):
            for number in range(40):
                client.feed(content_delta("n", f"Word {number} and its line.\n\n- an item\n"))
                await pilot.pause()
            seen = len(trees)
            await until(pilot, lambda: "Word 39" in screen_text(app))
        assert layouts == []
        assert styled == []
        assert seen == 0  # only changed rows are drawn


async def test_a_counted_token_causes_no_screen_layout(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = long_conversation(20)
    async with start(client) as (app, pilot):
        await wait_for_transcript(app, pilot)
        with count_calls(Screen, "_refresh_layout", monkeypatch) as layouts:
            client.feed(SessionUpdated(session_id="s1", updates={"context_tokens": 12_345}))
            await until(pilot, lambda: app.main.state.sessions["s1"].context_tokens == 12_345)
            await pilot.pause()
        assert layouts == []


async def test_another_theme_styles_mounted_widgets_and_lays_out_visible_messages(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = long_conversation(10_000)
    async with start(client) as (app, pilot):
        transcript = await wait_for_transcript(app, pilot)
        every = [app, *app.screen.walk_children(with_self=True)]
        parts = sum(len(widget._get_component_classes()) for widget in every)
        laid_out = transcript.layouts
        with count_calls(Stylesheet, "apply", monkeypatch) as styled:
            app.use_theme("light")
            await until(pilot, lambda: "-light-mode" in app.classes and bool(styled))
            await pilot.pause()
        # A widget has at most two scroll bars.
        assert len(styled) <= 3 * len(every) + parts
        assert transcript.layouts - laid_out <= 60


async def test_a_letter_of_a_filter_adds_few_of_thousands_of_rows(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees = [a_worktree(id=f"w{n}", name=f"tree-{n}") for n in range(500)]
    sessions = [
        a_session(id=f"s{n}", worktree_id=f"w{n % 500}", name=f"session {n}") for n in range(5000)
    ]
    async with start(FakeClient(a_state(a_project(), *trees, *sessions))) as (app, pilot):
        tree = app.main.projects
        tree.focus()
        for typed in ("s", "se", "session 41"):
            with (
                count_calls(ProjectTree, "_add", monkeypatch) as made,
                count_calls(ProjectTree, "_draw", monkeypatch) as written,
            ):
                tree.set_filter(typed)
                await pilot.pause()
            assert len(made) <= 2 * MAX_FOUND
            assert len(written) <= 4 * MAX_FOUND


async def test_objects_of_the_start_are_frozen_for_the_garbage_collector(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen: list[bool] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append("tui.transcript.widget" in sys.modules))
    async with start(long_conversation(50)) as (app, pilot):
        await wait_for_transcript(app, pilot)
        await until(pilot, lambda: len(frozen) == 2)
        assert frozen[-1]


async def test_a_typed_character_writes_few_bytes(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with start(long_conversation(50)) as (app, pilot):
        await wait_for_transcript(app, pilot)
        await until(pilot, lambda: app.focused is app.main.chat.composer)
        # The frame with the scroll bar of the conversation is no part of a typed character's.
        transcript = app.main.chat.transcript
        await until(pilot, lambda: transcript.show_vertical_scrollbar)
        await pilot.press("x")
        await pilot.pause()
        written: list[int] = []
        display = app._display

        def measure(screen: Any, renderable: Any) -> None:
            if hasattr(renderable, "render_segments"):
                written.append(len(renderable.render_segments(app.console).encode()))
            display(screen, renderable)

        with monkeypatch.context() as patch:
            patch.setattr(app, "_display", measure)
            for character in "typed":
                before = len(written)
                await pilot.press(character)
                await until(pilot, lambda: len(written) > before)  # noqa: B023
                assert sum(written[before:]) <= BYTES


@pytest.mark.parametrize("status", ["waiting", "running"])
async def test_waiting_and_running_sessions_run_few_timers(start: Start, status: str) -> None:
    waits = "question" if status == "waiting" else None
    sessions = [
        a_session(id=f"s{n}", name=f"Session {n}", status=status, waiting_for=waits)
        for n in range(20)
    ]
    trees = [a_worktree(id=f"w{n}", name=f"tree-{n}") for n in range(1, 7)]
    client = FakeClient(a_state(a_project(), *trees, *sessions))
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        await pilot.pause()
        pumps = [app, app.screen, *app.screen.query("*")]
        timers = [timer for pump in pumps for timer in pump._timers]
        running = [t for t in timers if t._active.is_set() and t._interval and t._repeat is None]
        # Only the clocks of the visible run and of the rows of the tree tick.
        clock = 2.0 if status == "running" else 0.0
        assert sum(1 / timer._interval for timer in running) <= clock + 1 / SAVE_INTERVAL


async def test_a_piece_of_text_costs_the_same_in_a_long_message_as_in_a_short_one() -> None:
    app = TranscriptApp(history_of())
    async with app.run_test(size=(100, 30)) as pilot:
        app.history.apply(message_started(running("n")))
        app.transcript.update_messages(0)
        await pilot.pause()

        def grow(text: str) -> None:
            changed = app.history.apply(content_delta("n", text))
            assert changed is not None
            app.transcript.update_messages(changed)

        def count_calls_of_a_piece() -> int:
            count = 0

            def count_event(_frame: Any, event: str, _argument: Any) -> None:
                nonlocal count
                count += event in ("call", "c_call")

            sys.setprofile(count_event)
            try:
                for _ in range(20):
                    grow("a few words, ")
            finally:
                sys.setprofile(None)
            return count

        paragraph = "Some words of a paragraph, **strong** and `code`.\n\n"
        fence = "```python\nx = 1\n```\n\n"
        grow(paragraph * 10 + fence)
        count_calls_of_a_piece()  # warm up caches
        grow("\n\n" + paragraph * 10 + fence)
        short = count_calls_of_a_piece()
        grow("\n\n" + (paragraph * 10 + fence) * 60)
        assert count_calls_of_a_piece() <= 1.5 * short
