"""The pull request screen: what it shows, what its keys do, and how it follows the service."""

import asyncio
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from model.base.errors import SpinneyError
from model.domain.events.landing import PullRequestUpdated
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.hosting import PullRequestDetails
from model.domain.messages import SessionMessage
from tests.tui.a_hosting_service import (
    URL,
    a_check,
    a_comment,
    a_log,
    a_pull_request,
    a_remark,
    a_thread,
)
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient
from tests.tui.reading import notifications, screen_lines, screen_text
from tests.tui.waiting import until, until_shown
from tui.hosting.merge_dialog import Merge
from tui.hosting.pull_request_screen import PullRequestScreen
from tui.hosting.reviewers_dialog import AskReviewers
from tui.hosting.text_dialogs import EditPullRequest, ReplyToThread
from tui.screens.choose import Choice, Choose
from tui.screens.dialog import AskText, Confirm
from tui.screens.go_ahead import GoAhead
from tui.screens.pick_field import PickField
from tui.screens.text_reader import TextReader
from tui.shell.app import SpinneyApp


class FakeService(FakeClient):
    """A worktree with a pull request that commands change."""

    def __init__(self, *more: Any, **fields: Any) -> None:
        worktree = a_worktree(pr_number=12, pr_url=URL)
        super().__init__(a_state(a_project(), worktree, a_session(), *more))
        self.details = a_pull_request(**fields)
        changing = (
            "merge_pull_request", "cancel_auto_merge", "update_pull_request_branch",
            "set_pull_request_draft", "edit_pull_request", "request_review", "reply_to_thread",
        )  # fmt: skip
        self.answers |= {
            name: lambda given: self.details for name in ("get_pull_request", *changing)
        }
        sent = SessionMessage(session_id="s1", message_id="m", status="processing")
        self.answers |= {
            "get_check_log": lambda given: a_log(),
            "list_possible_reviewers": lambda given: ["ada", "grace", "linus", "loom/docs"],
            "fix_checks": lambda given: sent,
            "answer_comments": lambda given: sent,
        }

    def change(self, **fields: Any) -> None:
        """Change the pull request at the service."""
        self.details = self.details.model_copy(update=fields)
        self.feed(PullRequestUpdated(worktree_id="w1"))


async def open_screen(app: SpinneyApp, pilot: "Pilot[None]") -> PullRequestScreen:
    """Open the pull request by its command, and wait until it is shown."""
    app.main.open_session("s1")
    await pilot.press(*"/pr", "enter")
    await until(pilot, lambda: isinstance(app.screen, PullRequestScreen))
    screen = app.screen
    assert isinstance(screen, PullRequestScreen)
    await until(pilot, lambda: screen.details is not None and screen.page.items)
    return screen


def go_to(screen: PullRequestScreen, part: str, id: str) -> None:
    """Move the cursor to the first row of something."""
    assert screen.page.go_to((part, id, 0))


async def test_failed_checks_come_first_and_passed_ones_are_folded_if_there_are_many(
    start: Start,
) -> None:
    many = [a_check(f"unit {n:03}") for n in range(497)]
    failed = [a_check("e2e", "failed"), a_check("lint", "failed"), a_check("slow", "running")]
    service = FakeService(checks=[*many, *failed])
    async with start(service) as (app, pilot):
        screen = await open_screen(app, pilot)
        shown = screen_text(app)
        assert "2 failed · 1 running · 497 passed" in shown
        names = [row.id for row in screen.page.items if row.part == "check"]
        assert names == ["e2e", "lint", "slow"]
        go_to(screen, "folded", "checks")
        await pilot.press("enter")
        await until(pilot, lambda: sum(r.part == "check" for r in screen.page.items) == 500)


@pytest.mark.longer
async def test_of_thousands_of_comments_most_are_counted_until_their_thread_is_opened(
    start: Start,
) -> None:
    comments = [a_comment("grace", "\u0301" * 8000)] * 20
    threads = [a_thread(f"{n}.py", 1, *comments) for n in range(300)]
    async with start(FakeService(threads=threads)) as (app, pilot):
        screen = await open_screen(app, pilot)
        assert len(screen.page.items) < 2000
        go_to(screen, "thread", "t-299.py")
        await until_shown(app, pilot, "299.py:1", "20 comments: enter shows all")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TextReader))


async def test_the_log_of_a_failed_check_is_shown_and_searched_and_may_go_to_a_session(
    start: Start,
) -> None:
    service = FakeService()
    service.answers["get_check_log"] = lambda given: a_log(
        text="\n".join(f"line {n} [bold]\x1b[2J" for n in range(300)), left_out=9000
    )
    async with start(service) as (app, pilot):
        screen = await open_screen(app, pilot)
        go_to(screen, "check", "CI / test (3.12)")
        await pilot.press("enter")
        await until_shown(app, pilot, "9,000 lines before these are left out", "line 299 [bold]")
        assert "␛[2J" in screen_text(app)
        assert service.called("get_check_log") == [
            {"worktree_id": "w1", "check_id": "CI / test (3.12)"}
        ]
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.screen, AskText))
        await pilot.press(*"line 77", "enter")
        await until_shown(app, pilot, "line 77 [bold]")
        await pilot.press("f")
        await until(pilot, lambda: app.screen is app.main)
        assert service.called("fix_checks") == [{"worktree_id": "w1", "session_id": None}]
        assert app.main.session is not None


async def test_comments_go_to_the_session_that_is_chosen(start: Start) -> None:
    service = FakeService(a_session(id="s2", name="Other"))
    async with start(service) as (app, pilot):
        await open_screen(app, pilot)
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        assert service.called("answer_comments") == [{"worktree_id": "w1", "session_id": "s1"}]


async def test_why_something_failed_is_said_in_place_and_f5_asks_the_service(start: Start) -> None:
    service = FakeService()
    sentence = "You are not signed in to GitHub. Run 'gh auth login' in a terminal."
    service.refuse("get_pull_request", sentence)
    async with start(service) as (app, pilot):
        app.main.open_session("s1")
        await pilot.press(*"/pr", "enter")
        await until_shown(app, pilot, sentence, "f5 tries again")
        service.answers["get_pull_request"] = lambda given: service.details
        await pilot.press("f5")
        await until_shown(app, pilot, "Read the last row")
        assert service.called("get_pull_request")[-1]["refresh"] is True
        assert sentence not in screen_text(app)


async def test_it_merges_only_after_a_choice_and_at_the_head_that_was_seen(start: Start) -> None:
    service = FakeService(can_merge=True, merge_note="")
    async with start(service) as (app, pilot):
        await open_screen(app, pilot)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, Merge))
        assert "cannot be undone here" in screen_text(app)
        await pilot.press("enter")  # cancel has the focus
        await until(pilot, lambda: isinstance(app.screen, PullRequestScreen))
        assert not service.called("merge_pull_request")
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, Merge))
        field = app.screen.query_one("#method", PickField)
        assert field.choice.value == app.main.state.preferences.landing_method
        field.set_choice(Choice("squash", "squash"))
        field.focus()
        await pilot.press("tab", "right", "enter", "enter")
        await until(pilot, lambda: service.called("merge_pull_request"))
        assert service.called("merge_pull_request") == [
            {"worktree_id": "w1", "method": "squash", "auto": True, "head_commit": "a" * 40}
        ]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"has_queue": True, "can_merge": True, "can_auto_merge": False}, "merge queue"),
        ({"can_merge": False}, "automatically: as soon as checks and reviews allow"),
    ],
)
async def test_only_what_the_repository_allows_is_offered(
    start: Start, fields: dict[str, Any], words: str
) -> None:
    async with start(FakeService(**fields)) as (app, pilot):
        await open_screen(app, pilot)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, Merge))
        assert words in screen_text(app)
        assert not app.screen.query("#when")


async def test_automatic_merging_is_switched_off_again(start: Start) -> None:
    service = FakeService(auto_merge="squash")
    async with start(service) as (app, pilot):
        await open_screen(app, pilot)
        assert "will be merged (squash) as soon as everything holds" in screen_text(app)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, GoAhead))
        service.details = service.details.model_copy(update={"auto_merge": None})
        await pilot.press("enter")
        await until(pilot, lambda: service.called("cancel_auto_merge"))
        await until(pilot, lambda: "will be merged" not in screen_text(app))


async def test_a_reply_is_kept_until_it_was_sent(start: Start) -> None:
    service = FakeService()

    def refuse(given: dict[str, Any]) -> PullRequestDetails:
        raise SpinneyError("The comment was deleted. Refresh, and answer another one.")

    service.answers["reply_to_thread"] = refuse
    async with start(service) as (app, pilot):
        screen = await open_screen(app, pilot)
        go_to(screen, "thread", "t-src/parser.py")
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, ReplyToThread))
        await pilot.press(*"Done", "ctrl+t", "enter")
        await until_shown(app, pilot, "The comment was deleted")
        await pilot.press("escape", "r")
        await until(pilot, lambda: isinstance(app.screen, ReplyToThread))
        assert "resolve the thread: yes" in screen_text(app)
        resolved = a_thread("src/parser.py", 42, a_comment("grace", "Why?"), is_resolved=True)
        service.answers["reply_to_thread"] = lambda given: service.details.model_copy(
            update={"threads": [resolved]}
        )
        await pilot.press("enter")
        await until_shown(app, pilot, "1 resolved: enter shows them")
        assert service.called("reply_to_thread")[-1] == {
            "worktree_id": "w1", "thread_id": "t-src/parser.py", "text": "Done", "resolve": True,
            "allowed_secrets": None,
        }  # fmt: skip


async def test_comments_of_the_conversation_are_answered_and_never_resolved(start: Start) -> None:
    hostile = "[red]Rename\x1b[31m\u202e it" + " please" * 300
    earlier = [a_remark(f"dan{n}", f"Number {n}.", needs_answer=False) for n in range(12)]
    service = FakeService(threads=[], conversation=[*earlier, a_remark("grace", hostile)])
    async with start(service, size=(80, 60)) as (app, pilot):
        screen = await open_screen(app, pilot)
        shown = screen_text(app)
        assert "1 comment open" in shown and "Conversation  1 not answered" in shown
        assert "3 earlier comments: enter shows them" in shown
        assert "dan3" in shown and "dan2" not in shown
        assert "[red]Rename␛[31m" in shown
        go_to(screen, "folded", "conversation")
        await pilot.press("enter")
        await until_shown(app, pilot, "dan2")
        go_to(screen, "thread", screen.details.conversation[-1].id if screen.details else "")
        await pilot.press("x")
        await until(pilot, lambda: notifications(app))
        assert notifications(app) == ["It cannot be resolved. Reply to it."]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TextReader))
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, ReplyToThread))
        assert "resolve or not" not in screen_text(app)
        assert "Also resolve" not in screen_text(app)
        await pilot.press("ctrl+t", *"Done", "enter")
        await until(pilot, lambda: service.called("reply_to_thread"))
        assert service.called("reply_to_thread")[-1] == {
            "worktree_id": "w1", "thread_id": service.details.conversation[-1].id,
            "text": "Done", "resolve": False, "allowed_secrets": None,
        }  # fmt: skip


async def test_title_and_description_are_sent_only_if_they_were_changed(start: Start) -> None:
    service = FakeService(title="Mend it", body="Why")
    async with start(service) as (app, pilot):
        await open_screen(app, pilot)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EditPullRequest))
        app.screen.query_one(TextArea).text = "Because"
        await pilot.press("ctrl+g")
        await until(pilot, lambda: service.called("edit_pull_request"))
        assert service.called("edit_pull_request") == [
            {"worktree_id": "w1", "title": None, "body": "Because", "allowed_secrets": None}
        ]


async def test_several_people_are_asked_for_a_review(start: Start) -> None:
    service = FakeService()
    async with start(service) as (app, pilot):
        await open_screen(app, pilot)
        await pilot.press("v")
        await until(pilot, lambda: isinstance(app.screen, AskReviewers))
        await until_shown(app, pilot, "3 of 3")  # not the author
        await pilot.press(*"gr", "space", "backspace", "backspace", *"docs", "space", "enter")
        await until(pilot, lambda: service.called("request_review"))
        assert service.called("request_review") == [
            {"worktree_id": "w1", "reviewers": ["grace", "loom/docs"]}
        ]


async def test_updating_the_branch_says_what_it_does(start: Start) -> None:
    service = FakeService()
    async with start(service) as (app, pilot):
        await open_screen(app, pilot)
        await pilot.press("u")
        await until(pilot, lambda: isinstance(app.screen, GoAhead))
        assert "Merge main, which is 3 commits ahead, into brave-otter" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: service.called("update_pull_request_branch"))


async def test_where_only_a_rebase_updates_the_branch_it_is_what_is_asked(start: Start) -> None:
    service = FakeService(must_rebase=True)
    async with start(service) as (app, pilot):
        await open_screen(app, pilot)
        await pilot.press("u")
        await until(pilot, lambda: isinstance(app.screen, GoAhead))
        assert "Rebase brave-otter on main" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: service.called("update_pull_request_branch"))
        assert service.called("update_pull_request_branch")[0]["rebase"] is True


async def test_the_automatic_loop_is_switched_on_with_a_cap(start: Start) -> None:
    service = FakeService()
    async with start(service) as (app, pilot):
        await open_screen(app, pilot)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, AskText))
        await pilot.press("backspace", *"99", "enter")
        await until_shown(app, pilot, "'99' is not a number from 1 to 20")
        await pilot.press("backspace", "backspace", "5", "enter")
        await until(pilot, lambda: service.called("set_pull_request_loop"))
        assert service.called("set_pull_request_loop") == [
            {"session_id": "s1", "enabled": True, "limit": 5}
        ]


async def test_news_keep_the_cursor_on_its_check_and_place(start: Start) -> None:
    checks = [a_check(f"e2e {n:02}", "failed") for n in range(40)]
    service = FakeService(checks=checks, reviewers=[])
    async with start(service) as (app, pilot):
        screen = await open_screen(app, pilot)
        go_to(screen, "check", "e2e 30")
        await until(pilot, lambda: "e2e 30" in screen_text(app))
        before = next(y for y, row in enumerate(screen_lines(app)) if "e2e 30" in row)
        service.change(checks=[a_check("e2e 05"), *checks[:5], *checks[6:]], title="Another title")
        await until_shown(app, pilot, "e2e 30")
        await until(pilot, lambda: screen.details and screen.details.title == "Another title")
        assert screen.here.id == "e2e 30"
        assert next(y for y, row in enumerate(screen_lines(app)) if "e2e 30" in row) == before


async def test_news_while_it_reads_are_read_afterwards(start: Start) -> None:
    service = FakeService()
    reading: list[int] = []
    async with start(service) as (app, pilot):
        await open_screen(app, pilot)
        gate = asyncio.Event()

        async def slow(given: dict[str, Any]) -> PullRequestDetails:
            reading.append(1)
            assert sum(reading) == 1
            await gate.wait()
            reading.append(-1)
            return service.details

        service.answers["get_pull_request"] = slow
        for number in range(5):
            service.change(title=f"Title {number}")
            await pilot.pause()
        gate.set()
        await until_shown(app, pilot, "Title 4")


async def test_foreign_text_is_no_markup_and_moves_nothing(start: Start) -> None:
    hostile = "[red]x[/red]\x1b[31m\u202e" + "w" * 300
    service = FakeService(
        title=hostile, body=hostile * 300, author=hostile, head=hostile, merge_note=hostile,
        checks=[a_check(hostile, "failed", id="c", summary=hostile)],
        threads=[a_thread(hostile, 1, a_comment(hostile, "line\n" * 5000), id="t")],
    )  # fmt: skip
    async with start(service, size=(100, 30)) as (app, pilot):
        screen = await open_screen(app, pilot)
        assert "[red]x[/red]␛" in screen_text(app)
        assert "\x1b" not in screen_text(app) and "\u202e" not in screen_text(app)
        assert len(screen.page.items) < 120
        assert len(screen_lines(app)) == 30
        go_to(screen, "thread", "t")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TextReader))
        await until_shown(app, pilot, "line")


async def test_the_screen_closes_when_the_pull_request_is_unlinked(start: Start) -> None:
    service = FakeService()
    async with start(service) as (app, pilot):
        await open_screen(app, pilot)
        await pilot.press("x")  # no thread is under the cursor
        assert not isinstance(app.screen, Confirm)
        service.feed(WorktreeUpdated(worktree=a_worktree()))
        await until(pilot, lambda: app.screen is app.main)
        assert any("no pull request any more" in each for each in notifications(app))


async def test_a_key_that_cannot_act_says_why(start: Start) -> None:
    service = FakeService(can_auto_merge=False, checks=[])
    async with start(service) as (app, pilot):
        await open_screen(app, pilot)
        await pilot.press("m", "f", "r")
        await until(pilot, lambda: len(notifications(app)) == 3)
        assert notifications(app) == [
            "A review requests changes, and 1 required check failed.",
            "No check has failed.",
            "Move to a comment first.",
        ]
        assert not service.called("fix_checks")
