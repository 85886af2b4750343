"""The landing desk: what is next, landing with its ways out, trains, and the sweep."""

import asyncio
from typing import Any, cast

import pytest
from textual.pilot import Pilot

from model.domain.events.landing import LandingUpdated, TrainUpdated
from model.domain.events.worktrees import WorktreeCreated
from model.domain.landing import LandingPreview, Swept
from model.domain.worktrees import Worktree
from tests.tui.builders import a_worktree
from tests.tui.conftest import Start
from tests.tui.landing_desk import (
    FakeLanding,
    a_car,
    a_check,
    a_preview,
    a_row,
    a_sweep_row,
    a_train,
)
from tests.tui.reading import dialog_text, notifications, screen_text
from tests.tui.waiting import until
from tui.diff.screen import Diff
from tui.landing.land_dialog import Land
from tui.landing.new_train import NewTrain
from tui.landing.preview_words import describe_preview
from tui.landing.screen import LandingScreen
from tui.landing.sweep_screen import SweepScreen
from tui.landing.train_dialog import TrainProgress
from tui.screens.dialog import Confirm, Report
from tui.screens.go_ahead import GoAhead
from tui.shell.app import SpinneyApp


async def open_desk(app: SpinneyApp, pilot: "Pilot[None]") -> LandingScreen:
    """Open the landing desk by its command, and wait for its rows."""
    app.main.open_session("s1")
    await pilot.press(*"/landing", "enter")
    await until(pilot, lambda: isinstance(app.screen, LandingScreen) and bool(app.screen.row))
    assert isinstance(app.screen, LandingScreen)
    return app.screen


async def wait_for_dialog(app: SpinneyApp, pilot: "Pilot[None]", kind: type) -> None:
    await until(pilot, lambda: isinstance(app.screen, kind) and app.screen.is_painted)  # type: ignore[attr-defined]


def names(screen: LandingScreen) -> list[str]:
    return [row.name for row in screen.rows.items]


async def test_the_desk_follows_its_events_and_the_cursor_stays_on_its_worktree(
    start: Start,
) -> None:
    fake = FakeLanding()
    async with start(fake.client) as (app, pilot):
        screen = await open_desk(app, pilot)
        assert names(screen)[:3] == ["brave-otter", "calm-heron", "quick-vole"]
        await pilot.press("down", "down")
        await until(pilot, lambda: "In conflict with main: parser.py, tail.py." in screen_text(app))
        assert "In conflict with calm-heron: parser.py." in screen_text(app)
        fake.rows = [
            a_row(3, "land", "It can land in main.", name="quick\x1b[2Jvole"),
            *fake.rows[:2],
        ]
        fake.client.feed(LandingUpdated(project_id="p1"))
        await until(pilot, lambda: len(screen.rows.items) == 3)
        assert screen.row is not None
        assert (screen.row.worktree_id, screen.rows.here) == ("w3", 0)
        assert "It can land in main." in screen_text(app)
        assert "\x1b" not in screen_text(app)
        landed, *others = fake.rows
        fake.rows = others
        fake.client.feed(LandingUpdated(project_id="p1"))
        await until(pilot, lambda: len(screen.rows.items) == 2)
        fake.rows = [*others, landed]  # recognized as merged
        fake.client.feed(LandingUpdated(project_id="p1"))
        await until(pilot, lambda: len(screen.rows.items) == 3)
        assert screen.rows.here == 2
        running = a_train(a_car(1, "checking"), a_car(2, "waiting"), status="running")
        fake.client.feed(TrainUpdated(project_id="p1", train=running))
        await until(pilot, lambda: "'brave-otter' is being checked (1 of 2)" in screen_text(app))
        fake.client.refuse("get_landing_desk", "The repository is gone.")
        fake.client.feed(LandingUpdated(project_id="p1"))
        await until(pilot, lambda: "The repository is gone." in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_enter_lands_with_the_chosen_method_and_the_report_takes_it_back(
    start: Start,
) -> None:
    fake = FakeLanding()

    def preview(given: dict[str, str]) -> LandingPreview:
        method = given["method"] or "merge"
        return a_preview(method=method, message="" if method == "rebase" else f"{method} it")

    fake.client.answers["preview_landing"] = preview
    async with start(fake.client) as (app, pilot):
        await open_desk(app, pilot)
        await pilot.press("enter")
        await wait_for_dialog(app, pilot, Land)
        await until(pilot, lambda: "merge it" in screen_text(app))
        assert "main is checked out in /code/alpha, which follows." in screen_text(app)
        await pilot.press("shift+tab", "shift+tab", "right")
        await until(pilot, lambda: "squash it" in screen_text(app))
        await pilot.press("tab", "right", "enter")
        await wait_for_dialog(app, pilot, Report)
        assert fake.client.called("land_worktree") == [
            {
                "worktree_id": "w1",
                "base_commit": "0ac93e57" * 5,
                "method": "squash",
                "message": "squash it",
                "after": "delete",
                "delete_remote_branch": False,
                "ignore_check": False,
                "stash_base": False,
            }
        ]
        assert "'brave-otter' landed in main (merge)." in dialog_text(app.screen)
        assert "main went from 0ac93e5 to 77aa11b." in dialog_text(app.screen)
        assert "'brave-otter' was archived." in dialog_text(app.screen)
        await pilot.press("u")
        await until(pilot, lambda: bool(fake.client.called("undo_landing")))
        await until(pilot, lambda: "main is at 0ac93e5 again." in "".join(notifications(app)))


async def test_where_landing_is_refused_enter_does_nothing_and_there_are_ways_out(
    start: Start,
) -> None:
    fake = FakeLanding()
    fake.preview = a_preview(
        check=a_check("failed"), problem="The check failed.", held_by_check=True
    )
    async with start(fake.client) as (app, pilot):
        screen = await open_desk(app, pilot)
        await pilot.press("l")
        await wait_for_dialog(app, pilot, Land)
        await until(pilot, lambda: "The check failed." in screen_text(app))
        await pilot.press("enter", "enter")
        assert isinstance(app.screen, Land)
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, Diff))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)

        await pilot.press("l")
        await wait_for_dialog(app, pilot, Land)
        await until(pilot, lambda: "The check failed." in screen_text(app))
        fake.client.refuse("land_worktree", "main has moved.", "conflict")
        await pilot.press("i")
        await until(pilot, lambda: "Merge branch" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "main has moved." in screen_text(app))
        assert fake.client.called("land_worktree")[0]["ignore_check"] is True
        assert isinstance(app.screen, Land)


async def test_changes_in_the_checkout_of_the_base_are_stashed_or_opened(start: Start) -> None:
    fake = FakeLanding()
    dirty = "'main' is checked out in /code/alpha, with 1 uncommitted change (read.me)."
    fake.preview = a_preview(problem=dirty, offers_stash=True)
    async with start(fake.client) as (app, pilot):
        screen = await open_desk(app, pilot)
        await pilot.press("l")
        await wait_for_dialog(app, pilot, Land)
        await until(pilot, lambda: "stash them, land, bring them back" in screen_text(app))
        await pilot.press("s")
        await until(pilot, lambda: "Merge branch" in screen_text(app))
        fake.client.refuse("land_worktree", "main has moved.", "conflict")
        await pilot.press("enter")
        await until(pilot, lambda: "main has moved." in screen_text(app))
        assert fake.client.called("land_worktree")[0]["stash_base"] is True
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)

        base = a_worktree(id="w0", name="alpha", branch="main", session_type="base")

        def open_base(given: dict[str, Any]) -> Worktree:
            fake.client.feed(WorktreeCreated(worktree=base))
            return base

        fake.client.answers["open_base_worktree"] = open_base
        await pilot.press("l")
        await wait_for_dialog(app, pilot, Land)
        await until(pilot, lambda: "open those changes" in screen_text(app))
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, Diff))
        assert cast("Diff", app.screen).worktree.id == "w0"


async def test_what_a_check_has_not_seen_is_checked_as_a_train_of_one(start: Start) -> None:
    fake = FakeLanding()
    apart = "The check passed on the branch, not on 3 new commits of 'main'."
    fake.preview = a_preview(warnings=[apart], offers_train=True)
    async with start(fake.client) as (app, pilot):
        await open_desk(app, pilot)
        await pilot.press("l")
        await wait_for_dialog(app, pilot, Land)
        await until(pilot, lambda: apart in screen_text(app))
        await pilot.press("ctrl+t")
        await wait_for_dialog(app, pilot, TrainProgress)
        given = fake.client.called("start_train")
        assert given == [{"project_id": "p1", "worktree_ids": ["w1"]}]


async def test_a_worktree_whose_base_has_landed_is_moved_onto_its_base(start: Start) -> None:
    fake = FakeLanding()
    why = "Its base 'lower' has landed in 'main'. Move it onto 'main' first."
    fake.rows = [a_row(1, "update", why, base="lower", new_base="main")]
    fake.preview = a_preview(base="lower", problem=why, new_base="main")
    fake.client.answers["set_worktree_base"] = lambda given: a_worktree(id="w1")
    async with start(fake.client) as (app, pilot):
        await open_desk(app, pilot)
        await pilot.press("enter")
        await wait_for_dialog(app, pilot, GoAhead)
        assert "has on top of lower onto main?" in dialog_text(app.screen)
        await pilot.press("enter")
        await until(pilot, lambda: bool(fake.client.called("set_worktree_base")))
        moved = {"worktree_id": "w1", "base_branch": "main", "move_commits": True}
        assert fake.client.called("set_worktree_base") == [moved]
        await pilot.press("l")
        await wait_for_dialog(app, pilot, Land)
        await until(pilot, lambda: "move it onto main" in screen_text(app))
        await pilot.press("u")
        await wait_for_dialog(app, pilot, GoAhead)


def test_nothing_is_counted_of_a_branch_that_is_not_ready() -> None:
    not_ready = a_preview(head_commit="", commits=0, files=0, added=0, removed=0)
    assert describe_preview(not_ready).plain.startswith("→ main at ")
    assert "2 commits → main" in describe_preview(a_preview()).plain
    marked = describe_preview(a_preview(marked_files=["a.txt"]))
    assert "Adds conflict markers to a.txt." in marked.plain


async def test_words_typed_into_a_refused_landing_are_its_message_and_decide_nothing(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake, may_read = FakeLanding(), asyncio.Event()

    async def preview(given: dict[str, str]) -> LandingPreview:
        await may_read.wait()
        return a_preview(check=a_check("failed"), problem="The check failed.")

    fake.client.answers["preview_landing"] = preview
    monkeypatch.setattr(Land, "ALONE", 3600.0)
    async with start(fake.client) as (app, pilot):
        screen = await open_desk(app, pilot)
        await pilot.press("l")
        await wait_for_dialog(app, pilot, Land)
        await pilot.press(*" fi", "enter")  # before it is known that landing is refused
        may_read.set()
        await until(pilot, lambda: "The check failed." in screen_text(app))
        await pilot.press(*"x it", "enter")
        await until(pilot, lambda: "Merge branch 'brave-otter' fix it" in screen_text(app))
        await pilot.press("escape", *"icd")
        await until(pilot, lambda: "fix iticd" in screen_text(app))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("l")
        await until(pilot, lambda: "fix iticd" in screen_text(app))
        assert not fake.client.called("land_worktree")
        assert not fake.client.called("run_worktree_script")


async def test_a_problem_is_shown_before_it_is_sent_to_the_session(start: Start) -> None:
    fake = FakeLanding()
    async with start(fake.client) as (app, pilot):
        await open_desk(app, pilot)
        await pilot.press("down", "down", "down", "enter")
        await wait_for_dialog(app, pilot, GoAhead)
        assert "The check failed:" in dialog_text(app.screen)
        await pilot.press("enter")
        await until(pilot, lambda: bool(fake.client.called("send_landing_message")))
        given = fake.client.called("send_landing_message")
        assert given == [{"worktree_id": "w4", "session_id": "s4"}]


async def test_the_marked_worktrees_become_a_train_that_lands_what_is_ready(start: Start) -> None:
    fake = FakeLanding()
    async with start(fake.client) as (app, pilot):
        await open_desk(app, pilot)
        await pilot.press("space")
        await pilot.click("#desk", offset=(12, 1), control=True)
        await until(pilot, lambda: "2 marked" in screen_text(app))
        await pilot.press("l")
        await wait_for_dialog(app, pilot, NewTrain)
        assert "one that fails stops it" in dialog_text(app.screen)
        await pilot.press("shift+down", "c", "g")
        assert "one that fails is left out" in dialog_text(app.screen)
        await pilot.press("enter")
        await wait_for_dialog(app, pilot, TrainProgress)
        assert fake.client.called("start_train") == [
            {
                "project_id": "p1",
                "worktree_ids": ["w1", "w2"],
                "method": "merge",
                "with_check": False,
                "keep_going": True,
            }
        ]
        await pilot.press("l", "r")
        assert isinstance(app.screen, TrainProgress), "nothing is ready yet"
        conflict = a_car(2, "conflict", conflicts=["parser.py"])
        stopped = a_train(a_car(1, "ready"), conflict)
        fake.client.feed(TrainUpdated(project_id="p1", train=stopped))
        await until(pilot, lambda: "stopped by 'calm-heron'; 1 can land." in screen_text(app))
        await until(pilot, lambda: "parser.py" in screen_text(app))  # of the one that stopped it
        assert "send to its session" in dialog_text(app.screen)
        sibling = conflict.model_copy(update={"siblings": ["one"], "error": "Land it first."})
        stopped = a_train(a_car(1, "ready"), sibling)
        fake.client.feed(TrainUpdated(project_id="p1", train=stopped))
        await until(pilot, lambda: "Land it first." in screen_text(app))
        assert "send to its session" not in dialog_text(app.screen)
        await pilot.press("l")
        await until(pilot, lambda: "Land 1 worktree in main (merge)" in screen_text(app))
        await pilot.press("down", "enter")
        await wait_for_dialog(app, pilot, Report)
        assert fake.client.called("land_train") == [
            {"train_id": "t1", "after": "archive", "delete_remote_branch": False}
        ]


async def test_an_ended_train_is_there_again_with_the_output_of_its_checks(start: Start) -> None:
    fake = FakeLanding()
    fake.train = a_train()
    async with start(fake.client) as (app, pilot):
        screen = await open_desk(app, pilot)
        await pilot.press("t")
        await wait_for_dialog(app, pilot, TrainProgress)
        await pilot.press("enter")
        await wait_for_dialog(app, pilot, Report)
        assert "..F\n1 failed" in dialog_text(app.screen)
        assert fake.client.called("get_train_output") == [{"train_id": "t1", "worktree_id": "w3"}]
        await pilot.press("escape")
        await wait_for_dialog(app, pilot, TrainProgress)
        await pilot.press("delete")
        await wait_for_dialog(app, pilot, Confirm)
        await pilot.press("y")
        await until(pilot, lambda: bool(fake.client.called("discard_train")))
        await until(pilot, lambda: app.screen is screen)


async def test_the_newest_landing_is_taken_back_after_a_question(start: Start) -> None:
    fake = FakeLanding()
    async with start(fake.client) as (app, pilot):
        screen = await open_desk(app, pilot)
        await pilot.press("u")
        await until(
            pilot, lambda: "no landing that can be taken back" in "".join(notifications(app))
        )
        fake.can_undo = "l1"
        fake.client.feed(LandingUpdated(project_id="p1"))
        await until(pilot, lambda: screen.known is not None and screen.known.can_undo == "l1")
        await pilot.press("u")
        await wait_for_dialog(app, pilot, GoAhead)
        assert "brave-otter back? main returns to 0ac93e5." in dialog_text(app.screen)
        await pilot.press("enter")
        await until(pilot, lambda: fake.client.called("undo_landing") == [{"landing_id": "l1"}])


async def test_the_sweep_deletes_what_is_marked_and_says_first_what_is_lost(start: Start) -> None:
    fake = FakeLanding()
    fake.client.answers["sweep_worktrees"] = lambda given: [
        Swept(worktree_id="w6", ok=True, message="It was deleted."),
        Swept(worktree_id="w1", ok=False, message="A session is at work in it."),
    ]
    async with start(fake.client) as (app, pilot):
        app.main.open_session("s1")
        app.main.action_do("show_sweep")
        await until(pilot, lambda: isinstance(app.screen, SweepScreen))
        screen = app.screen
        assert isinstance(screen, SweepScreen)
        await until(pilot, lambda: "without a loss 1, 1.4 GB" in screen_text(app))
        await pilot.press("m")
        assert [row.worktree_id for row in screen.chosen] == ["w6"]
        await pilot.press("down", "space", "delete")
        await wait_for_dialog(app, pilot, Confirm)
        question = dialog_text(app.screen)
        assert "Delete 2 worktrees" in question
        assert "brave-otter: 2 uncommitted files, 1 commit nowhere else" in question
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen)
        assert not fake.client.called("sweep_worktrees"), "enter presses cancel"
        changed = fake.sweep[1].model_copy(update={"uncommitted": 3})
        fake.sweep = [fake.sweep[0], changed, *fake.sweep[2:]]
        await pilot.press("delete")
        await wait_for_dialog(app, pilot, Confirm)
        question = dialog_text(app.screen)
        assert "brave-otter: 3 uncommitted files" in question, "it says what is so now"
        fake.sweep = [a_sweep_row(1, size=5)]
        assert "Branches at the remote: stay" in screen_text(app)
        await pilot.press("r")
        await until(pilot, lambda: "at the remote: deleted for good" in screen_text(app))
        await pilot.press("y")
        await until(pilot, lambda: bool(fake.client.called("sweep_worktrees")))
        given = {"worktree_ids": ["w6", "w1"], "action": "delete", "force": True}
        assert fake.client.called("sweep_worktrees") == [{**given, "delete_remote_branch": True}]
        await until(pilot, lambda: "A session is at work in it." in screen_text(app))
        await until(pilot, lambda: len(screen.rows.items) == 1)
        assert [row.worktree_id for row in screen.chosen] == ["w1"]
