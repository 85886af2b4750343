"""Projects and folders through dialogs: added, cloned, set up, moved and put in order."""

import asyncio
from collections.abc import Callable
from typing import Any

from textual.widgets import Input, SelectionList, TextArea

from model.api.cloning import CloneProgress
from model.api.directories import Directory
from model.base.errors import SpinneyError
from model.domain import events as e
from model.domain.resources import HostingRemote, Project
from tests.tui.conftest import Start, until
from tests.tui.fake_client import FakeClient, a_project, a_session, a_state, a_worktree
from tui.screens.add_project import AddProject
from tui.screens.cloning import Cloning
from tui.screens.dialog import AskText, Confirm
from tui.screens.pick import Pick
from tui.screens.pick_field import PickField
from tui.screens.project_settings import EditProject
from tui.store.places import Place


def a_folder(id: str, name: str, **fields: Any) -> Project:
    return a_project(id=id, name=name, path="", default_branch="", is_folder=True, **fields)


async def open_add(app: Any, pilot: Any) -> AddProject:
    await pilot.press("f3")
    await until(pilot, lambda: isinstance(app.screen, AddProject))
    assert isinstance(app.screen, AddProject)
    return app.screen


async def test_tab_completes_a_path_and_says_what_of_git_it_is(start: Start) -> None:
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


URL = "https://host.example/ada/engine.git"


class Clone:
    """A clone that ends when the test says so."""

    def __init__(self, client: FakeClient) -> None:
        self.ends: asyncio.Future[Project] = asyncio.get_running_loop().create_future()
        self.words = "Receiving objects: 40% (4/10)"
        client.answers |= {
            "clone_project": self._clone,
            "get_clone_progress": lambda given: CloneProgress(running=True, words=self.words),
            "cancel_clone": lambda given: self.ends.set_exception(
                SpinneyError("The clone was canceled.", "conflict")
            ),
        }

    async def _clone(self, given: dict[str, Any]) -> Project:
        return await self.ends


async def begin_clone(app: Any, pilot: Any) -> Cloning:
    await open_add(app, pilot)
    await pilot.press(*URL)
    await until(pilot, lambda: app.screen.query_one("#into", Input).value == "/code/engine")
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, Cloning))
    assert isinstance(app.screen, Cloning)
    return app.screen


def cloned(client: FakeClient, clone: Clone) -> None:
    project = a_project(id="p2", name="engine", path="/code/engine")
    client.feed(e.ProjectAdded(project=project))
    clone.ends.set_result(project)


def says(screen: Any) -> Callable[[], str]:
    return lambda: str(screen.query_one(".words").render())


async def test_a_url_is_cloned_beside_the_newest_project_with_its_progress(start: Start) -> None:
    client = FakeClient(a_state(a_project()))
    async with start(client) as (app, pilot):
        clone = Clone(client)
        dialog = await begin_clone(app, pilot)
        await until(pilot, lambda: "40%" in says(dialog)())
        cloned(client, clone)
        await until(pilot, lambda: app.main.place == Place("project", "p2"))
        assert client.called("clone_project") == [{"url": URL, "path": "/code/engine"}]


async def test_a_clone_that_is_cancelled_leaves_what_was_typed(start: Start) -> None:
    client = FakeClient(a_state(a_project()))
    async with start(client) as (app, pilot):
        Clone(client)
        await begin_clone(app, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, AddProject))
        assert client.called("cancel_clone") == [{"path": "/code/engine"}]
        assert app.screen.query_one("#path", Input).value == URL
        assert "canceled" in str(app.screen.query_one(".problem").render())


async def test_a_clone_goes_on_behind_and_takes_nobody_away(start: Start) -> None:
    client = FakeClient(a_state(a_project(), a_worktree(), a_session()))
    async with start(client) as (app, pilot):
        clone = Clone(client)
        await begin_clone(app, pilot)
        await pilot.press("b")
        await until(pilot, lambda: app.screen is app.main)
        place = app.main.place
        cloned(client, clone)
        await until(pilot, lambda: "engine  main" in app.main.projects.labels)
        assert app.main.place == place


def in_folders() -> FakeClient:
    return FakeClient(
        a_state(
            a_folder("f1", "work", order=0),
            a_folder("f2", "deep", parent_id="f1", order=0),
            a_project(order=1),
            a_project(id="p2", name="beta", order=2),
        )
    )


async def point(app: Any, pilot: Any, place: Place) -> None:
    app.main.projects.focus()
    app.main.projects.move_cursor_to(place)
    await until(pilot, lambda: app.main.projects.place == place)
    app.main.point_to(place)


async def test_a_project_is_moved_into_a_folder_of_a_list(start: Start) -> None:
    client = in_folders()
    async with start(client) as (app, pilot):
        await point(app, pilot, Place("project", "p1"))
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


async def test_a_folder_is_not_offered_itself_or_what_is_in_it(start: Start) -> None:
    async with start(in_folders()) as (app, pilot):
        await point(app, pilot, Place("project", "f1"))
        app.main.action_do("move_project")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        assert [entry.label for entry in app.screen.shown] == ["(top)"]  # type: ignore[attr-defined]


async def test_a_folder_is_made_in_the_one_where_the_cursor_is(start: Start) -> None:
    client = in_folders()

    def make(given: dict[str, Any]) -> Project:
        folder = a_folder("f9", given["name"], parent_id=given["parent_id"])
        client.feed(e.ProjectAdded(project=folder))
        return folder

    client.answers["create_folder"] = make
    async with start(client) as (app, pilot):
        await point(app, pilot, Place("project", "f1"))
        app.main.action_do("new_folder")
        await until(pilot, lambda: isinstance(app.screen, AskText))
        await pilot.press(*"more", "enter")
        await until(pilot, lambda: app.main.projects.place == Place("project", "f9"))
        assert client.called("create_folder") == [{"name": "more", "parent_id": "f1"}]


async def test_a_full_folder_is_not_removed_and_an_empty_one_is_asked_about(start: Start) -> None:
    client = in_folders()
    async with start(client) as (app, pilot):
        await point(app, pilot, Place("project", "f1"))
        await pilot.press("delete")
        await until(pilot, lambda: app._notifications)
        assert "is not empty" in next(iter(app._notifications)).message
        await point(app, pilot, Place("project", "f2"))
        await pilot.press("delete")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("right", "enter")
        await until(pilot, lambda: client.called("delete_folder"))
        assert client.called("delete_folder") == [{"folder_id": "f2"}]


async def test_rows_change_places_by_keys_however_quick_they_come(start: Start) -> None:
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
                e.SessionUpdated(session_id=key, updates={"order": at})
                for at, key in enumerate(given["session_ids"])
            )
        )

    client.answers["reorder_sessions"] = reorder
    async with start(client) as (app, pilot):
        await point(app, pilot, Place("session", "s1"))
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


async def test_projects_are_put_in_order_among_those_beside_them(start: Start) -> None:
    client = in_folders()
    async with start(client) as (app, pilot):
        await point(app, pilot, Place("project", "p2"))
        await pilot.press("alt+up")
        await until(pilot, lambda: client.called("reorder_projects"))
        assert client.called("reorder_projects") == [{"project_ids": ["f1", "p2", "p1"]}]


async def test_a_project_has_a_provider_profile_of_its_own(start: Start) -> None:
    client = FakeClient(a_state(a_project()))
    profiles = [{"name": "gateway", "settings_json": "{}"}]
    client.feed(e.PreferencesUpdated(changes={"custom_cli_profiles": profiles}))
    client.answers["update_project_settings"] = lambda given: None
    async with start(client) as (app, pilot):
        await point(app, pilot, Place("project", "p1"))
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


async def test_only_changed_settings_are_saved_and_a_refusal_keeps_them(start: Start) -> None:
    client = FakeClient(a_state(a_project(known_mcp_servers=["files", "web"])))
    client.refuse("update_project_settings", "Invalid field 'worktreesDir': no directory there")
    async with start(client) as (app, pilot):
        await point(app, pilot, Place("project", "p1"))
        app.main.action_do("project_settings")
        await until(pilot, lambda: isinstance(app.screen, EditProject))
        first = app.screen
        directory = first.query_one("#directory", Input)
        assert directory.placeholder == "in ~/spinney"  # of which no preference says another
        directory.value = "/nowhere"
        first.query_one("#prompt", TextArea).text = "Be brief."
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
    client = FakeClient(a_state(a_project(), a_worktree(), a_session()))
    client.refuse("list_pull_requests", "The program “gh” is not installed.")
    client.answers["get_github_remotes"] = lambda given: [
        HostingRemote(
            name="origin", url="git@github.com:ada/engine.git", owner="ada", repo="engine"
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
