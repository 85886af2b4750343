"""Worktree dialogs: create from a branch, issue or pull request; rename, label, remove, archive."""

from typing import Any

import pytest
from textual import events
from textual.widgets import Input, OptionList

from model.api.worktrees import RemovalLosses
from model.base.errors import SpinneyError
from model.domain.branches import Branch
from model.domain.events.sessions import SessionCreated, SessionDeleted, SessionUpdated
from model.domain.events.worktrees import WorktreeCreated, WorktreeUnarchived
from model.domain.recovery import RecoveryFile, RecoveryPoint
from model.domain.sessions import Session
from model.domain.worktrees import IncludedFiles, Label, OutsideWorktree, Worktree
from tests.tui.a_hosting_service import an_issue, an_open_request, open_work
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start, Started
from tests.tui.fake_client import FakeClient
from tests.tui.reading import screen_text
from tests.tui.waiting import until, until_shown
from tui.actions import archive as archive_actions
from tui.composer.message_area import MessageArea
from tui.hosting.work_screen import WorkScreen
from tui.screens.archive import Archive
from tui.screens.choose import Choose
from tui.screens.dialog import AskText, Confirm
from tui.screens.new_worktree import NewWorktree
from tui.screens.pick import Pick
from tui.screens.pick_field import PickField
from tui.shell.app import SpinneyApp
from tui.store.places import Place
from tui.terminal.input_parser import TYPED


def client_with_session(*, session: dict[str, Any] | None = None, **worktree: Any) -> FakeClient:
    return FakeClient(a_state(a_project(), a_worktree(**worktree), a_session(**(session or {}))))


def add_lists(client: FakeClient) -> FakeClient:
    """Add branches, issues and pull requests; `create_worktree` fails."""
    client.answers |= {
        "get_project_branches": lambda given: [
            Branch(name="main", current=True),
            Branch(name="dev", current=False),
            Branch(name="origin/feature/door", current=False),
        ],
        "list_issues": lambda given: [
            an_issue(12, "The door sticks"),
            an_issue(13, "The window too"),
        ],
        "list_pull_requests": lambda given: [
            an_open_request(7, "Oil it", head_ref_name="oil", base_ref_name="dev")
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


def has_entries(app: SpinneyApp, title: str) -> bool:
    """Whether the list with this title is open and not empty."""
    screen = app.screen
    return isinstance(screen, Pick) and screen.box_title == title and screen.marked is not None


async def pick(started: Started, dialog: NewWorktree, field: str, *keys: str) -> None:
    """Open the list of a field with the first key and choose an entry with the others."""
    app, pilot = started
    dialog.query_one(f"#{field}", PickField).focus()
    await pilot.pause()
    await pilot.press(keys[0])
    await until(pilot, lambda: isinstance(app.screen, Pick) and app.screen.marked)
    await pilot.press(*keys[1:])
    await until(pilot, lambda: app.screen is dialog)


async def submit(started: Started, client: FakeClient) -> dict[str, Any]:
    """Submit the dialog and return the arguments of `create_worktree`."""
    app, pilot = started
    app.screen.query_one("#name", Input).focus()
    await pilot.press("enter")
    await until(pilot, lambda: client.called("create_worktree"))
    return client.called("create_worktree")[-1]


async def test_the_base_is_chosen_from_branches_matching_the_typed_text(start: Start) -> None:
    client = add_lists(client_with_session())
    async with start(client) as started:
        dialog = await open_new_worktree(started)
        assert "⇧tab mode" in screen_text(started[0])
        await pick(started, dialog, "base", "d", *"oor", "enter")
        shown = screen_text(started[0])
        assert "origin/feature/door ▾  a new branch from it" in shown
        assert "space list" in shown
        assert (await submit(started, client))["base_branch"] == "origin/feature/door"


async def test_the_ignored_files_that_will_be_copied_are_shown(start: Start) -> None:
    client = client_with_session()
    line = "Copies [red]env[/] and 2 more"
    client.answers["get_included_files"] = lambda given: IncludedFiles(count=3, summary=line)
    async with start(client) as started:
        app, pilot = started
        await open_new_worktree(started)
        await until(pilot, lambda: line in screen_text(app))


async def test_any_commit_can_be_typed_as_the_base(start: Start) -> None:
    client = add_lists(client_with_session())
    async with start(client) as started:
        dialog = await open_new_worktree(started)
        await pick(started, dialog, "base", "v", *"1.2", "enter")
        assert (await submit(started, client))["base_branch"] == "v1.2"


async def test_an_issue_sets_the_context_and_the_first_message(start: Start) -> None:
    client = add_lists(client_with_session())
    async with start(client) as started:
        dialog = await open_new_worktree(started)
        await pick(started, dialog, "issue", "space", "down", "down", "enter")
        assert dialog.query_one("#message").text == (  # type: ignore[attr-defined]
            "Resolve issue #13 The window too"
        )
        given = await submit(started, client)
        assert (given["issue_context"].number, given["issue_context"].title) == (
            13,
            "The window too",
        )


async def test_the_service_is_asked_for_an_issue_that_was_not_loaded(start: Start) -> None:
    client = add_lists(client_with_session())
    first = [an_issue(n, f"Issue {n}") for n in range(1, 101)]
    client.answers["list_issues"] = lambda given: (
        [an_issue(512, "By its text")] if given["search"] else first
    )
    async with start(client) as started:
        app, pilot = started
        dialog = await open_new_worktree(started)
        dialog.query_one("#issue", PickField).focus()
        await pilot.press("space")
        await until(pilot, lambda: has_entries(app, "Issue"))
        await pilot.press(*"needle")
        await until_shown(app, pilot, "#512 By its text")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is dialog)
        assert dialog.query_one("#issue", PickField).choice.label == "#512 By its text"


async def test_other_work_is_one_key_away_and_the_input_is_kept(start: Start) -> None:
    client = add_lists(client_with_session())
    client.answers["list_open_work"] = lambda given: open_work()
    async with start(client) as started:
        app, pilot = started
        await open_new_worktree(started)
        await pilot.press(*"Mend", "ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, WorkScreen))
        await until_shown(app, pilot, "Read files from a pipe")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        dialog = await open_new_worktree(started)
        assert dialog.query_one("#message", MessageArea).text == "Mend"


async def test_a_pull_request_sets_its_branches(start: Start) -> None:
    client = add_lists(client_with_session())
    async with start(client) as started:
        dialog = await open_new_worktree(started)
        await pick(started, dialog, "pull-request", "o", "i", "l", "enter")
        request = (await submit(started, client))["pr_context"]
        assert (request.number, request.head_ref_name, request.base_ref_name) == (7, "oil", "dev")


async def test_without_gh_it_says_why_and_accepts_a_number(start: Start) -> None:
    client = add_lists(client_with_session())
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
        request = (await submit(started, client))["pr_context"]
        assert (request.number, request.base_ref_name) == (9, "main")


async def test_an_error_is_shown_at_its_field_and_the_input_is_kept(start: Start) -> None:
    client = add_lists(client_with_session())
    client.refuse("create_worktree", "Invalid field 'customName': it begins with a dash")
    async with start(client) as started:
        app, pilot = started
        dialog = await open_new_worktree(started)
        await pick(started, dialog, "mode", "space", *"yolo", "enter")
        await pick(started, dialog, "agent", "space", *"Codex", "enter")
        await submit(started, client)
        await until(pilot, lambda: isinstance(app.screen, NewWorktree) and app.screen is not dialog)
        reopened = app.screen
        problem = reopened.query_one(".problem")
        assert str(problem.render()) == "It begins with a dash"
        siblings = list(reopened.query_one(".dialog").children)
        assert siblings.index(problem) == siblings.index(reopened.query_one(".field")) + 1
        assert reopened.query_one("#name").has_focus
        assert reopened.query_one("#mode", PickField).choice.value == "yolo"
        assert reopened.query_one("#agent", PickField).choice.value == "backend_b"


async def test_the_agent_and_the_mode_apply_to_the_first_session(start: Start) -> None:
    client = add_lists(client_with_session())

    def create(given: dict[str, Any]) -> Worktree:
        worktree = a_worktree(id="new", name="fox")
        client.feed(WorktreeCreated(worktree=worktree))
        return worktree

    def create_session(given: dict[str, Any]) -> Session:
        session = a_session(id="s9", worktree_id="new")
        client.feed(SessionCreated(session=session))
        return session

    client.answers |= {"create_worktree": create, "create_session": create_session}
    async with start(client) as started:
        dialog = await open_new_worktree(started)
        assert dialog.query_one("#agent", PickField).choice.label == "default (Claude Code)"
        await pick(started, dialog, "mode", "space", *"build", "enter")
        await pick(started, dialog, "agent", "space", *"OpenCode", "enter")
        await submit(started, client)
        await until(started[1], lambda: client.called("create_session"))
        assert client.called("create_session") == [
            {
                "worktree_id": "new", "backend": "backend_c", "model": None,
                "execution_mode": "build",
            }
        ]  # fmt: skip
        # The next new task begins with the same choices.
        started[0].main.open_session("s9")
        again = await open_new_worktree(started)
        assert again.query_one("#agent", PickField).choice.value == "backend_c"
        assert again.query_one("#mode", PickField).choice.value == "build"


async def test_shift_tab_in_the_message_changes_the_mode(start: Start) -> None:
    async with start(add_lists(client_with_session())) as started:
        dialog = await open_new_worktree(started)
        await started[1].press("shift+tab", "shift+tab")
        assert dialog.query_one("#mode", PickField).choice.value == "yolo"
        await started[1].press("tab", "shift+tab")
        assert dialog.focused is dialog.query_one("#message")
        dialog.query_one("#mode").focus()
        await started[1].press("right")
        assert dialog.query_one("#mode", PickField).choice.value == "plan"


async def test_a_worktree_is_created_on_an_existing_branch(start: Start) -> None:
    client = add_lists(client_with_session())
    async with start(client) as started:
        app, pilot = started
        dialog = await open_new_worktree(started)
        await pick(started, dialog, "pull-request", "o", "i", "l", "enter")
        field = dialog.query_one("#base", PickField)
        field.focus()
        await pilot.press("right")  # its list has to be read: no steps
        await until(pilot, lambda: has_entries(app, "Start from"))
        await pilot.press(*"existing", "enter")
        await until(pilot, lambda: has_entries(app, "Existing branch"))
        await pilot.press(*"dev", "enter")
        await until(pilot, lambda: app.screen is dialog)
        assert (field.choice.label, field.choice.description) == ("dev", "existing")
        given = await submit(started, client)
        assert (given["branch"], given["base_branch"]) == ("dev", None)
        assert given["pr_context"] is None


async def test_a_word_typed_at_once_into_a_choice_filters_one_list(start: Start) -> None:
    async with start(add_lists(client_with_session())) as started:
        app, pilot = started
        dialog = await open_new_worktree(started)
        dialog.query_one("#base", PickField).focus()
        await pilot.pause()
        app.post_message(events.Key(TYPED, "feature"))
        await until(pilot, lambda: has_entries(app, "Start from"))
        assert app.screen.marked.label == "origin/feature/door"  # type: ignore[attr-defined]
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is dialog)


@pytest.mark.parametrize("key", ["escape", "delete"])
async def test_a_creation_can_be_canceled_from_the_chat_and_from_the_tree(
    key: str, start: Start
) -> None:
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


async def test_a_rename_that_fails_asks_again_with_the_error(start: Start) -> None:
    client = client_with_session()
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


async def test_a_label_has_a_name_and_a_color(start: Start) -> None:
    client = client_with_session()
    async with start(client) as (app, pilot):
        app.main.action_do("label_worktree")
        await until(pilot, lambda: isinstance(app.screen, AskText))
        await pilot.press(*"review", "enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("down", "enter")
        await until(pilot, lambda: client.called("update_worktree_label"))
        label = client.called("update_worktree_label")[0]["label"]
        assert (label.name, label.color) == ("review", "#e0823d")


async def test_an_empty_label_removes_it(start: Start) -> None:
    client = client_with_session(label=Label(name="review", color="#e5534b"))
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


async def test_deletion_lists_what_would_be_lost_and_enter_alone_cancels(start: Start) -> None:
    client = client_with_session()
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


async def test_deletion_names_running_sessions_and_stops_them_first(start: Start) -> None:
    client = client_with_session(session={"status": "running"})
    client.answers["get_removal_losses"] = lambda given: RemovalLosses(
        files=[], commits=0, sessions=1, running=["Fix the parser"]
    )

    def stop(given: dict[str, Any]) -> None:
        client.feed(SessionUpdated(session_id="s1", updates={"status": "idle"}))

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


async def test_deletion_asks_again_about_changes_made_meanwhile(start: Start) -> None:
    client = client_with_session()

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


def client_with_archive() -> FakeClient:
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


async def test_the_archive_lists_the_latest_first(start: Start) -> None:
    async with start(client_with_archive()) as (app, pilot):
        archive = await open_archive(app, pilot)
        assert [entry.label for entry in archive.shown] == ["Put away", "old-otter"]


async def test_a_worktree_is_restored_from_the_archive(start: Start) -> None:
    client = client_with_archive()

    def restore(given: dict[str, Any]) -> None:
        client.feed(WorktreeUnarchived(worktree=a_worktree(id="w2", name="old-otter")))

    client.answers["unarchive_worktree"] = restore
    async with start(client) as (app, pilot):
        await open_archive(app, pilot)
        await pilot.press(*"old-", "enter")
        await until(pilot, lambda: app.main.place == Place("worktree", "w2"))
        assert client.called("unarchive_worktree") == [{"worktree_id": "w2"}]


async def test_a_session_is_deleted_from_the_archive_which_stays_open(start: Start) -> None:
    client = client_with_archive()

    def delete(given: dict[str, Any]) -> None:
        client.feed(SessionDeleted(session_id=given["session_id"]))

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


def add_recovery_points(client: FakeClient) -> FakeClient:
    """Add a deleted worktree and a discarded file of one that exists."""
    facts = {"branch": "otter", "size_bytes": 2_300_000, "project_id": "p1"}
    client.answers["list_recovery_points"] = lambda given: [
        RecoveryPoint(
            recovery_id="r1", kind="delete", name="gone-otter", created_at=20.0, reason="Deleted",
            files=3, sessions=2, worktree_id="w9", **facts,
        ),
        RecoveryPoint(
            recovery_id="r2", kind="discard", name="otter", created_at=7.0,
            reason="Discarded a.py", files=1, sessions=0, worktree_id="w1", **facts,
        ),
    ]  # fmt: skip
    return client


async def test_a_deleted_worktree_is_restored_from_the_archive(start: Start) -> None:
    client = add_recovery_points(client_with_archive())
    back = a_worktree(id="w9", name="gone-otter")

    def restore(given: dict[str, Any]) -> Worktree:
        client.feed(WorktreeCreated(worktree=back))
        return back

    client.answers["restore_worktree"] = restore
    async with start(client) as (app, pilot):
        archive = await open_archive(app, pilot)
        labels = [entry.label for entry in archive.shown]
        assert labels == ["gone-otter", "Put away", "otter", "old-otter"]
        assert "Deleted" in archive.shown[0].description
        assert "3 files · 2.3 MB · 2 sessions" in archive.shown[0].description
        await pilot.press("enter")
        await until(pilot, lambda: app.main.place == Place("worktree", "w9"))
        assert client.called("restore_worktree") == [{"recovery_id": "r1"}]


async def test_earlier_recovery_points_are_loaded_on_demand(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_actions, "_PAGE_SIZE", 1)
    client = add_recovery_points(client_with_archive())
    points = client.answers["list_recovery_points"]({})
    client.answers["list_recovery_points"] = lambda given: points[
        given["offset"] : given["offset"] + given["limit"]
    ]
    async with start(client) as (app, pilot):
        archive = await open_archive(app, pilot)
        assert [entry.label for entry in archive.shown] == [
            "gone-otter", "Put away", "old-otter", "Load more recovery points",
        ]  # fmt: skip
        await pilot.press(*"load", "delete")
        assert app.screen is archive, "there is nothing to delete"
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is not archive and isinstance(app.screen, Archive))
        labels = [entry.label for entry in app.screen.shown]  # type: ignore[attr-defined]
        assert labels[:4] == ["gone-otter", "Put away", "otter", "old-otter"]


async def test_a_single_file_is_restored_from_the_archive(start: Start) -> None:
    client = add_recovery_points(client_with_archive())
    client.answers["list_recovery_files"] = lambda given: [
        RecoveryFile(path="a.py", status="modified"), RecoveryFile(path="b.py", status="deleted"),
    ]  # fmt: skip
    async with start(client) as (app, pilot):
        await open_archive(app, pilot)
        await pilot.press(*"a.py", "enter")
        await until(pilot, lambda: type(app.screen) is Pick and len(app.screen.shown) == 2)
        await pilot.press("down", "enter")
        await until(pilot, lambda: client.called("restore_files"))
        assert client.called("restore_files") == [{"recovery_id": "r2", "paths": ["a.py"]}]


async def test_a_deleted_session_is_restored_from_the_archive(start: Start) -> None:
    client = client_with_archive()
    client.answers["list_recovery_points"] = lambda given: [
        RecoveryPoint(
            recovery_id="r3", kind="delete session", name="Talk", created_at=20.0, branch="",
            reason="Deleted session of 'otter'", size_bytes=2_300_000, files=0, sessions=1,
            sessions_only=True, left_out=3, project_id="p1", worktree_id="w1",
        ),
    ]  # fmt: skip
    back = a_session(id="s9", name="Talk")

    def restore(given: dict[str, Any]) -> list[Session]:
        client.feed(SessionCreated(session=back))
        return [back]

    client.answers["restore_sessions"] = restore
    async with start(client) as (app, pilot):
        archive = await open_archive(app, pilot)
        about = archive.shown[0].description
        assert about.startswith("Deleted session of 'otter' · ")
        assert " · 2.3 MB · 3 not kept · " in about
        await pilot.press("enter")
        await until(pilot, lambda: app.main.place == Place("session", "s9"))
        assert client.called("restore_sessions") == [{"recovery_id": "r3"}]


async def test_a_recovery_point_is_deleted_only_after_a_question(start: Start) -> None:
    client = add_recovery_points(client_with_archive())
    async with start(client) as (app, pilot):
        await open_archive(app, pilot)
        await pilot.press("delete")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        assert not client.called("delete_recovery_point")
        await pilot.press("y")
        await until(pilot, lambda: client.called("delete_recovery_point"))
        await until(pilot, lambda: isinstance(app.screen, Archive))


async def test_a_long_list_is_truncated_and_shows_how_many_more_there_are(start: Start) -> None:
    client = add_lists(client_with_session())
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
        assert "4801 more" in str(app.screen.query_one(".note").render())
        await pilot.press(*"4711")
        await until(pilot, lambda: len(app.screen.shown) <= 2)  # type: ignore[attr-defined]
        assert app.screen.shown[0].label == "branch-4711"  # type: ignore[attr-defined]


def add_outside_worktrees(client: FakeClient) -> FakeClient:
    """Add two worktrees that were created outside Spinney; only one can be adopted."""
    client.answers["list_outside_worktrees"] = lambda given: [
        OutsideWorktree(path="/else/loose", branch=None),
        OutsideWorktree(path="/else/mine", branch="mine"),
    ]

    def adopt(given: dict[str, Any]) -> Worktree:
        taken = a_worktree(id="w9", name="mine", path=given["path"], branch="mine", adopted=True)
        client.feed(WorktreeCreated(worktree=taken))
        return taken

    client.answers["adopt_worktree"] = adopt
    return client


async def test_an_outside_worktree_is_adopted_from_a_list_and_opened(start: Start) -> None:
    client = add_outside_worktrees(FakeClient(a_state(a_project())))
    async with start(client) as (app, pilot):
        app.main.open_place(Place("project", "p1"))
        await until(pilot, lambda: "No worktrees yet" in app.main.chat.welcome.step.sentence)
        await pilot.press("ctrl+p", *"adopt", "enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        assert isinstance(app.screen, Choose)
        assert [choice.label for choice in app.screen.choices] == ["/else/loose", "/else/mine"]
        await pilot.press("down", "enter")
        await until(pilot, lambda: "do not offer it again" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.main.place == Place("worktree", "w9"))
        assert client.called("adopt_worktree") == [{"project_id": "p1", "path": "/else/mine"}]


async def test_worktrees_that_were_found_are_offered_and_one_is_ignored(start: Start) -> None:
    client = add_outside_worktrees(FakeClient(a_state(a_project(outside_worktrees=2))))
    async with start(client) as (app, pilot):
        app.main.open_place(Place("project", "p1"))
        await until(pilot, lambda: "2 worktrees of this repository" in screen_text(app))
        assert app.main.projects.labels == ["alpha  main  2 found"]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("enter")
        await until(pilot, lambda: "do not offer it again" in screen_text(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: client.called("ignore_outside_worktree"))
        assert client.called("ignore_outside_worktree") == [
            {"project_id": "p1", "path": "/else/loose", "ignored": True}
        ]
        assert not client.called("adopt_worktree")


async def test_removing_an_adopted_worktree_says_that_its_files_are_kept(
    start: Start,
) -> None:
    client = client_with_session(adopted=True)
    client.answers["get_removal_losses"] = lambda given: RemovalLosses(
        files=[], commits=0, sessions=1, running=[]
    )
    async with start(client) as (app, pilot):
        sentence = await ask_to_delete(app, pilot)
        assert "so its directory and branch are kept" in sentence and "1 session" in sentence
        assert "Delete" not in sentence and "ignored by git" not in sentence
