"""The first frame shows the last screen, until the real one stands; keys typed meanwhile arrive."""

import asyncio
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key

from tests.patience import PATIENCE
from tests.tui.conftest import settled, until
from tests.tui.doorstep import a_client, ready, screen_of, seen_once, started
from tests.tui.fake_client import FakeClient, a_project, a_session, a_state, a_worktree
from tui.composer.widget import Composer
from tui.shell.app import SpinneyApp
from tui.shell.startup_snapshot import MAX_BYTES, MAX_ROWS, SavedRow, Snapshot, read, write
from tui.store.places import Place


async def test_nothing_goes_on_behind_a_screen_that_is_left(tmp_path: Path) -> None:
    app = SpinneyApp(lambda: FakeClient(a_state()), data=tmp_path, environ={})
    gate: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    went_on = False

    async def behind() -> None:
        nonlocal went_on
        await gate
        went_on = True  # whatever it does next to a widget fails: none takes anything any more

    async with app.run_test() as pilot:
        await until(pilot, lambda: app.main.is_connected)
        app.run_worker(behind())
        await pilot.pause()
        gate.set_result(None)
        app.exit()
        await until(pilot, lambda: not app.is_running)
    assert not went_on


async def test_what_is_loaded_only_when_the_screen_has_closed_is_shown_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = SpinneyApp(lambda: FakeClient(a_state()), data=tmp_path, environ={})
    loads = threading.Event()
    monkeypatch.setattr("tui.shell.preload.warm_up", lambda: loads.wait(PATIENCE))
    close = app._close_all

    async def closed() -> None:
        await close()
        loads.set()
        await app.workers.wait_for_complete()

    monkeypatch.setattr(app, "_close_all", closed)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.main.is_connected)
        settling = [worker for worker in app.workers if worker.name == "_settle"]
        for other in set(app.workers) - set(settling):
            other.cancel()
    assert [worker.error for worker in settling] == [None]


async def test_the_first_frame_holds_the_tree_of_the_last_run(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    await seen_once(file)
    async with started(a_client(), file) as (app, pilot, opens):
        await pilot.pause()
        assert app.main.is_connected is False
        before = screen_of(app)
        for words in ("alpha", "brave-otter", "Fix the parser"):
            assert words in before
        await ready(app, pilot, opens)
        await until(pilot, lambda: "drop the last row" in screen_of(app))
        # Nothing jumps: every row of the tree is where it was.
        width = app.main.projects.outer_size.width
        now = screen_of(app)
        assert [row[:width] for row in now.splitlines()[1:-1]] == [
            row[:width] for row in before.splitlines()[1:-1]
        ]


async def test_what_is_not_so_any_more_is_put_right(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    await seen_once(file)
    client = FakeClient(
        a_state(
            a_project(name="beta"),
            a_worktree(id="w2", name="calm-heron"),
            a_session(id="s2", worktree_id="w2", name="Other work"),
        )
    )
    async with started(client, file) as (app, pilot, opens):
        await pilot.pause()
        assert "brave-otter" in " ".join(app.main.projects.labels)
        await ready(app, pilot, opens)
        assert app.main.projects.labels == ["beta  main", "calm-heron", "· Other work"]
        assert "drop the last row" not in screen_of(app)
        assert app.main.place == Place("session", "s2")


async def test_what_is_typed_before_the_client_is_there_stands_in_the_message_box(
    tmp_path: Path,
) -> None:
    file = tmp_path / "screen.json"
    await seen_once(file)
    async with started(a_client(), file) as (app, pilot, opens):
        await pilot.press(*"go on", "backspace", "n")
        await ready(app, pilot, opens)
        await until(pilot, lambda: app.main.chat.composer.text == "go on")


async def test_what_is_typed_while_the_message_box_gets_the_keys_stays_in_order(
    tmp_path: Path,
) -> None:
    async with started(a_client(), tmp_path / "screen.json") as (app, pilot, opens):
        typed = ""

        def type_on() -> None:
            nonlocal typed
            letter = "abcdefghijklmnopqrstuvwxyz"[len(typed) % 26]
            typed += letter
            app.post_message(Key(letter, letter))

        type_on()
        opens.set()
        while not isinstance(app.focused, Composer):
            type_on()
            await asyncio.sleep(0)
        for _ in range(100):
            type_on()
            await asyncio.sleep(0)
        await until(pilot, lambda: len(app.main.chat.composer.text) >= len(typed))
        assert app.main.chat.composer.text == typed


async def test_projects_that_were_opened_early_stay_and_escape_stops_nothing(
    tmp_path: Path,
) -> None:
    file = tmp_path / "screen.json"
    await seen_once(file)
    client = FakeClient(a_state(a_project(), a_worktree(), a_session(status="running")))
    async with started(client, file, size=(80, 24)) as (app, pilot, opens):
        await pilot.press("f2")
        await ready(app, pilot, opens)
        await until(pilot, lambda: app.main.place == Place("session", "s1"))
        assert app.main.projects.display
        await pilot.press("escape")
        assert not client.called("stop_generation")
        await until(pilot, lambda: isinstance(app.focused, Composer))


async def test_letters_typed_early_filter_the_tree_where_that_has_the_keys(tmp_path: Path) -> None:
    several = a_client(a_session(id="s2", name="Rename the store"))
    async with started(several, tmp_path / "screen.json") as (app, pilot, opens):
        await pilot.press(*"rena")
        await ready(app, pilot, opens)
        await until(pilot, lambda: app.main.projects.filter == "rena")


async def test_a_row_that_is_opened_early_opens(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    await seen_once(file)
    two = a_client(a_session(id="s2", name="Rename the store"))
    async with started(two, file) as (app, pilot, opens):
        await pilot.pause()
        app.main.projects.post_message(app.main.projects.Opened(Place("session", "s2")))
        await pilot.pause()
        await ready(app, pilot, opens)
        assert app.main.place == Place("session", "s2")


async def test_a_project_without_sessions_is_where_one_begins_that_is_started_there(
    tmp_path: Path,
) -> None:
    file = tmp_path / "screen.json"
    await seen_once(file)
    (tmp_path / "beta" / ".git").mkdir(parents=True)
    (tmp_path / "beta" / ".git" / "HEAD").touch()
    beta = a_project(id="p2", name="beta", path=str(tmp_path / "beta"))
    client = a_client(beta)
    async with started(client, file, offer_path=tmp_path / "beta") as (app, pilot, opens):
        await ready(app, pilot, opens)
        await until(pilot, lambda: app.main.projects.place == Place("project", "p2"))
        await until(pilot, lambda: app.focused is app.main.projects)
        assert app.main.session is None


async def test_the_session_that_was_open_is_kept_for_the_next_start(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    client = a_client(a_session(id="s2", name="Rename the store"))
    async with started(client, file) as (app, pilot, opens):
        opens.set()
        await until(pilot, lambda: app.main.is_connected and settled(client))
        app.main.open_session("s1")
        await until(pilot, lambda: "drop the last row" in screen_of(app))
        app.exit()
    kept = read(file)
    assert len(kept.rows) == 4
    assert kept.session_id == "s1"


async def test_a_screen_that_has_changed_is_kept_now_and_then(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    client = a_client()
    async with started(client, file) as (app, pilot, opens):
        opens.set()
        await until(pilot, lambda: app.main.is_connected and settled(client))
        await until(pilot, lambda: "drop the last row" in screen_of(app))
        app.clear_notifications()
        await app.main.startup.save_if_changed()
        first = file.stat()
        assert read(file).session_id == "s1"
        await app.main.startup.save_if_changed()  # nothing happened since
        assert file.stat().st_mtime_ns == first.st_mtime_ns


async def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    await seen_once(file)
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_snapshot_is_as_large_as_a_screen_however_much_there_is(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    row = SavedRow(0, Place("project", "p"), (("x" * (MAX_BYTES // 2), "text"),), True)
    write(file, Snapshot("dark", (row,)))
    kept = file.stat().st_size
    write(file, Snapshot("dark", (row, row, row)))
    assert file.stat().st_size == kept < MAX_BYTES
    told = json.loads(file.read_text())
    told["rows"] = [[0, "project", str(n), [["a", "text"]], True] for n in range(MAX_ROWS + 5)]
    file.write_text(json.dumps(told))
    assert len(read(file).rows) == MAX_ROWS


GOOD = {
    "version": 3,
    "theme": "dark",
    "rows": [[0, "project", "p", [["alpha", "strong"]], True]],
    "folds": [[True, "project", "p"]],
    "pointed": ["project", "p"],
    "session_id": "s",
}


def spoiled(**changes: Any) -> str:
    return json.dumps({**GOOD, **changes})


DAMAGED = {
    "empty": "",
    "no JSON": '{"version": 3, "rows": [',
    "a list": "[]",
    "another version": spoiled(version=1),
    "no theme": spoiled(theme="neon"),
    "rows of another kind": spoiled(rows=[[0, "root", "p", [], True]]),
    "rows with too little": spoiled(rows=[[0]]),
    "a depth that is none": spoiled(rows=[["0", "project", "p", [], True]]),
    "control bytes in a row": spoiled(rows=[[0, "project", "p", [["\x1b]0;x\x07", "text"]], True]]),
    "nested without end": "[" * 100_000,
    "too large": json.dumps({**GOOD, "more": "x" * MAX_BYTES}),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_is_as_good_as_none(damage: str, tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    file.write_text(json.dumps(GOOD))
    assert read(file) != Snapshot()
    file.write_text(DAMAGED[damage])
    assert read(file) == Snapshot()


def test_what_is_no_file_of_ones_own_is_not_read(tmp_path: Path) -> None:
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


async def test_a_damaged_file_keeps_nobody_from_starting(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    file.write_text(DAMAGED["control bytes in a row"])
    async with started(a_client(), file) as (app, pilot, opens):
        await ready(app, pilot, opens)
        await until(pilot, lambda: "drop the last row" in screen_of(app))
