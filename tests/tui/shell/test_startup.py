"""The first frame shows the last screen until the client connects; keys typed before are kept."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.events import Key
from textual.messages import InBandWindowResize, TerminalSupportsSynchronizedOutput

from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.delayed_client import (
    client_with_conversation,
    finish_connecting,
    run_once,
    start_app,
)
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import screen_text
from tests.tui.virtual_loop import Gate
from tests.tui.waiting import settled, until
from tui.composer.widget import Composer
from tui.shell.app import SpinneyApp
from tui.shell.main_screen import MainScreen
from tui.shell.startup_snapshot import MAX_BYTES, MAX_ROWS, SavedRow, Snapshot, read, write
from tui.store.places import Place
from tui.terminal.input_parser import BackgroundReported, KeyboardReported
from tui.tree.detail import HEIGHT


async def test_workers_end_with_the_screen(tmp_path: Path) -> None:
    app = SpinneyApp(lambda: FakeClient(a_state()), data=tmp_path, environ={})
    gate: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    went_on = False

    async def wait_and_continue() -> None:
        nonlocal went_on
        await gate
        went_on = True  # too late: widgets no longer accept changes

    async with app.run_test() as pilot:
        await until(pilot, lambda: app.main.is_connected)
        app.run_worker(wait_and_continue())
        await pilot.pause()
        gate.set_result(None)
        app.exit()
        await until(pilot, lambda: not app.is_running)
    assert not went_on


async def test_a_preload_that_ends_after_the_screen_raises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = SpinneyApp(lambda: FakeClient(a_state()), data=tmp_path, environ={})
    may_finish = Gate()
    monkeypatch.setattr("tui.shell.preload.warm_up", lambda: may_finish.wait())
    close = app._close_all

    async def close_all() -> None:
        await close()
        may_finish.set()
        await app.workers.wait_for_complete()

    monkeypatch.setattr(app, "_close_all", close_all)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.main.is_connected)
        settling = [worker for worker in app.workers if worker.name == "_settle"]
        for other in set(app.workers) - set(settling):
            other.cancel()
    assert [worker.error for worker in settling] == [None]


async def test_what_the_terminal_sends_before_the_main_screen_has_widgets_waits_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mouse = (9, 9, 0, 0, 1, False, False, False)
    early = [
        KeyboardReported(),
        BackgroundReported(dark=False),
        InBandWindowResize(supported=True, enabled=False),
        TerminalSupportsSynchronizedOutput(),
        events.Resize.from_dimensions((110, 30), None),
        events.AppBlur(),
        events.AppFocus(),
        events.Key("alt+1", None),
        events.Key("x", "x"),
        events.Paste("pasted"),
        events.MouseMove(None, *mouse),
        events.MouseDown(None, *mouse),
        events.MouseUp(None, *mouse),
    ]

    def begin(app: SpinneyApp) -> MainScreen:
        for message in early:
            app.post_message(message)
        return app.main

    monkeypatch.setattr(SpinneyApp, "get_default_screen", begin)
    client = a_client(a_state(a_project(), a_worktree(), a_session()))
    app = SpinneyApp(lambda: client, environ={})
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: app.main.is_connected and settled(client))
        assert not app.is_dark
        assert app.main.query_one(Composer).text == "xpasted"
        assert "1 · brave-otter" in screen_text(app)


async def test_the_first_frame_shows_the_tree_of_the_last_run(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    await run_once(file)
    async with start_app(client_with_conversation(), file) as (app, pilot, may_connect):
        await pilot.pause()
        assert app.main.is_connected is False
        before = screen_text(app)
        for words in ("alpha", "brave-otter", "Fix the parser"):
            assert words in before
        await finish_connecting(app, pilot, may_connect)
        await until(pilot, lambda: "drop the last row" in screen_text(app))
        # No row of the tree has moved; the details below it come with the first state.
        width = app.main.projects.outer_size.width
        now = screen_text(app)
        assert [row[:width] for row in now.splitlines()[1 : -1 - HEIGHT]] == [
            row[:width] for row in before.splitlines()[1 : -1 - HEIGHT]
        ]


async def test_outdated_rows_are_replaced(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    await run_once(file)
    client = FakeClient(
        a_state(
            a_project(name="beta"),
            a_worktree(id="w2", name="calm-heron"),
            a_session(id="s2", worktree_id="w2", name="Other work"),
        )
    )
    async with start_app(client, file) as (app, pilot, may_connect):
        await pilot.pause()
        assert "brave-otter" in " ".join(app.main.projects.labels)
        await finish_connecting(app, pilot, may_connect)
        assert app.main.projects.labels == ["beta  main", "· calm-heron  Other work"]
        assert "drop the last row" not in screen_text(app)
        assert app.main.place == Place("session", "s2")


async def test_text_typed_before_the_client_connects_is_in_the_message_box(
    tmp_path: Path,
) -> None:
    file = tmp_path / "screen.json"
    await run_once(file)
    async with start_app(client_with_conversation(), file) as (app, pilot, may_connect):
        await pilot.press(*"go on", "backspace", "n")
        await finish_connecting(app, pilot, may_connect)
        await until(pilot, lambda: app.main.chat.composer.text == "go on")


async def test_text_typed_while_the_message_box_gets_the_focus_stays_in_order(
    tmp_path: Path,
) -> None:
    client = client_with_conversation()
    async with start_app(client, tmp_path / "screen.json") as (app, pilot, may_connect):
        typed = ""

        def type_on() -> None:
            nonlocal typed
            letter = "abcdefghijklmnopqrstuvwxyz"[len(typed) % 26]
            typed += letter
            app.post_message(Key(letter, letter))

        type_on()
        may_connect.set()
        while not isinstance(app.focused, Composer):
            type_on()
            await asyncio.sleep(0)
        for _ in range(100):
            type_on()
            await asyncio.sleep(0)
        await until(pilot, lambda: len(app.main.chat.composer.text) >= len(typed))
        assert app.main.chat.composer.text == typed


async def test_a_projects_pane_that_is_opened_early_stays_and_escape_stops_nothing(
    tmp_path: Path,
) -> None:
    file = tmp_path / "screen.json"
    await run_once(file)
    client = a_client(status="running")
    async with start_app(client, file, size=(80, 24)) as (app, pilot, may_connect):
        await pilot.press("f2")
        await finish_connecting(app, pilot, may_connect)
        await until(pilot, lambda: app.main.place == Place("session", "s1"))
        assert app.main.projects.display
        await pilot.press("escape")
        assert not client.called("stop_generation")
        await until(pilot, lambda: isinstance(app.focused, Composer))


async def test_letters_typed_early_filter_a_focused_tree(tmp_path: Path) -> None:
    several = client_with_conversation(a_session(id="s2", name="Rename the store"))
    async with start_app(several, tmp_path / "screen.json") as (app, pilot, may_connect):
        await pilot.press(*"rena")
        await finish_connecting(app, pilot, may_connect)
        await until(pilot, lambda: app.main.projects.filter == "rena")


async def test_a_row_that_is_opened_early_opens(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    await run_once(file)
    two = client_with_conversation(a_session(id="s2", name="Rename the store"))
    async with start_app(two, file) as (app, pilot, may_connect):
        await pilot.pause()
        app.main.projects.post_message(app.main.projects.Opened(Place("session", "s2")))
        await pilot.pause()
        await finish_connecting(app, pilot, may_connect)
        assert app.main.place == Place("session", "s2")


async def test_starting_in_a_project_without_sessions_selects_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "screen.json"
    await run_once(file)
    (tmp_path / "beta" / ".git").mkdir(parents=True)
    (tmp_path / "beta" / ".git" / "HEAD").touch()
    beta = a_project(id="p2", name="beta", path=str(tmp_path / "beta"))
    client = client_with_conversation(beta)
    async with start_app(client, file, offer_path=tmp_path / "beta") as (app, pilot, may_connect):
        await finish_connecting(app, pilot, may_connect)
        await until(pilot, lambda: app.main.projects.place == Place("project", "p2"))
        await until(pilot, lambda: app.focused is app.main.projects)
        assert app.main.session is None


async def test_the_open_session_is_saved_for_the_next_start(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    client = client_with_conversation(a_session(id="s2", name="Rename the store"))
    async with start_app(client, file) as (app, pilot, may_connect):
        may_connect.set()
        await until(pilot, lambda: app.main.is_connected and settled(client))
        app.main.open_session("s1")
        await until(pilot, lambda: "drop the last row" in screen_text(app))
        app.exit()
    kept = read(file)
    assert len(kept.rows) == 4
    assert kept.session_id == "s1"


async def test_a_worktree_without_a_session_is_open_again_at_the_next_start(tmp_path: Path) -> None:
    empty = Place("worktree", "w2")
    file = tmp_path / "screen.json"
    client = client_with_conversation(a_worktree(id="w2", name="quiet-wren"))
    async with start_app(client, file) as (app, pilot, may_connect):
        may_connect.set()
        await until(pilot, lambda: app.main.is_connected and settled(client))
        app.main.open_place(empty)
        await until(pilot, lambda: app.main.projects.place == empty)
        app.exit()
    again = client_with_conversation(a_worktree(id="w2", name="quiet-wren"))
    async with start_app(again, file) as (app, pilot, may_connect):
        await finish_connecting(app, pilot, may_connect)
        await until(pilot, lambda: app.main.place == empty)


async def test_a_changed_screen_is_saved_periodically(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    client = client_with_conversation()
    async with start_app(client, file) as (app, pilot, may_connect):
        may_connect.set()
        await until(pilot, lambda: app.main.is_connected and settled(client))
        await until(pilot, lambda: "drop the last row" in screen_text(app))
        app.clear_notifications()
        await app.main.startup.save_if_changed()
        first = file.stat()
        assert read(file).session_id == "s1"
        await app.main.startup.save_if_changed()  # nothing has changed
        assert file.stat().st_mtime_ns == first.st_mtime_ns


async def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    await run_once(file)
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_size_of_a_snapshot_is_limited(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    row = SavedRow(0, Place("project", "p"), (("x" * (MAX_BYTES // 2), "text"),), True)
    write(file, Snapshot("dark", (row,)))
    kept = file.stat().st_size
    write(file, Snapshot("dark", (row, row, row)))
    assert file.stat().st_size == kept < MAX_BYTES
    snapshot = json.loads(file.read_text())
    snapshot["rows"] = [[0, "project", str(n), [["a", "text"]], True] for n in range(MAX_ROWS + 5)]
    file.write_text(json.dumps(snapshot))
    assert len(read(file).rows) == MAX_ROWS


GOOD = {
    "version": 3,
    "theme": "dark",
    "rows": [[0, "project", "p", [["alpha", "strong"]], True]],
    "folds": [[True, "project", "p"]],
    "pointed": ["project", "p"],
    "session_id": "s",
}


def with_changes(**changes: Any) -> str:
    return json.dumps({**GOOD, **changes})


DAMAGED = {
    "empty": "",
    "no JSON": '{"version": 3, "rows": [',
    "a list": "[]",
    "another version": with_changes(version=1),
    "no theme": with_changes(theme="neon"),
    "rows of another kind": with_changes(rows=[[0, "root", "p", [], True]]),
    "rows with too little": with_changes(rows=[[0]]),
    "an invalid depth": with_changes(rows=[["0", "project", "p", [], True]]),
    "control bytes in a row": with_changes(
        rows=[[0, "project", "p", [["\x1b]0;x\x07", "text"]], True]]
    ),
    "nested without end": "[" * 100_000,
    "too large": json.dumps({**GOOD, "more": "x" * MAX_BYTES}),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_is_ignored(damage: str, tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    file.write_text(json.dumps(GOOD))
    assert read(file) != Snapshot()
    file.write_text(DAMAGED[damage])
    assert read(file) == Snapshot()


def test_only_a_regular_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    assert read(file) == Snapshot()
    file.mkdir()
    assert read(file) == Snapshot()
    file.rmdir()
    os.mkfifo(file)
    assert read(file) == Snapshot()
    file.unlink()
    (tmp_path / "elsewhere").write_text(json.dumps(GOOD))
    file.symlink_to(tmp_path / "elsewhere")
    assert read(file) == Snapshot()


async def test_a_damaged_file_does_not_prevent_the_start(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    file.write_text(DAMAGED["control bytes in a row"])
    async with start_app(client_with_conversation(), file) as (app, pilot, may_connect):
        await finish_connecting(app, pilot, may_connect)
        await until(pilot, lambda: "drop the last row" in screen_text(app))
