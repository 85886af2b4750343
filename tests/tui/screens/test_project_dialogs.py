"""Project and folder dialogs: add, clone, configure, move and reorder."""

import asyncio
from typing import Any

from textual.widgets import Input, SelectionList, Static, TextArea

from model.api.cloning import CloneProgress
from model.api.directories import Directory
from model.api.usage import UsageReport, UsageRow
from model.base.errors import SpinneyError
from model.domain.events.program import PreferencesUpdated
from model.domain.events.projects import ProjectAdded
from model.domain.events.sessions import SessionCreated, SessionUpdated
from model.domain.events.worktrees import WorktreeCreated
from model.domain.hosting import HostingRemote, TrackerTeam
from model.domain.projects import Project
from model.domain.recovery import RecoveryPoint
from model.domain.sessions import Session
from tests.tui.builders import a_folder, a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import screen_text
from tests.tui.waiting import until, until_shown
from tui.screens.add_project import AddProject
from tui.screens.cloning import Cloning
from tui.screens.dialog import AskText, Confirm
from tui.screens.pick import Pick
from tui.screens.pick_field import PickField
from tui.screens.project_settings import EditProject
from tui.store.places import Place


async def open_add(app: Any, pilot: Any) -> AddProject:
    await pilot.press("f3")
    await until(pilot, lambda: isinstance(app.screen, AddProject))
    assert isinstance(app.screen, AddProject)
    return app.screen


async def test_tab_completes_a_path_and_linked_worktrees_are_labeled(start: Start) -> None:
    client = FakeClient(a_state(a_project()))
    known = [
        Directory(path="/code/beta", holds="linked worktree"),
        Directory(path="/code/bin"),
    ]
    client.answers["list_directories"] = lambda given: [
        directory for directory in known if directory.path.startswith(given["path"])
    ]
    client.refuse("add_project", "Project already exists: /code/beta", "conflict")
    async with start(client) as (app, pilot):
        dialog = await open_add(app, pilot)
        await pilot.press(*"/code/b")
        await until(pilot, lambda: len(dialog._found) == 2)
        first = dialog.query_one("#directories").render_line(0).text
        assert "beta/" in first and "linked worktree" in first
        await pilot.press("tab")
        await until(pilot, lambda: dialog.query_one("#path", Input).value == "/code/beta")
        await pilot.press("enter")
        await until(pilot, lambda: client.called("add_project"))
        assert client.called("add_project") == [{"path": "/code/beta"}]
        await until(pilot, lambda: app.screen is not dialog and isinstance(app.screen, AddProject))
        assert app.screen.query_one("#path", Input).value == "/code/beta"


async def test_a_project_that_is_added_again_gets_its_sessions_back_if_wanted(start: Start) -> None:
    client = FakeClient(a_state(a_project()))
    again = a_project(id="p2", name="beta", path="/code/beta")
    worktree = a_worktree(id="w2", project_id="p2", name="old-otter")
    session = a_session(id="s2", worktree_id="w2")

    def add(given: dict[str, Any]) -> Project:
        client.feed(ProjectAdded(project=again))
        return again

    def restore(given: dict[str, Any]) -> list[Session]:
        client.feed(WorktreeCreated(worktree=worktree))
        client.feed(SessionCreated(session=session))
        return [session]

    client.answers |= {"add_project": add, "restore_sessions": restore}
    client.answers["list_recovery_points"] = lambda given: [
        RecoveryPoint(
            recovery_id="r1", kind="remove project", name="beta", created_at=7.0, branch="",
            reason="Project removed", size_bytes=1, files=0, sessions=1, sessions_only=True,
            project_id=given["project_id"], worktree_id="",
        ),
    ]  # fmt: skip
    async with start(client) as (app, pilot):
        await open_add(app, pilot)
        await pilot.press(*"/code/beta", "enter")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        assert "worktrees and 1 session?" in app.screen.sentence  # type: ignore[attr-defined]
        await pilot.press("y")
        await until(pilot, lambda: client.called("restore_sessions"))
        assert client.called("restore_sessions") == [{"recovery_id": "r1"}]
        await until(pilot, lambda: app.main.place == Place("project", "p2"))


URL = "https://host.example/ada/engine.git"


class Clone:
    """A clone that the test completes by setting `result`."""

    def __init__(self, client: FakeClient) -> None:
        self.result: asyncio.Future[Project] = asyncio.get_running_loop().create_future()
        self.words = "Receiving objects: 40% (4/10)"
        client.answers |= {
            "clone_project": self._clone,
            "get_clone_progress": lambda given: CloneProgress(running=True, words=self.words),
            "cancel_clone": lambda given: self.result.set_exception(
                SpinneyError("The clone was canceled.", "conflict")
            ),
        }

    async def _clone(self, given: dict[str, Any]) -> Project:
        return await self.result


async def begin_clone(app: Any, pilot: Any) -> Cloning:
    await open_add(app, pilot)
    await pilot.press(*URL)
    await until(pilot, lambda: app.screen.query_one("#into", Input).value == "/code/engine")
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, Cloning))
    assert isinstance(app.screen, Cloning)
    return app.screen


def finish_clone(client: FakeClient, clone: Clone) -> None:
    project = a_project(id="p2", name="engine", path="/code/engine")
    client.feed(ProjectAdded(project=project))
    clone.result.set_result(project)


def progress_text(screen: Any) -> str:
    return str(screen.query_one(".words").render())


async def test_a_url_is_cloned_beside_the_newest_project_and_progress_is_shown(
    start: Start,
) -> None:
    client = FakeClient(a_state(a_project()))
    async with start(client) as (app, pilot):
        clone = Clone(client)
        dialog = await begin_clone(app, pilot)
        await until(pilot, lambda: "40%" in progress_text(dialog))
        finish_clone(client, clone)
        await until(pilot, lambda: app.main.place == Place("project", "p2"))
        assert client.called("clone_project") == [{"url": URL, "path": "/code/engine"}]


async def test_a_canceled_clone_keeps_the_typed_url(start: Start) -> None:
    client = FakeClient(a_state(a_project()))
    async with start(client) as (app, pilot):
        Clone(client)
        await begin_clone(app, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, AddProject))
        assert client.called("cancel_clone") == [{"path": "/code/engine"}]
        assert app.screen.query_one("#path", Input).value == URL
        assert "canceled" in str(app.screen.query_one(".problem").render())


async def test_a_background_clone_does_not_change_the_open_place(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        clone = Clone(client)
        await begin_clone(app, pilot)
        await pilot.press("b")
        await until(pilot, lambda: app.screen is app.main)
        place = app.main.place
        finish_clone(client, clone)
        await until(pilot, lambda: "engine  main" in app.main.projects.labels)
        assert app.main.place == place


def client_with_folders() -> FakeClient:
    return FakeClient(
        a_state(
            a_folder(id="f1", name="work", order=0),
            a_folder(id="f2", name="deep", parent_id="f1", order=0),
            a_project(order=1),
            a_project(id="p2", name="beta", order=2),
        )
    )


async def move_cursor(app: Any, pilot: Any, place: Place) -> None:
    app.main.projects.focus()
    app.main.projects.move_cursor_to(place)
    await until(pilot, lambda: app.main.projects.place == place)
    app.main.point_to(place)


async def test_a_project_is_moved_into_a_folder_chosen_from_a_list(start: Start) -> None:
    client = client_with_folders()
    async with start(client) as (app, pilot):
        await move_cursor(app, pilot, Place("project", "p1"))
        app.main.action_do("move_project")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        assert [entry.label for entry in app.screen.shown] == [  # type: ignore[attr-defined]
            "(top)",
            "work",
            "work / deep",
        ]
        await pilot.press(*"deep", "enter")
        await until(pilot, lambda: client.called("move_item"))
        assert client.called("move_item") == [{"item_id": "p1", "new_parent_id": "f2"}]


async def test_a_folder_cannot_be_moved_into_itself_or_its_contents(start: Start) -> None:
    async with start(client_with_folders()) as (app, pilot):
        await move_cursor(app, pilot, Place("project", "f1"))
        app.main.action_do("move_project")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        assert [entry.label for entry in app.screen.shown] == ["(top)"]  # type: ignore[attr-defined]


async def test_a_new_folder_is_created_in_the_folder_under_the_cursor(start: Start) -> None:
    client = client_with_folders()

    def make(given: dict[str, Any]) -> Project:
        folder = a_folder(id="f9", name=given["name"], parent_id=given["parent_id"])
        client.feed(ProjectAdded(project=folder))
        return folder

    client.answers["create_folder"] = make
    async with start(client) as (app, pilot):
        await move_cursor(app, pilot, Place("project", "f1"))
        app.main.action_do("new_folder")
        await until(pilot, lambda: isinstance(app.screen, AskText))
        await pilot.press(*"more", "enter")
        await until(pilot, lambda: app.main.projects.place == Place("project", "f9"))
        assert client.called("create_folder") == [{"name": "more", "parent_id": "f1"}]


async def test_only_an_empty_folder_is_removed_and_after_confirmation(start: Start) -> None:
    client = client_with_folders()
    async with start(client) as (app, pilot):
        await move_cursor(app, pilot, Place("project", "f1"))
        await pilot.press("delete")
        await until(pilot, lambda: app._notifications)
        assert "is not empty" in next(iter(app._notifications)).message
        await move_cursor(app, pilot, Place("project", "f2"))
        await pilot.press("delete")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("right", "enter")
        await until(pilot, lambda: client.called("delete_folder"))
        assert client.called("delete_folder") == [{"folder_id": "f2"}]


async def test_rows_are_reordered_by_keys_however_quickly_pressed(start: Start) -> None:
    client = FakeClient(
        a_state(
            a_project(),
            a_worktree(),
            *(a_session(id=f"s{n}", name=f"S{n}", order=n, created_at=float(n)) for n in (1, 2, 3)),
        )
    )

    def reorder(given: dict[str, Any]) -> None:
        client.feed(
            *(
                SessionUpdated(session_id=key, updates={"order": at})
                for at, key in enumerate(given["session_ids"])
            )
        )

    client.answers["reorder_sessions"] = reorder
    async with start(client) as (app, pilot):
        await move_cursor(app, pilot, Place("session", "s1"))
        await pilot.press("alt+down", "alt+down")
        await until(pilot, lambda: len(client.called("reorder_sessions")) == 2)
        assert client.called("reorder_sessions")[-1] == {
            "worktree_id": "w1",
            "session_ids": ["s2", "s3", "s1"],
        }
        await until(pilot, lambda: app.main.projects.place == Place("session", "s1"))
        await pilot.press("alt+down")
        await pilot.pause()
        assert len(client.called("reorder_sessions")) == 2


async def test_projects_are_reordered_among_their_siblings(start: Start) -> None:
    client = client_with_folders()
    async with start(client) as (app, pilot):
        await move_cursor(app, pilot, Place("project", "p2"))
        await pilot.press("alt+up")
        await until(pilot, lambda: client.called("reorder_projects"))
        assert client.called("reorder_projects") == [{"project_ids": ["f1", "p2", "p1"]}]


async def test_a_project_can_have_its_own_provider_profile(start: Start) -> None:
    client = FakeClient(a_state(a_project()))
    profiles = [{"name": "gateway", "settings_json": "{}"}]
    client.feed(PreferencesUpdated(changes={"custom_cli_profiles": profiles}))
    client.answers["update_project_settings"] = lambda given: None
    async with start(client) as (app, pilot):
        await move_cursor(app, pilot, Place("project", "p1"))
        app.main.action_do("project_settings")
        await until(pilot, lambda: isinstance(app.screen, EditProject))
        app.screen.query_one("#provider", PickField).focus()
        await pilot.press("space")
        await until(pilot, lambda: isinstance(app.screen, Pick) and app.screen.is_painted)
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, EditProject))
        await until(
            pilot,
            lambda: app.screen.query_one("#provider", PickField).choice.value == "gateway",
        )
        await pilot.press("ctrl+g")
        await until(pilot, lambda: client.called("update_project_settings"))
        assert client.called("update_project_settings")[0]["default_provider"] == "gateway"


async def test_the_budget_of_a_project_is_set_beside_what_was_used_today(start: Start) -> None:
    client = FakeClient(a_state(a_project()))
    today = UsageRow(key="2026-11-27", label="", turns=3, cost_usd=1.5, tokens=1200)
    client.answers["get_usage"] = lambda given: UsageReport(
        by="day", since=None, until=None, today=today.key, rows=[today], total=today
    )
    client.answers["set_budget"] = lambda given: None
    client.answers["update_project_settings"] = lambda given: None
    async with start(client) as (app, pilot):
        await move_cursor(app, pilot, Place("project", "p1"))
        app.main.action_do("project_settings")
        await until(pilot, lambda: isinstance(app.screen, EditProject))
        first = app.screen
        used = app.screen.query_one("#used-today", Static)
        await until(pilot, lambda: "Used today: $1.50 · 1.2k tokens" in str(used.render()))
        app.screen.query_one("#budget", Input).focus()
        await pilot.press(*"lots", "ctrl+g")
        await until(pilot, lambda: isinstance(app.screen, EditProject) and app.screen is not first)
        assert "Not a number of dollars: lots" in screen_text(app)
        app.screen.query_one("#budget", Input).value = "$2.50"
        await pilot.press("ctrl+g")
        await until(pilot, lambda: client.called("set_budget"))
        assert client.called("set_budget") == [{"usd": 2.5, "project_id": "p1"}]


async def test_the_key_of_the_issue_tracker_is_hidden_and_its_team_is_chosen(start: Start) -> None:
    client = FakeClient(a_state(a_project(tracker_team_id="t2")))
    teams = [
        TrackerTeam(id="t1", key="ENG", name="Engine"),
        TrackerTeam(id="t2", key="UI", name="Faces"),
    ]
    client.answers["list_tracker_teams"] = lambda given: teams
    client.answers["update_project_settings"] = lambda given: None
    async with start(client) as (app, pilot):
        await move_cursor(app, pilot, Place("project", "p1"))
        app.main.action_do("project_settings")
        await until(pilot, lambda: isinstance(app.screen, EditProject))
        dialog = app.screen
        await until(pilot, lambda: dialog.query_one("#team", PickField).choice.label == "UI Faces")
        dialog.query_one("#tracker-key", Input).focus()
        await pilot.press(*"secret", "tab", "space")
        assert "secret" not in screen_text(app)
        await until(pilot, lambda: isinstance(app.screen, Pick) and app.screen.marked is not None)
        await pilot.press(*"eng", "enter")
        await until(pilot, lambda: app.screen is dialog)
        await pilot.press("ctrl+g")
        await until(pilot, lambda: client.called("update_project_settings"))
        given = client.called("update_project_settings")[0]
        assert (given["tracker_api_key"], given["tracker_team_id"]) == ("secret", "t1")


async def test_an_allowed_secret_can_be_forgotten(start: Start) -> None:
    allowed = {"a" * 16: "GitHub token in a.env", "b" * 16: "Stripe key in b.env"}
    client = FakeClient(a_state(a_project(allowed_secrets=allowed)))
    async with start(client) as (app, pilot):
        await move_cursor(app, pilot, Place("project", "p1"))
        app.main.action_do("project_settings")
        await until_shown(app, pilot, "Allowed secrets", "GitHub token in a.env")
        app.screen.query_one("#secrets").focus()
        await pilot.press("down", "space", "ctrl+g")
        await until(pilot, lambda: client.called("forget_allowed_secret"))
        assert client.called("forget_allowed_secret") == [
            {"project_id": "p1", "fingerprint": "b" * 16}
        ]


async def test_only_changed_settings_are_saved_and_an_error_keeps_the_input(start: Start) -> None:
    client = FakeClient(a_state(a_project(known_mcp_servers=["files", "web"])))
    client.refuse("update_project_settings", "Invalid field 'worktreesDir': no directory there")
    async with start(client) as (app, pilot):
        await move_cursor(app, pilot, Place("project", "p1"))
        app.main.action_do("project_settings")
        await until(pilot, lambda: isinstance(app.screen, EditProject))
        first = app.screen
        directory = first.query_one("#directory", Input)
        assert directory.placeholder == "in ~/spinney"  # the default
        directory.value = "/nowhere"
        first.query_one("#prompt", TextArea).text = "Be brief."
        first.query_one("#template", Input).value = "ada/{slug}"
        first.query_one("#method").focus()
        await pilot.press("right")
        await until(pilot, lambda: first.query_one("#method", PickField).choice.value == "merge")
        first.query_one("#servers").focus()
        await pilot.press("down", "space")
        await until(pilot, lambda: first.query_one(SelectionList).selected == ["files"])
        await pilot.press("ctrl+g")
        await until(pilot, lambda: isinstance(app.screen, EditProject) and app.screen is not first)
        assert client.called("update_project_settings") == [
            {
                "project_id": "p1",
                "default_backend": None,
                "default_provider": None,
                "default_branch": None,
                "worktrees_dir": "/nowhere",
                "custom_system_prompt": "Be brief.",
                "landing_method": "merge",
                "branch_template": "ada/{slug}",
                "tracker_team_id": None,
                "tracker_api_key": None,
            }
        ]
        assert "no directory" in str(app.screen.query_one(".problem").render())
        assert app.screen.query_one("#prompt", TextArea).text == "Be brief."
        assert app.screen.query_one("#agent", PickField).choice.value == ""
        client.answers["update_project_settings"] = lambda given: None
        await pilot.press("ctrl+g")
        await until(pilot, lambda: len(client.called("update_project_settings")) == 3)
        assert client.called("update_project_settings")[-1] == {
            "project_id": "p1",
            "enabled_mcp_servers": ["files"],
        }


async def test_a_pull_request_is_linked_by_its_number_or_its_address(start: Start) -> None:
    client = a_client()
    client.refuse("list_pull_requests", "The program “gh” is not installed.")
    client.answers["get_github_remotes"] = lambda given: [
        HostingRemote(
            name="origin",
            url="git@github.com:ada/engine.git",
            owner="ada",
            repo="engine",
            pull_requests_url="https://github.com/ada/engine/pull/",
        )
    ]
    async with start(client) as (app, pilot):
        for typed in ("#7", "https://github.com/ada/engine/pull/7"):
            app.main.action_do("link_pull_request")
            await until(pilot, lambda: isinstance(app.screen, Pick))
            await pilot.press(*typed, "enter")
            await until(pilot, lambda: app.screen is app.main)
        await until(pilot, lambda: len(client.called("save_worktree_pr")) == 2)
        url = "https://github.com/ada/engine/pull/7"
        assert (
            client.called("save_worktree_pr")
            == [{"worktree_id": "w1", "pr_number": 7, "pr_url": url}] * 2
        )
