"""Worktrees through dialogs: made from branch, issue or pull request; named, labelled, removed."""

from typing import Any

import pytest
from textual.widgets import Input, OptionList

from model.api.worktrees import RemovalLosses
from model.base.errors import SpinneyError
from model.domain import events as e
from model.domain.hosting import OpenIssue, OpenPullRequest
from model.domain.resources import Branch, Label, Session, Worktree
from model.domain.worktrees import OutsideWorktree
from tests.tui.conftest import Start, Started, until
from tests.tui.fake_client import FakeClient, a_project, a_session, a_state, a_worktree
from tui.screens.archive import Archive
from tui.screens.choose import Choose
from tui.screens.dialog import AskText, Confirm
from tui.screens.new_worktree import NewWorktree
from tui.screens.pick import Pick
from tui.screens.pick_field import PickField
from tui.store.places import Place


def one_session(*, session: dict[str, Any] | None = None, **worktree: Any) -> FakeClient:
    return FakeClient(a_state(a_project(), a_worktree(**worktree), a_session(**(session or {}))))


def with_lists(client: FakeClient) -> FakeClient:
    client.answers |= {
        "get_project_branches": lambda given: [
            Branch(name="main", current=True),
            Branch(name="dev", current=False),
            Branch(name="origin/feature/door", current=False),
        ],
        "list_issues": lambda given: [
            OpenIssue(number=12, title="The door sticks"),
            OpenIssue(number=13, title="The window too"),
        ],
        "list_pull_requests": lambda given: [
            OpenPullRequest(number=7, title="Oil it", head_ref_name="oil", base_ref_name="dev")
        ],
    }
    client.refuse("create_worktree", "not now", "conflict")
    return client


async def open_new_worktree(started: Started) -> NewWorktree:
    app, pilot = started
    await pilot.press("ctrl+n")
    await until(pilot, lambda: isinstance(app.screen, NewWorktree))
    assert isinstance(app.screen, NewWorktree)
    return app.screen


async def pick(started: Started, dialog: NewWorktree, field: str, *keys: str) -> None:
    """Choose in the list of a field, by its keys."""
    app, pilot = started
    dialog.query_one(f"#{field}", PickField).focus()
    await pilot.pause()
    await pilot.press(keys[0])
    await until(pilot, lambda: isinstance(app.screen, Pick) and app.screen.marked)
    await pilot.press(*keys[1:])
    await until(pilot, lambda: app.screen is dialog)


async def made(started: Started, client: FakeClient) -> dict[str, Any]:
    app, pilot = started
    app.screen.query_one("#name", Input).focus()
    await pilot.press("enter")
    await until(pilot, lambda: client.called("create_worktree"))
    return client.called("create_worktree")[-1]


async def test_the_base_is_chosen_from_the_branches_that_fit_what_one_types(start: Start) -> None:
    client = with_lists(one_session())
    async with start(client) as started:
        dialog = await open_new_worktree(started)
        await pick(started, dialog, "base", "d", *"oor", "enter")
        assert (await made(started, client))["base_branch"] == "origin/feature/door"


async def test_any_other_commit_can_be_written(start: Start) -> None:
    client = with_lists(one_session())
    async with start(client) as started:
        dialog = await open_new_worktree(started)
        await pick(started, dialog, "base", "v", *"1.2", "enter")
        assert (await made(started, client))["base_branch"] == "v1.2"


async def test_an_issue_gives_the_worktree_its_name_and_the_agent_its_task(start: Start) -> None:
    client = with_lists(one_session())
    async with start(client) as started:
        dialog = await open_new_worktree(started)
        await pick(started, dialog, "issue", "space", "down", "down", "enter")
        assert dialog.query_one("#message").text == (  # type: ignore[attr-defined]
            "Resolve issue #13 The window too"
        )
        given = await made(started, client)
        assert (given["issue_context"].number, given["issue_context"].title) == (
            13,
            "The window too",
        )


async def test_a_pull_request_gives_its_branches(start: Start) -> None:
    client = with_lists(one_session())
    async with start(client) as started:
        dialog = await open_new_worktree(started)
        await pick(started, dialog, "pull-request", "o", "i", "l", "enter")
        request = (await made(started, client))["pr_context"]
        assert (request.number, request.head_ref_name, request.base_ref_name) == (7, "oil", "dev")


async def test_without_gh_it_says_why_and_takes_a_number(start: Start) -> None:
    client = with_lists(one_session())
    client.refuse("list_pull_requests", "The program “gh” is not installed.")
    async with start(client) as started:
        app, pilot = started
        dialog = await open_new_worktree(started)
        dialog.query_one("#pull-request", PickField).focus()
        await pilot.pause()
        await pilot.press("9")
        await until(pilot, lambda: isinstance(app.screen, Pick) and app.screen.marked)
        assert "not installed" in str(app.screen.query_one(".note").render())
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is dialog)
        request = (await made(started, client))["pr_context"]
        assert (request.number, request.base_ref_name) == (9, "main")


async def test_a_refusal_stands_at_its_field_and_everything_chosen_stays(start: Start) -> None:
    client = with_lists(one_session())
    client.refuse("create_worktree", "Invalid field 'customName': it begins with a dash")
    async with start(client) as started:
        app, pilot = started
        dialog = await open_new_worktree(started)
        await pick(started, dialog, "mode", "space", *"yolo", "enter")
        await pick(started, dialog, "agent", "space", *"Codex", "enter")
        await made(started, client)
        await until(pilot, lambda: isinstance(app.screen, NewWorktree) and app.screen is not dialog)
        again = app.screen
        problem = again.query_one(".problem")
        assert str(problem.render()) == "It begins with a dash"
        siblings = list(again.query_one(".dialog").children)
        assert siblings.index(problem) == siblings.index(again.query_one("#name")) + 1
        assert again.query_one("#name").has_focus
        assert again.query_one("#mode", PickField).choice.value == "yolo"
        assert again.query_one("#agent", PickField).choice.value == "backend_b"


async def test_the_agent_and_the_mode_are_those_of_the_first_session(start: Start) -> None:
    client = with_lists(one_session())

    def create(given: dict[str, Any]) -> Worktree:
        worktree = a_worktree(id="new", name="fox")
        client.feed(e.WorktreeCreated(worktree=worktree))
        return worktree

    def begin(given: dict[str, Any]) -> Session:
        session = a_session(id="s9", worktree_id="new")
        client.feed(e.SessionCreated(session=session))
        return session

    client.answers |= {"create_worktree": create, "create_session": begin}
    async with start(client) as started:
        dialog = await open_new_worktree(started)
        assert dialog.query_one("#agent", PickField).choice.label == "default (Claude Code)"
        await pick(started, dialog, "mode", "space", *"build", "enter")
        await pick(started, dialog, "agent", "space", *"OpenCode", "enter")
        await made(started, client)
        await until(started[1], lambda: client.called("create_session"))
        assert client.called("create_session") == [
            {"worktree_id": "new", "backend": "backend_c", "execution_mode": "build"}
        ]


@pytest.mark.parametrize("key", ["escape", "delete"])
async def test_a_creation_can_be_cancelled_where_it_is_seen(key: str, start: Start) -> None:
    client = FakeClient(a_state(a_project(), a_worktree(status="creating")))
    async with start(client) as (app, pilot):
        app.main.open_place(Place("worktree", "w1"))
        await until(pilot, lambda: app.main.place == Place("worktree", "w1"))
        if key == "delete":
            app.main.projects.focus()
            await pilot.pause()
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("right", "enter")
        await until(pilot, lambda: client.called("cancel_git"))
        assert client.called("cancel_git") == [{"worktree_id": "w1"}]


async def test_a_worktree_is_renamed_and_asked_again_where_that_cannot_be(start: Start) -> None:
    client = one_session()
    client.refuse("rename_worktree", "Branch already exists: fox", "conflict")
    async with start(client) as (app, pilot):
        app.main.action_do("rename_worktree")
        await until(pilot, lambda: isinstance(app.screen, AskText))
        first = app.screen
        await pilot.press("ctrl+u")
        await until(pilot, lambda: not first.query_one(Input).value)
        await pilot.press(*"fox", "enter")
        await until(pilot, lambda: isinstance(app.screen, AskText) and app.screen is not first)
        assert app.screen.query_one(Input).value == "fox"
        assert "already exists" in str(app.screen.query_one(".words").render())
        client.answers["rename_worktree"] = lambda given: None
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        assert client.called("rename_worktree")[-1] == {"worktree_id": "w1", "new_name": "fox"}


async def test_a_label_has_a_word_and_a_colour(start: Start) -> None:
    client = one_session()
    async with start(client) as (app, pilot):
        app.main.action_do("label_worktree")
        await until(pilot, lambda: isinstance(app.screen, AskText))
        await pilot.press(*"review", "enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("down", "enter")
        await until(pilot, lambda: client.called("update_worktree_label"))
        label = client.called("update_worktree_label")[0]["label"]
        assert (label.name, label.color) == ("review", "#e0823d")


async def test_an_empty_label_takes_it_away(start: Start) -> None:
    client = one_session(label=Label(name="review", color="#e5534b"))
    async with start(client) as (app, pilot):
        app.main.action_do("label_worktree")
        await until(pilot, lambda: isinstance(app.screen, AskText))
        assert app.screen.query_one(Input).value == "review"
        await pilot.press("ctrl+u", "enter")
        await until(pilot, lambda: client.called("update_worktree_label"))
        assert client.called("update_worktree_label")[0]["label"] is None


async def test_a_worktree_whose_directory_is_gone_is_recreated_by_enter(start: Start) -> None:
    client = FakeClient(a_state(a_project(), a_worktree(status="missing")))
    async with start(client) as (app, pilot):
        app.main.open_place(Place("worktree", "w1"))
        await until(pilot, lambda: "Check the branch out" in app.main.chat.welcome.step.offer)
        app.main.chat.welcome.focus()
        await pilot.press("enter")
        await until(pilot, lambda: client.called("recreate_worktree"))


async def ask_to_delete(app: Any, pilot: Any) -> str:
    app.main.action_do("delete_worktree")
    await until(pilot, lambda: isinstance(app.screen, Confirm))
    assert isinstance(app.screen, Confirm)
    return app.screen.sentence


async def test_what_would_be_lost_is_named_and_enter_alone_does_not_do_it(start: Start) -> None:
    client = one_session()
    client.answers["get_removal_losses"] = lambda given: RemovalLosses(
        files=["a.py", "b.py"], commits=3, sessions=2, running=[]
    )
    async with start(client) as (app, pilot):
        sentence = await ask_to_delete(app, pilot)
        for words in ("2 uncommitted files (a.py, b.py)", "3 commits that no other", "2 sessions"):
            assert words in sentence
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        assert not client.called("remove_worktree")
        await ask_to_delete(app, pilot)
        await pilot.press("y")
        await until(pilot, lambda: client.called("remove_worktree"))
        assert client.called("remove_worktree") == [
            {"worktree_id": "w1", "for_good": True, "force": True}
        ]


async def test_what_runs_is_named_and_stopped_first(start: Start) -> None:
    client = one_session(session={"status": "running"})
    client.answers["get_removal_losses"] = lambda given: RemovalLosses(
        files=[], commits=0, sessions=1, running=["Fix the parser"]
    )

    def stop(given: dict[str, Any]) -> None:
        client.feed(e.SessionUpdated(session_id="s1", updates={"status": "idle"}))

    client.answers["stop_generation"] = stop
    async with start(client) as (app, pilot):
        assert (
            "These sessions are running and will be stopped: Fix the parser."
            in await ask_to_delete(app, pilot)
        )
        await pilot.press("y")
        await until(pilot, lambda: client.called("remove_worktree"))
        names = [name for name, _ in client.calls]
        assert names.index("stop_generation") < names.index("remove_worktree")
        assert client.called("remove_worktree")[0]["force"] is False


async def test_what_came_meanwhile_is_asked_about_once_more(start: Start) -> None:
    client = one_session()

    def refuse_at_first(given: dict[str, Any]) -> None:
        if not given["force"]:
            raise SpinneyError("“otter” has 1 uncommitted file (new).", "conflict")

    client.answers["remove_worktree"] = refuse_at_first
    async with start(client) as (app, pilot):
        await ask_to_delete(app, pilot)
        first = app.screen
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen is not first)
        await pilot.press("y")
        await until(pilot, lambda: len(client.called("remove_worktree")) == 2)


def with_archive() -> FakeClient:
    return FakeClient(
        a_state(
            a_project(),
            a_worktree(),
            a_worktree(id="w2", name="old-otter", archived_at=5.0),
            a_session(),
            a_session(id="s2", name="Put away", archived_at=9.0, message_count=4),
            a_session(id="s3", worktree_id="w2", archived_at=5.0),
        )
    )


async def open_archive(app: Any, pilot: Any) -> Archive:
    await pilot.press("f8")
    await until(pilot, lambda: isinstance(app.screen, Archive))
    assert isinstance(app.screen, Archive)
    return app.screen


async def test_the_archive_shows_what_was_put_away_last_first(start: Start) -> None:
    async with start(with_archive()) as (app, pilot):
        archive = await open_archive(app, pilot)
        assert [entry.label for entry in archive.shown] == ["Put away", "old-otter"]


async def test_a_worktree_is_brought_back_from_the_archive(start: Start) -> None:
    client = with_archive()

    def bring_back(given: dict[str, Any]) -> None:
        client.feed(e.WorktreeUnarchived(worktree=a_worktree(id="w2", name="old-otter")))

    client.answers["unarchive_worktree"] = bring_back
    async with start(client) as (app, pilot):
        await open_archive(app, pilot)
        await pilot.press(*"old-", "enter")
        await until(pilot, lambda: app.main.place == Place("worktree", "w2"))
        assert client.called("unarchive_worktree") == [{"worktree_id": "w2"}]


async def test_a_session_is_deleted_from_the_archive_and_the_archive_stays(start: Start) -> None:
    client = with_archive()

    def delete(given: dict[str, Any]) -> None:
        client.feed(e.SessionDeleted(session_id=given["session_id"]))

    client.answers["delete_session"] = delete
    async with start(client) as (app, pilot):
        await open_archive(app, pilot)
        await pilot.press("delete")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        assert "4 messages" in app.screen.sentence  # type: ignore[attr-defined]
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, Archive))
        assert [entry.label for entry in app.screen.shown] == ["old-otter"]  # type: ignore[attr-defined]
        assert client.called("delete_session") == [{"session_id": "s2"}]


async def test_a_long_list_shows_a_part_and_says_how_much_more_there_is(start: Start) -> None:
    client = with_lists(one_session())
    client.answers["get_project_branches"] = lambda given: [
        Branch(name=f"branch-{number}", current=False) for number in range(5000)
    ]
    async with start(client) as started:
        app, pilot = started
        dialog = await open_new_worktree(started)
        dialog.query_one("#base", PickField).focus()
        await pilot.pause()
        await pilot.press("space")
        await until(pilot, lambda: isinstance(app.screen, Pick) and app.screen.marked)
        assert app.screen.query_one(OptionList).option_count == 200
        assert "4800 more" in str(app.screen.query_one(".note").render())
        await pilot.press(*"4711")
        await until(pilot, lambda: len(app.screen.shown) <= 2)  # type: ignore[attr-defined]
        assert app.screen.shown[0].label == "branch-4711"  # type: ignore[attr-defined]


def offers(client: FakeClient) -> FakeClient:
    """The repository has two worktrees that were made by hand; only one can be adopted."""
    client.answers["list_outside_worktrees"] = lambda given: [
        OutsideWorktree(path="/else/loose", branch=None),
        OutsideWorktree(path="/else/mine", branch="mine"),
    ]

    def adopted(given: dict[str, Any]) -> Worktree:
        taken = a_worktree(id="w9", name="mine", path=given["path"], branch="mine", adopted=True)
        client.feed(e.WorktreeCreated(worktree=taken))
        return taken

    client.answers["adopt_worktree"] = adopted
    return client


async def test_a_worktree_made_by_hand_is_chosen_from_a_list_and_opened(start: Start) -> None:
    client = offers(FakeClient(a_state(a_project())))
    async with start(client) as (app, pilot):
        app.main.open_place(Place("project", "p1"))
        await until(pilot, lambda: "No worktrees yet" in app.main.chat.welcome.step.sentence)
        await pilot.press("ctrl+p", *"adopt", "enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        assert [choice.label for choice in app.screen.choices] == ["/else/loose", "/else/mine"]
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.main.place == Place("worktree", "w9"))
        assert client.called("adopt_worktree") == [{"project_id": "p1", "path": "/else/mine"}]


async def test_what_stays_of_an_adopted_worktree_is_said_before_it_is_taken_out(
    start: Start,
) -> None:
    client = one_session(adopted=True)
    client.answers["get_removal_losses"] = lambda given: RemovalLosses(
        files=[], commits=0, sessions=1, running=[]
    )
    async with start(client) as (app, pilot):
        sentence = await ask_to_delete(app, pilot)
        assert "so its directory and branch are kept" in sentence and "1 session" in sentence
        assert "Delete" not in sentence and "ignored by git" not in sentence
