"""Open work: what is listed and searched, where enter goes, and how work begins."""

import asyncio
from typing import Any

from textual.pilot import Pilot

from model.api.hosting import StartedWork
from model.base.errors import SpinneyError
from model.domain.events.sessions import SessionCreated, SessionUpdated
from model.domain.events.worktrees import WorktreeCreated
from model.domain.hosting import OpenWork
from tests.tui.a_hosting_service import an_issue, open_work
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient
from tests.tui.reading import screen_text
from tests.tui.waiting import until, until_shown
from tui.hosting.start_dialog import StartWork
from tui.hosting.work_filters import ChooseFilters
from tui.hosting.work_screen import WorkScreen
from tui.screens.dialog import Report
from tui.screens.text_reader import TextReader
from tui.shell.app import SpinneyApp


class FakeService(FakeClient):
    """Two projects; the first one has as many issues as wanted."""

    def __init__(self, issues: int = 3) -> None:
        super().__init__(
            a_state(
                a_project(),
                a_project(id="p2", name="beta", path="/code/beta"),
                a_worktree(),
                a_worktree(id="w2", project_id="p2", name="calm-heron"),
                a_session(),
                a_session(id="s2", name="Older"),
            )
        )
        self.issues = [an_issue(n, f"Issue {n:03}") for n in range(1, issues + 1)]
        self.answers |= {
            "list_open_work": lambda given: open_work(),
            "list_issues": self._issues,
            "start_work": self._start,
        }

    def _issues(self, given: dict[str, Any]) -> list[Any]:
        found = [issue for issue in self.issues if given["search"] in f"{issue.title} {issue.body}"]
        return found[(given["page"] - 1) * 100 : given["page"] * 100]

    def _start(self, given: dict[str, Any]) -> StartedWork:
        number = given["item_id"]
        worktree = a_worktree(id=f"w-{number}", name=f"issue-{number}")
        session = a_session(id=f"s-{number}", worktree_id=worktree.id, name="Investigate")
        self.feed(WorktreeCreated(worktree=worktree), SessionCreated(session=session))
        return StartedWork(worktree=worktree, session=session if given["investigate"] else None)


async def open_screen(app: SpinneyApp, pilot: "Pilot[None]") -> WorkScreen:
    """Open the open work by its key, and wait until it is listed."""
    app.main.open_session("s2")
    await pilot.press("shift+f9")
    await until(pilot, lambda: isinstance(app.screen, WorkScreen))
    screen = app.screen
    assert isinstance(screen, WorkScreen)
    await until(pilot, lambda: screen.work_list.items)
    return screen


def titles(screen: WorkScreen) -> list[str]:
    return [each.item.title for each in screen.work_list.items if each.item is not None]


async def test_work_of_all_projects_is_listed_with_who_does_it_and_what_could_not_be_read(
    start: Start,
) -> None:
    async with start(FakeService()) as (app, pilot):
        screen = await open_screen(app, pilot)
        shown = screen_text(app)
        assert "alpha" in shown and "beta" in shown
        assert "· brave-otter" in shown and "PR 12" in shown
        assert "1 project not read" in shown
        await pilot.press("end", "enter")
        await until(pilot, lambda: isinstance(app.screen, Report))
        assert "gh auth login" in screen_text(app)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is app.main)
        assert screen is not app.screen


async def test_enter_goes_to_the_session_that_works_on_it(start: Start) -> None:
    service = FakeService()
    running = a_session(id="s1", status="running")
    async with start(service) as (app, pilot):
        await open_screen(app, pilot)
        service.feed(SessionUpdated(session_id="s1", updates={"status": running.status}))
        await pilot.press("home", "enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.main.session is not None
        assert app.main.session.id == "s1"  # the other one is idle


async def test_without_a_session_enter_offers_a_worktree_and_opens_its_session(
    start: Start,
) -> None:
    service = FakeService()
    async with start(service) as (app, pilot):
        await open_screen(app, pilot)
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, StartWork))
        assert "cat rows | loom should work." in screen_text(app)
        await pilot.press("tab", "right", "enter")
        await until(pilot, lambda: app.screen is app.main)
        assert service.called("start_work") == [
            {"project_id": "p1", "kind": "issue", "item_id": "8", "investigate": True,
             "mode": "build"}
        ]  # fmt: skip
        await until(pilot, lambda: app.main.session and app.main.session.id == "s-8")


async def test_several_are_started_one_after_the_other_and_what_failed_can_be_repeated(
    start: Start,
) -> None:
    service = FakeService()
    sentence = "The branch 'issue-2' exists already. Rename or delete it."
    fails = True

    def start_one(given: dict[str, Any]) -> StartedWork:
        if given["item_id"] == "2" and fails:
            raise SpinneyError(sentence, "conflict")
        return service._start(given)

    service.answers["start_work"] = start_one
    async with start(service) as (app, pilot):
        screen = await open_screen(app, pilot)
        await pilot.press("tab")
        await until(pilot, lambda: titles(screen) == ["Issue 001", "Issue 002", "Issue 003"])
        await pilot.press("space", "space", "space", "ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, StartWork))
        await pilot.press("left", "enter")  # only the worktrees
        await until_shown(app, pilot, sentence, "try again")
        assert [call["item_id"] for call in service.called("start_work")] == ["1", "2", "3"]
        fails = False
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen)
        last = service.called("start_work")[-1]
        assert (last["item_id"], last["investigate"]) == ("2", False)
        assert not screen.work_list.marked


async def test_starting_several_stops_after_the_one_in_progress(start: Start) -> None:
    service = FakeService()
    gate = asyncio.Event()

    async def slow(given: dict[str, Any]) -> StartedWork:
        await gate.wait()
        return service._start(given)

    service.answers["start_work"] = slow
    async with start(service) as (app, pilot):
        screen = await open_screen(app, pilot)
        await pilot.press("tab")
        await until(pilot, lambda: len(titles(screen)) == 3)
        await pilot.press("space", "space", "ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, StartWork))
        await pilot.press("enter")
        await until(pilot, lambda: service.called("start_work"))
        await pilot.press("escape")
        await until_shown(app, pilot, "1 item will not be begun")
        gate.set()
        await until(pilot, lambda: app.screen is screen)
        assert len(service.called("start_work")) == 1


async def test_letters_filter_what_was_read_and_space_is_one_of_them_there(start: Start) -> None:
    service = FakeService()
    async with start(service) as (app, pilot):
        screen = await open_screen(app, pilot)
        await pilot.press(*"row lost")
        await until(pilot, lambda: titles(screen) == ["The last row of a file is lost"])
        assert "1 of 3" in screen_text(app)
        await pilot.press("down", "space")
        await until_shown(app, pilot, "1 marked")
        await pilot.press("escape")
        await until(pilot, lambda: len(titles(screen)) == 3)
        await pilot.press("escape")
        assert not screen.work_list.marked
        assert len(service.called("list_open_work")) == 1


async def test_the_next_page_is_read_at_the_end_of_the_list(start: Start) -> None:
    service = FakeService(issues=230)
    async with start(service) as (app, pilot):
        screen = await open_screen(app, pilot)
        await pilot.press("tab")
        await until(pilot, lambda: len(titles(screen)) == 100)
        assert "100 or more" in screen_text(app)
        for expected in (200, 230):
            await pilot.press("end")
            await until(pilot, lambda: len(titles(screen)) == expected)  # noqa: B023
        assert screen.work_list.here == 199
        assert [call["page"] for call in service.called("list_issues")] == [1, 2, 3]


async def test_the_service_searches_where_more_is_there_than_was_read(start: Start) -> None:
    service = FakeService(issues=230)
    service.issues[220] = an_issue(221, "Another one", body="a needle")
    async with start(service) as (app, pilot):
        screen = await open_screen(app, pilot)
        await pilot.press("tab")
        await until(pilot, lambda: len(titles(screen)) == 100)
        await pilot.press(*"needle")
        await until(pilot, lambda: titles(screen) == ["Another one"])
        assert [call["search"] for call in service.called("list_issues")] == ["", "needle"]
        await pilot.press("ctrl+u")
        await until(pilot, lambda: len(titles(screen)) == 100)


async def test_state_labels_and_assignee_are_asked_of_the_service(start: Start) -> None:
    service = FakeService()
    async with start(service) as (app, pilot):
        screen = await open_screen(app, pilot)
        await pilot.press("tab")
        await until(pilot, lambda: len(titles(screen)) == 3)
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, ChooseFilters))
        await pilot.press("right", "tab", *"bug, ui", "tab", *"@me", "enter")
        await until_shown(app, pilot, "closed · label bug · label ui · assigned to @me")
        await until(pilot, lambda: len(service.called("list_issues")) == 2)
        given = service.called("list_issues")[-1]
        assert (given["state"], given["labels"], given["assignee"]) == (
            "closed", ["bug", "ui"], "@me",
        )  # fmt: skip


async def test_why_a_list_cannot_be_read_is_said_and_f5_asks_again(start: Start) -> None:
    service = FakeService()
    sentence = "The tracker needs a key. Enter it in the settings of the project."
    service.refuse("list_tracker_issues", sentence)
    async with start(service) as (app, pilot):
        screen = await open_screen(app, pilot)
        await pilot.press("shift+tab")
        await until_shown(app, pilot, sentence, "f5 tries again")
        service.answers["list_tracker_issues"] = lambda given: []
        await pilot.press("f5")
        await until_shown(app, pilot, "There is nothing here.")
        assert sentence not in screen_text(app)
        assert service.called("list_tracker_issues")[-1]["refresh"] is True
        assert screen.tab.id == "tracker_issue"
        service.answers["list_open_work"] = lambda given: OpenWork(items=[], problems=[])
        await pilot.press("tab", "f5")
        await until_shown(app, pilot, "No project with a remote at a hosting service has open")


async def test_foreign_titles_are_no_markup_and_stay_in_their_rows(start: Start) -> None:
    service = FakeService()
    hostile = "[red]x[/]\x1b[2J\n\n" + "w" * 5000
    found = (
        open_work()
        .items[0]
        .model_copy(
            update={"item": an_issue(1, hostile, body=hostile, author=hostile, assignees=[hostile])}
        )
    )
    service.answers["list_open_work"] = lambda given: OpenWork(items=[found], problems=[])
    service.refuse("get_work_text", "rate limit")
    async with start(service) as (app, pilot):
        screen = await open_screen(app, pilot)
        assert "[red]x[/]␛[2J" in screen.work_list.render_line(0).text
        await pilot.press("f4")
        await until(pilot, lambda: isinstance(app.screen, TextReader))
        await until_shown(app, pilot, "[red]x[/]␛[2J")
        await until_shown(app, pilot, "Its comments could not be read: rate limit")
        await pilot.press("escape")
        service.answers["get_work_text"] = lambda given: f"## Comment by {hostile}"
        await pilot.press("f4")
        await until_shown(app, pilot, "## Comment by [red]x[/]␛[2J")
        await pilot.press("escape", "enter")
        await until(pilot, lambda: isinstance(app.screen, StartWork))
        assert "enter create" in screen_text(app)
