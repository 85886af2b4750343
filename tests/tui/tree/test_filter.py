"""The filter of the tree: letters narrow the rows and do nothing else."""

from textual import events
from textual.pilot import Pilot

from model.domain.events.sessions import SessionCreated
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications
from tests.tui.waiting import until
from tui.screens.add_project import AddProject
from tui.screens.dialog import Confirm
from tui.shell.app import SpinneyApp
from tui.store.places import Place
from tui.terminal.input_parser import TYPED
from tui.tree.detail import PlaceDetail
from tui.tree.filter import Outline, find_occurrences


def client_with_tree() -> FakeClient:
    return FakeClient(
        a_state(
            a_project(),
            a_project(id="p2", name="beta", added_at=2.0),
            a_worktree(),
            a_worktree(id="w2", name="calm-heron", created_at=2.0),
            a_worktree(id="w3", project_id="p2", name="grey-ox"),
            a_session(),
            a_session(id="s2", name="Rename the store", created_at=2.0),
            a_session(id="s3", worktree_id="w2", name="Mend the PARSER"),
            a_session(id="s4", worktree_id="w3", name="[/] Wipe"),
        )
    )


async def focus_tree(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    app.main.projects.focus()
    await until(pilot, lambda: app.main.projects.has_focus)


async def test_letters_show_the_matching_rows_and_their_ancestors(start: Start) -> None:
    async with start(client_with_tree()) as (app, pilot):
        tree = app.main.projects
        await focus_tree(app, pilot)
        await pilot.press(*"parser")
        assert tree.labels == [
            "alpha  main",
            "brave-otter",
            "· Fix the parser",
            "· calm-heron  Mend the PARSER",
        ]
        detail = app.main.query_one(PlaceDetail)
        await until(pilot, lambda: detail.text == "Filter: parser\n2 found · esc: all")


async def test_a_slash_begins_the_filter_and_a_question_mark_shows_the_help(start: Start) -> None:
    async with start(client_with_tree()) as (app, pilot):
        await focus_tree(app, pilot)
        await pilot.press("slash", "o", "x")
        assert app.main.projects.filter == "ox"
        await pilot.press("escape")
        app.post_message(events.Key(TYPED, "/ox"))  # what arrives at once
        await until(pilot, lambda: app.main.projects.filter == "ox")
        await pilot.press("escape", "question_mark")
        await until(pilot, lambda: app.screen.is_modal)


async def test_the_descendants_of_a_match_are_shown(start: Start) -> None:
    async with start(client_with_tree()) as (app, pilot):
        await focus_tree(app, pilot)
        await pilot.press(*"BRAVE")
        assert app.main.projects.labels == [
            "alpha  main",
            "brave-otter",
            "· Fix the parser",
            "· Rename the store",
        ]


async def test_enter_opens_the_first_match_and_shows_all_rows_again(start: Start) -> None:
    async with start(client_with_tree()) as (app, pilot):
        await focus_tree(app, pilot)
        before = app.main.projects.labels
        await pilot.press(*"wipe")
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: app.main.place == Place("session", "s4"))
        await until(pilot, lambda: app.main.projects.labels == before)
        assert app.main.chat.composer.has_focus
        # The worktree and its only session are one row.
        await until(pilot, lambda: app.main.projects.place == Place("worktree", "w3"))


async def test_enter_right_after_the_last_letter_opens_the_match(start: Start) -> None:
    async with start(client_with_tree()) as (app, pilot):
        await focus_tree(app, pilot)
        for key in (*"wipe", "enter"):
            app.post_message(events.Key(key, "\r" if key == "enter" else key))
        await until(pilot, lambda: app.main.place == Place("session", "s4"))
        assert app.main.projects.filter == ""


async def test_escape_restores_all_rows_their_folds_and_the_cursor(start: Start) -> None:
    async with start(client_with_tree(), size=(80, 24)) as (app, pilot):
        tree = app.main.projects
        app.main.open_session("s2")
        await pilot.press("f2")
        await focus_tree(app, pilot)
        tree.row_nodes[Place("project", "p2")].collapse()
        await pilot.press(*"wipe")
        assert tree.labels == ["beta  main", "· grey-ox  [/] Wipe"]
        await pilot.press("escape")
        assert tree.filter == ""
        assert tree.display
        assert len(tree.labels) == 6  # the child of the folded row is hidden
        assert not tree.row_nodes[Place("project", "p2")].is_expanded
        await until(pilot, lambda: tree.place == Place("session", "s2"))


async def test_backspace_edits_and_space_is_a_letter_once_something_is_typed(start: Start) -> None:
    async with start(client_with_tree()) as (app, pilot):
        tree = app.main.projects
        await focus_tree(app, pilot)
        await pilot.press(*"the", "space", "s", "x", "backspace")
        assert tree.filter == "the s"
        assert tree.labels == ["alpha  main", "brave-otter", "· Rename the store"]
        for _ in "the s":
            await pilot.press("backspace")
        assert len(tree.labels) == 7
        assert tree.filter_lines == ()


async def test_a_filter_without_matches_says_so(start: Start) -> None:
    async with start(client_with_tree()) as (app, pilot):
        await focus_tree(app, pilot)
        await pilot.press(*"zz", "enter")
        assert app.main.projects.labels == []
        assert "nothing found" in str(app.main.projects.border_subtitle)


async def test_rows_added_while_filtering_are_filtered_too(start: Start) -> None:
    client = client_with_tree()
    async with start(client) as (app, pilot):
        await focus_tree(app, pilot)
        await pilot.press(*"parser")
        new = (a_session(id="s5", name="Parser tests"), a_session(id="s6", name="Other"))
        client.feed(*(SessionCreated(session=session) for session in new))
        await until(pilot, lambda: "· Parser tests" in app.main.projects.labels)
        assert "· Other" not in app.main.projects.labels


async def test_no_letter_typed_in_the_tree_does_anything_else(start: Start) -> None:
    client = client_with_tree()
    async with start(client) as (app, pilot):
        await focus_tree(app, pilot)
        called = len(client.calls)
        await pilot.press(*"xanjkq!")
        await pilot.pause()
        assert app.screen is app.main
        assert len(client.calls) == called


async def test_delete_asks_before_it_removes_the_selected_row(start: Start) -> None:
    client = client_with_tree()
    async with start(client) as (app, pilot):
        await focus_tree(app, pilot)
        await pilot.press(*"calm")
        await pilot.pause()
        await pilot.press("delete")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        assert "calm-heron" in app.screen.sentence  # type: ignore[attr-defined]


async def test_f3_adds_a_project_from_anywhere(start: Start) -> None:
    async with start(client_with_tree()) as (app, pilot):
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(app.screen, AddProject))


async def test_occurrences_are_positions_in_the_original_name() -> None:
    assert list(find_occurrences("İ", "aİİb")) == [(1, 2), (2, 3)]
    assert list(find_occurrences(".", "a.b")) == [(1, 2)]


async def test_matches_are_listed_from_top_to_bottom() -> None:
    project, worktree, session = (
        Place("project", "p"),
        Place("worktree", "w"),
        Place("session", "s"),
    )
    below = {Place("root", ""): [project], project: [worktree], worktree: [session]}
    outline = Outline.of(below, {project: "x", worktree: "a", session: "ba"}.__getitem__)
    found = outline.find("a", limit=200)
    assert found.matches == (worktree, session)
    assert {project, worktree, session} <= found.shown


async def test_escape_in_the_tree_goes_back_and_stops_no_run(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        await focus_tree(app, pilot)
        await pilot.press("f", "escape", "escape")
        await until(pilot, lambda: app.main.chat.composer.has_focus)
        await pilot.press("escape")
        await until(pilot, lambda: "esc again stops the run." in notifications(app))
        assert not client.called("stop_generation")
        await pilot.press("escape")
        await until(pilot, lambda: client.called("stop_generation"))
