"""Adding projects, and what is offered at the start."""

from pathlib import Path

from textual.widgets import Input

from model.domain.events.projects import ProjectAdded
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.waiting import until
from tui.screens.add_project import AddProject
from tui.store.places import Place


def make_repository(folder: Path) -> None:
    """Make the folder look like a repository."""
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


async def test_the_offered_repository_is_added_by_enter(start: Start, tmp_path: Path) -> None:
    make_repository(tmp_path)
    (tmp_path / "deep").mkdir()
    client = FakeClient()

    def add(given: dict[str, str]) -> object:
        project = a_project(path=given["path"])
        client.feed(ProjectAdded(project=project))
        return project

    client.answers["add_project"] = add
    async with start(client, offer_path=tmp_path / "deep") as (app, pilot):
        assert str(tmp_path) in app.main.chat.welcome.step.offer
        await pilot.press("enter")
        await until(pilot, lambda: app.main.place == Place("project", "p1"))
        assert client.called("add_project") == [{"path": str(tmp_path)}]
        assert "No worktrees yet" in app.main.chat.welcome.step.sentence


async def test_another_repository_is_offered_even_if_there_are_projects(
    start: Start, tmp_path: Path
) -> None:
    make_repository(tmp_path)
    client = a_client()
    async with start(client, offer_path=tmp_path) as (app, _):
        assert str(tmp_path) in app.main.chat.welcome.step.offer
        assert app.main.chat.welcome.has_focus


async def test_in_a_known_repository_its_own_session_is_opened(
    start: Start, tmp_path: Path
) -> None:
    make_repository(tmp_path)
    client = FakeClient(
        a_state(
            a_project(),
            a_project(id="p2", path=str(tmp_path)),
            a_worktree(),
            a_worktree(id="w2", project_id="p2"),
            a_session(updated_at=9.0),
            a_session(id="s2", worktree_id="w2"),
        )
    )
    async with start(client, offer_path=tmp_path) as (app, _):
        assert app.main.place == Place("session", "s2")


async def test_a_folder_that_is_not_a_repository_is_reported(start: Start, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()  # empty, as agents' sandboxes leave it
    async with start(FakeClient(), offer_path=tmp_path) as (app, pilot):
        assert "is not a git repository" in app.main.chat.welcome.step.sentence
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is not app.main)
        assert app.screen.query_one(Input).has_focus


async def test_adding_a_project_that_fails_asks_again_with_the_error(start: Start) -> None:
    client = FakeClient()
    client.refuse("add_project", "Path is not a git repository: /x")
    async with start(client) as (app, pilot):
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is not app.main)
        first = app.screen
        await pilot.press(*"/x", "enter")
        await until(pilot, lambda: app.screen not in (first, app.main))
        assert app.screen.query_one(Input).value == "/x"
        assert "not a git repository" in str(app.screen.query(".problem").first().render())


def remove_agents(client: FakeClient) -> FakeClient:
    """Report every agent as not installed."""
    check = client.answers["list_backends"]
    missing = {
        "program": None,
        "problem": "It is missing. Install it with: get it",
        "fix": "get it",
    }
    client.answers["list_backends"] = lambda given: [
        report.model_copy(update=missing) for report in check(given)
    ]
    return client


async def test_without_agents_it_says_how_to_install_them_and_projects_can_be_added(
    start: Start,
) -> None:
    client = remove_agents(FakeClient(a_state(a_project())))
    async with start(client) as (app, pilot):
        await until(pilot, lambda: "No agent" in app.main.chat.welcome.step.title)
        assert "Claude Code: get it" in app.main.chat.welcome.step.sentence
        assert ("f3", "add a project") in app.main.chat.welcome.step.more
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(app.screen, AddProject))


async def test_without_agents_and_projects_adding_a_project_is_offered_first(start: Start) -> None:
    client = remove_agents(FakeClient())
    async with start(client) as (app, pilot):
        await until(pilot, lambda: client.called("list_backends"))
        await pilot.pause()
        assert app.main.chat.welcome.step.action == "add_project"
