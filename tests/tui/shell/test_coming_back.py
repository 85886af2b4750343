"""Open session, folds and cursor are restored: after a restart or a kill, for each server."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model.preferences.schema import Preferences
from tests.tui.builders import a_message, a_project, a_session, a_state, a_worktree
from tests.tui.delayed_client import finish_connecting, start_app
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.waiting import until
from tui.shell.app import SpinneyApp
from tui.shell.startup_snapshot import (
    MAX_FOLDS,
    MAX_SERVERS,
    Snapshot,
    read,
    snapshot_path,
    write,
)
from tui.store.places import Place
from tui.widgets.top_bar import TopBar


def two_projects(**preferences: Any) -> FakeClient:
    state = a_state(
        a_project(),
        a_project(id="p2", name="beta", added_at=2.0),
        a_worktree(),
        a_worktree(id="w2", name="calm-heron", project_id="p2"),
        a_session(),
        a_session(id="s3", name="Read it"),
        a_session(id="s2", worktree_id="w2", name="Other work"),
        a_session(id="s4", worktree_id="w2", name="Test it"),
    )
    return FakeClient(replace(state, preferences=Preferences(**preferences)))


FIRST = ["alpha", "brave-otter", "Fix the parser", "Read it"]
SECOND = ["beta", "calm-heron", "Other work", "Test it"]
ALL = [*FIRST, *SECOND]
HERE, ELSEWHERE, OTHER = "", "http://box:3456/", "http://crate:3456/"


async def restart_and_read_tree(
    client: FakeClient, file: Path, *keys: str, elsewhere: str = HERE
) -> tuple[list[str], Place | None]:
    """Start, read the rows and the place of the cursor, press keys in the tree, quit."""
    async with start_app(client, file, elsewhere=elsewhere) as (app, pilot, may_connect):
        await finish_connecting(app, pilot, may_connect)
        tree = app.main.projects
        await until(pilot, lambda: tree.cursor_node is not None)
        await pilot.pause()
        rows = [
            next(name for name in ALL if name in tree.render_line(line).text)
            for line in range(tree.last_line + 1)
        ]
        place = tree.place
        tree.focus()
        await pilot.press(*keys)
        await until(pilot, lambda: tree._pending_place is None)
        app.exit()
    return rows, place


@pytest.mark.parametrize("server", [HERE, ELSEWHERE])
@pytest.mark.parametrize("restores", [False, True])
async def test_folds_and_cursor_are_restored(server: str, restores: bool, tmp_path: Path) -> None:
    file = tmp_path / "screen.json"

    def client() -> FakeClient:
        return two_projects(has_seen_feature_tour=True, restore_last_session=restores)

    # The worktree is folded first, then the project around it.
    rows, _ = await restart_and_read_tree(
        client(), file, "home", "down", "left", "up", "left", elsewhere=server
    )
    assert rows == ALL
    rows, place = await restart_and_read_tree(client(), file, "right", elsewhere=server)
    assert rows == ["alpha", *SECOND]
    assert place == Place("project", "p1")
    rows, _ = await restart_and_read_tree(client(), file, elsewhere=server)
    assert rows == [*FIRST[:2], *SECOND]


async def test_each_server_has_its_own_tree(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    options = {"has_seen_feature_tour": True}
    await restart_and_read_tree(two_projects(**options), file, "home", "left", elsewhere=ELSEWHERE)
    for server, seen in ((HERE, ALL), (OTHER, ALL), (ELSEWHERE, ["alpha", *SECOND])):
        assert (await restart_and_read_tree(two_projects(**options), file, elsewhere=server))[
            0
        ] == seen


async def test_the_open_session_is_restored_on_another_server(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    for expected in ("s1", "s2"):
        client = two_projects(has_seen_feature_tour=True, restore_last_session=True)
        async with start_app(client, file, elsewhere=ELSEWHERE) as (app, pilot, may_connect):
            await finish_connecting(app, pilot, may_connect)
            assert app.main.place == Place("session", expected)
            app.main.open_session("s2")
            await until(pilot, lambda: app.main.chat.transcript is not None)
            app.exit()


@pytest.mark.short
async def test_the_open_session_is_restored_with_the_cursor_on_it(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    options = {"has_seen_feature_tour": True}
    client = two_projects(**options)
    async with start_app(client, file) as (app, pilot, may_connect):
        await finish_connecting(app, pilot, may_connect)
        assert app.main.place is None  # no session was open before
        app.main.open_session("s2")
        await until(pilot, lambda: app.main.chat.transcript is not None)
        app.main.projects.move_cursor_to(Place("session", "s1"))
        app.exit()
    async with start_app(two_projects(**options), file) as (app, pilot, may_connect):
        await finish_connecting(app, pilot, may_connect)
        await until(pilot, lambda: app.main.place == Place("session", "s2"))
        await until(pilot, lambda: app.main.projects.place == Place("session", "s2"))


async def test_the_open_session_is_restored_where_it_was_scrolled_to(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    positions = []
    for is_first in (True, False):
        client = a_client(message_count=60)
        client.messages["s1"] = [a_message(f"Message {n}", id=f"m{n:03d}") for n in range(60)]
        async with start_app(client, file) as (app, pilot, may_connect):
            await finish_connecting(app, pilot, may_connect)
            await until(pilot, lambda app=app: app.main.chat.transcript is not None)  # type: ignore[misc]
            transcript: Any = app.main.chat.transcript
            await until(pilot, lambda view=transcript: view.viewport and view.is_ready)  # type: ignore[misc]
            if is_first:
                transcript.go_to(40)
            await pilot.pause()
            positions.append(transcript.position)
            app.exit()
    assert positions[0] is not None
    assert positions[0] == positions[1]


def shows(app: SpinneyApp, session_id: str) -> bool:
    """Whether the conversation of this session is shown."""
    transcript = app.main.chat.transcript
    viewport = transcript.viewport if transcript is not None else None
    return viewport is not None and viewport.rows.history.session_id == session_id


async def test_started_in_a_project_its_last_session_is_opened(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    options = {"has_seen_feature_tour": True}
    async with start_app(two_projects(**options), file) as (app, pilot, may_connect):
        await finish_connecting(app, pilot, may_connect)
        for key in ("s3", "s2"):
            app.main.open_session(key)
            await until(pilot, lambda key=key: shows(app, key))  # type: ignore[misc]
        app.exit()
    client = two_projects(**options)
    path = Path(client.state.projects["p1"].path)
    async with start_app(client, file, offer_path=path) as (app, pilot, may_connect):
        app.main.offered = path
        await finish_connecting(app, pilot, may_connect)
        await until(pilot, lambda: shows(app, "s3"))


async def test_the_open_session_is_saved_before_the_program_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.shell.startup.SAVE_DELAY", 0.01)
    file = tmp_path / "screen.json"
    client = two_projects(has_seen_feature_tour=True)
    async with start_app(client, file) as (app, pilot, may_connect):
        await finish_connecting(app, pilot, may_connect)
        app.main.open_session("s2")
        await until(pilot, lambda: read(file).session_id == "s2")


async def test_the_pane_and_the_top_bar_show_the_same_project(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    options = {"has_seen_feature_tour": True}
    await restart_and_read_tree(two_projects(**options), file, "end")
    async with start_app(two_projects(**options), file) as (app, pilot, may_connect):
        await finish_connecting(app, pilot, may_connect)
        await until(pilot, lambda: app.main.projects.place == Place("session", "s4"))
        await until(pilot, lambda: "beta ▸ calm-heron" in app.main.query_one(TopBar).text)
        await until(pilot, lambda: app.main.chat.welcome.step.title == "beta")


async def test_folds_of_removed_rows_are_dropped(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    options = {"has_seen_feature_tour": True}
    await restart_and_read_tree(two_projects(**options), file, "home", "left", "down", "left")
    assert set(read(file).folds) == {Place("project", "p1"), Place("project", "p2")}
    without = a_state(a_project(), a_worktree(), a_session(), a_session(id="s3", name="More"))
    await restart_and_read_tree(FakeClient(without), file)
    assert set(read(file).folds) == {Place("project", "p1")}


async def test_a_filtered_tree_is_not_saved(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    options = {"has_seen_feature_tour": True}
    await restart_and_read_tree(two_projects(**options), file, "home", "left")
    await restart_and_read_tree(two_projects(**options), file, *"other")
    rows, _ = await restart_and_read_tree(two_projects(**options), file)
    assert rows == ["alpha", *SECOND]


def test_a_limited_number_of_servers_is_kept(tmp_path: Path) -> None:
    for number in range(MAX_SERVERS + 3):
        file = snapshot_path(tmp_path, f"http://box{number}/")
        write(file, Snapshot(session_id=str(number)))
        os.utime(file, (number, number))
    assert len(list(file.parent.iterdir())) == MAX_SERVERS
    assert read(file).session_id == str(MAX_SERVERS + 2)


def test_only_the_newest_folds_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "screen.json"
    write(file, Snapshot(folds={Place("worktree", str(n)): False for n in range(MAX_FOLDS + 5)}))
    kept = read(file).folds
    assert len(kept) == MAX_FOLDS
    assert Place("worktree", str(MAX_FOLDS + 4)) in kept
