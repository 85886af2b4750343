"""The rows of the tree: what they show, and which of them change."""

from pathlib import Path
from typing import Any, cast

import pytest
from textual import events

from model.domain.events.base import Event
from model.domain.events.messages import MessageStarted, ToolRunning, ToolUsed
from model.domain.events.projects import ProjectAdded
from model.domain.events.sessions import SessionArchived, SessionCreated, SessionUpdated
from model.domain.events.worktrees import WorktreeCreating, WorktreeDeleted
from tests.tui.builders import a_message, a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, client_with_two_sessions
from tests.tui.reading import screen_text
from tests.tui.waiting import until
from tui.draw.motion import FRAMES
from tui.store.places import Place
from tui.terminal.input_parser import KeyboardReported
from tui.tree.detail import PlaceDetail
from tui.tree.rows import Clock
from tui.tree.widget import ProjectTree
from tui.widgets.top_bar import TopBar


async def test_the_tree_shows_projects_worktrees_and_sessions_with_their_state(
    start: Start,
) -> None:
    async with start(client_with_two_sessions()) as (app, _):
        assert app.main.projects.labels == [
            "alpha  main",
            "brave-otter +12 −3",
            "· Fix the parser",
            "· Rename the store",
        ]


async def test_a_row_keeps_its_node_when_its_state_changes(start: Start) -> None:
    client = client_with_two_sessions()
    async with start(client) as (app, pilot):
        tree = app.main.projects
        before = {key: id(node) for key, node in tree.row_nodes.items()}
        client.feed(
            SessionUpdated(
                session_id="s2", updates={"status": "waiting", "waiting_for": "question"}
            )
        )
        await until(pilot, lambda: "? Rename the store question" in tree.labels)
        assert {key: id(node) for key, node in tree.row_nodes.items()} == before


async def test_new_rows_are_inserted_in_order_and_others_keep_their_nodes(start: Start) -> None:
    client = client_with_two_sessions()
    async with start(client) as (app, pilot):
        tree = app.main.projects
        node = tree.row_nodes[Place("session", "s2")]
        client.feed(
            ProjectAdded(project=a_project(id="p2", name="beta", added_at=2.0)),
            WorktreeCreating(
                worktree=a_worktree(id="w2", name="calm", created_at=0.5, status="creating")
            ),
            SessionCreated(session=a_session(id="s3", name="First", created_at=0.5)),
        )
        await until(pilot, lambda: len(tree.labels) == 7)
        assert tree.labels == [
            "alpha  main",
            "calm  creating …",
            "brave-otter +12 −3",
            "· First",
            "· Fix the parser",
            "· Rename the store",
            "beta  main",
        ]
        assert tree.row_nodes[Place("session", "s2")] is node


async def test_archived_and_deleted_items_leave_the_tree(start: Start) -> None:
    client = client_with_two_sessions()
    async with start(client) as (app, pilot):
        client.feed(SessionArchived(session_id="s1", archived_at=1.0))
        labels = ["alpha  main", "· brave-otter  Rename the store +12 −3"]
        await until(pilot, lambda: app.main.projects.labels == labels)
        client.feed(WorktreeDeleted(worktree_id="w1", project_id="p1"))
        await until(pilot, lambda: app.main.projects.labels == ["alpha  main"])


async def test_a_folded_row_shows_the_most_urgent_mark_below_it(start: Start) -> None:
    client = FakeClient(
        a_state(
            a_project(),
            a_worktree(),
            a_session(status="running"),
            a_session(id="s2", status="waiting", waiting_for="plan"),
        )
    )
    async with start(client) as (app, pilot):
        tree = app.main.projects
        tree.row_nodes[Place("worktree", "w1")].collapse()
        await until(pilot, lambda: "brave-otter ?" in tree.labels)
        tree.row_nodes[Place("project", "p1")].collapse()
        await until(pilot, lambda: "alpha ?  main" in tree.labels)


async def test_hostile_names_are_escaped_and_have_no_effect(start: Start) -> None:
    name = "[/] [@click=app.exit]x[/] \x1b[31mred"
    client = FakeClient(
        a_state(
            a_project(name=name),
            a_worktree(name=name),
            a_session(name=name),
            a_session(id="s2", name="\n\x1b"),
        )
    )
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        await pilot.press("ctrl+p")
        await pilot.pause()
        await pilot.press("escape", "f4")
        await pilot.pause()
        assert "[/] [@click=app.exit]x[/] ␛[31mred" in app.main.projects.labels[0]
        assert "\x1b" not in "".join(app.main.projects.labels)
        assert app.is_running


def client_with_one_session(**session: Any) -> FakeClient:
    return FakeClient(a_state(a_project(), a_worktree(), a_session(**session)))


async def test_a_worktree_with_one_session_is_one_row_with_what_it_runs(start: Start) -> None:
    client = client_with_one_session(status="running")
    async with start(client) as (app, pilot):
        tree = app.main.projects
        assert tree.labels == ["alpha  main", "◐ brave-otter  Fix the parser"]
        client.feed(
            *starts_tool(),
            ToolRunning(session_id="s1", message_id="m1", content_index=0, output=None, seconds=61),
        )
        await until(pilot, lambda: tree.labels[1] == "◐ brave-otter  Fix the parser run 1m")
        waiting = {"status": "waiting", "waiting_for": "permission"}
        client.feed(SessionUpdated(session_id="s1", updates=waiting))
        await until(pilot, lambda: tree.labels[1] == "? brave-otter  Fix the parser permission")


async def test_a_second_session_divides_the_row_and_the_cursor_stays(start: Start) -> None:
    client = client_with_one_session()
    async with start(client) as (app, pilot):
        tree = app.main.projects
        app.main.open_session("s1")
        await until(pilot, lambda: tree.place == Place("worktree", "w1"))
        client.feed(SessionCreated(session=a_session(id="s2", name="Second", created_at=2.0)))
        await until(pilot, lambda: len(tree.labels) == 4)
        assert tree.labels[1:] == ["brave-otter", "· Fix the parser", "· Second"]
        app.main.open_session("s2")
        await until(pilot, lambda: tree.place == Place("session", "s2"))
        client.feed(SessionArchived(session_id="s1", archived_at=1.0))
        await until(pilot, lambda: tree.labels[1:] == ["· brave-otter  Second"])
        await until(pilot, lambda: tree.place == Place("worktree", "w1"))


async def test_the_details_of_the_row_are_below_the_tree(start: Start) -> None:
    async with start(client_with_one_session()) as (app, pilot):
        app.main.open_session("s1")
        detail = app.main.query_one(PlaceDetail)
        shown = "brave-otter ← main\n/trees/brave-otter\nFix the parser"
        await until(pilot, lambda: detail.text == shown)


async def test_the_edge_of_the_tree_moves_by_mouse_and_keys_and_comes_back(
    start: Start, tmp_path: Path
) -> None:
    async with start(client_with_one_session(), data=tmp_path) as (app, pilot):
        app.main.open_session("s1")
        tree = app.main.projects
        assert tree.outer_size.width == 34
        await pilot.mouse_down(offset=(33, 10))
        await pilot._post_mouse_events([events.MouseMove], offset=(43, 10))
        await pilot.mouse_up(offset=(43, 10))
        await until(pilot, lambda: tree.outer_size.width == 44)
        await pilot.press("alt+shift+left")
        await until(pilot, lambda: tree.outer_size.width == 40)
        app.main.startup.save_now()
    async with start(client_with_one_session(), data=tmp_path) as (app, pilot):
        await until(pilot, lambda: app.main.projects.outer_size.width == 40)


async def test_a_session_name_is_shown_where_it_fits_and_found_everywhere(start: Start) -> None:
    client = FakeClient(
        a_state(a_project(), a_worktree(), a_session(name="Rewrite the parser of dates"))
    )
    async with start(client) as (app, pilot):
        tree = app.main.projects
        await until(pilot, lambda: shown_rows(tree)[1].rstrip() == "    · brave-otter")
        app.main.set_tree_width(60)
        await until(pilot, lambda: "  Rewrite the parser of dates" in shown_rows(tree)[1])
        app.main.set_tree_width(34)
        tree.focus()
        await pilot.press(*"dates")
        await until(pilot, lambda: "brave-otter  Rewrite" in shown_rows(tree)[1])


async def test_the_name_of_a_session_is_in_the_top_bar_or_in_the_tabs(start: Start) -> None:
    async with start(client_with_one_session()) as (app, pilot):
        app.main.open_session("s1")
        top = app.main.query_one(TopBar)
        await until(pilot, lambda: "alpha ▸ brave-otter ▸ Fix the parser" in top.text)
        added = SessionCreated(session=a_session(id="s2", name="Second", created_at=2.0))
        cast("FakeClient", app.main.client).feed(added)
        await until(pilot, lambda: "brave-otter ▸" not in top.text and "brave-otter" in top.text)
        assert "Fix the parser" in app.main.chat.tabs.text


async def test_a_session_named_as_its_branch_is_named_once(start: Start) -> None:
    task = a_worktree(name="fix-the-login-page", branch="fix-the-login-page")
    client = FakeClient(a_state(a_project(), task, a_session(name="Fix the login page!")))
    async with start(client, size=(160, 40)) as (app, pilot):
        top = app.main.query_one(TopBar)
        await until(pilot, lambda: "alpha ▸ fix-the-login-page" in top.text)
        app.main.set_tree_width(60)
        await until(pilot, lambda: app.main.projects.size.width > 50)
        assert "Fix the login page" not in screen_text(app)


def shown_rows(tree: ProjectTree) -> list[str]:
    return ["".join(s.text for s in line) for line in tree.render_lines(tree.size.region)]


def starts_tool() -> list[Event]:
    started = a_message("", id="m1", role="assistant", status="processing", session_id="s1")
    used = ToolUsed(
        message_id="m1",
        session_id="s1",
        content_index=0,
        tool_name="bash",
        tool_input={"command": "make test"},
        tool_use_id="t",
    )
    return [MessageStarted(message_id="m1", session_id="s1", message=started), used]


async def test_a_spinner_turns_and_seconds_are_counted_only_while_something_runs(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(Clock, "now", property(lambda clock: now[0]))
    client = client_with_one_session(status="running")
    async with start(client) as (app, pilot):
        tree = app.main.projects
        tree.moves = True
        tree._motion = None  # made before with still signs
        client.feed(*starts_tool())
        await until(pilot, lambda: tree.labels[1] == "◐ brave-otter  Fix the parser run")
        seen: set[str] = set()
        while len(seen) < 3:
            seen.add(shown_rows(tree)[1].split()[0])
            await pilot.pause(0.05)
        assert seen <= set(FRAMES)
        now[0] += 41
        await until(pilot, lambda: tree.labels[1] == "◐ brave-otter  Fix the parser run 41s")
        timer = cast("Any", tree._motion)._timer
        await pilot.press("f1")
        await until(pilot, lambda: not timer._active.is_set())  # nothing of it is visible
        await pilot.press("escape")
        await until(pilot, timer._active.is_set)
        client.feed(SessionUpdated(session_id="s1", updates={"status": "idle"}))
        await until(pilot, lambda: not timer._active.is_set())


async def test_the_tab_of_a_session_that_runs_turns_as_its_row_does(start: Start) -> None:
    client = FakeClient(
        a_state(a_project(), a_worktree(), a_session(), a_session(id="s2", status="running"))
    )
    async with start(client) as (app, pilot):
        tabs = app.main.chat.tabs
        tabs.moves = True
        app.main.open_session("s1")
        seen: set[str] = set()
        while len(seen) < 3:
            seen.update(set(tabs.render_line(0).text) & set(FRAMES))
            await pilot.pause(0.05)
        client.feed(SessionUpdated(session_id="s2", updates={"status": "idle"}))
        await until(pilot, lambda: not cast("Any", tabs._motion)._timer._active.is_set())


async def test_streamed_text_draws_no_row_of_the_tree(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_with_one_session(status="running")
    async with start(client) as (app, pilot):
        tree = app.main.projects
        client.feed(*starts_tool())
        await until(pilot, lambda: tree.labels[1].endswith("run"))
        calls: list[str] = []
        with monkeypatch.context() as patch:
            patch.setattr(ProjectTree, "_draw", lambda *_: calls.append("draw"))
            patch.setattr(ProjectTree, "_visible_working", [])  # no seconds are counted
            for number in range(5):
                client.feed(
                    ToolRunning(
                        session_id="s1",
                        message_id="m1",
                        content_index=0,
                        output=f"line {number}",
                        seconds=0,
                    )
                )
                await pilot.pause()
        assert calls == []


async def test_numbers_open_sessions_where_the_terminal_knows_alt(start: Start) -> None:
    client = client_with_two_sessions()
    async with start(client) as (app, pilot):
        tree = app.main.projects
        assert not any(row[:4].strip().startswith("1") for row in shown_rows(tree))
        app.post_message(KeyboardReported())
        await until(pilot, lambda: shown_rows(tree)[3].split()[:2] == ["2", "·"])
        await pilot.press("alt+2")
        await until(pilot, lambda: app.main.place == Place("session", "s2"))
        client.feed(SessionCreated(session=a_session(id="s0", name="New", created_at=0.1)))
        await until(pilot, lambda: shown_rows(tree)[4].split()[:2] == ["3", "·"])
        await pilot.press("alt+1")
        await until(pilot, lambda: app.main.place == Place("session", "s0"))
        await pilot.press("alt+9")
        await until(pilot, lambda: any("only 3 sessions" in n.message for n in app._notifications))
