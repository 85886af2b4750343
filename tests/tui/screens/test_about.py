"""The first-run screen and the About screen."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Static

from model.api.doctor import BackendReport, Installation
from model.domain.events.program import PreferencesUpdated
from model.domain.events.projects import ProjectAdded
from model.domain.findings import Finding
from model.preferences.schema import Preferences
from tests.tui.builders import a_project, a_state
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.waiting import until
from tui.screens.about import AboutScreen
from tui.screens.dialog import Dialog
from tui.screens.first_run import FirstRun
from tui.shell.app import SpinneyApp

FINDINGS = [
    Finding("git", True, "git version 2.43"),
    Finding("gh", None, "not found", "Only for pull requests: install GitHub's gh"),
    Finding("data", False, "/data [/] cannot be written", "Make /data a directory."),
]


def an_agent(**fields: Any) -> BackendReport:
    given = {"name": "backend_a", "label": "Claude Code", "program": "/bin/claude"}
    given |= {"version": "2.1", "supported": True, "signed_in": None, "problem": None, "fix": None}
    return BackendReport.model_validate(given | fields)


MISSING = an_agent(
    name="backend_b",
    label="Codex",
    program=None,
    version=None,
    supported=None,
    problem="Codex is not installed. Run: npm install -g @openai/codex",
    fix="npm install -g @openai/codex",
)


def client_with_agents(*agents: BackendReport, new: bool = False) -> FakeClient:
    client = a_client()
    if new:
        client = FakeClient(replace(a_state(), preferences=Preferences()))
    client.answers |= {
        "get_installation": lambda given: Installation(
            version="1.2.3", log="/data/spinney.log", findings=FINDINGS
        ),
        "list_backends": lambda given: list(agents),
        "update_preferences": lambda given: client.feed(
            PreferencesUpdated(changes=given["changes"])
        ),
    }
    return client


def report_text(app: SpinneyApp) -> str:
    found = app.screen.query("#found")  # empty until its widgets are mounted
    return str(found.first(Static).render()) if found else ""


async def test_first_run_lists_what_is_installed_and_how_to_fix_the_rest(
    start: Start,
) -> None:
    client = client_with_agents(an_agent(), MISSING, new=True)
    async with start(client) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, FirstRun) and "Codex" in report_text(app))
        lines = [" ".join(line.split()) for line in report_text(app).splitlines()]
        assert "✓ git git version 2.43" in lines
        assert "✓ Claude Code 2.1" in lines
        assert lines[lines.index("· Codex not installed") + 1] == "npm install -g @openai/codex"
        assert lines[lines.index("· gh not found") + 1].startswith("Only for pull requests")
        assert "✗ data /data [/] cannot be written" in lines
        assert "The demo needs none of these: press d." in report_text(app)
        assert "No agent is ready to use" not in report_text(app)


async def test_d_runs_the_demo_on_this_terminal(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, ...]] = []

    async def run(_app: object, command: tuple[str, ...], *_rest: object) -> int:
        ran.append(command)
        return 0

    monkeypatch.setattr("tui.actions.about.run_in_terminal", run)
    async with start(client_with_agents(MISSING, new=True)) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, FirstRun))
        await pilot.press("d")
        await until(pilot, lambda: ran)
        assert [Path(ran[0][1]).name, ran[0][2]] == ["spinney.py", "demo"]
        assert app.screen is app.main


async def test_enter_adds_the_current_repository_and_the_screen_is_shown_once(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    client = client_with_agents(an_agent(), new=True)
    project = a_project(path=str(tmp_path))

    def add(given: dict[str, Any]) -> Any:
        client.feed(ProjectAdded(project=project))
        return project

    client.answers["add_project"] = add
    async with start(client, offer_path=tmp_path) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, FirstRun) and "git" in report_text(app))
        assert str(tmp_path) in report_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main and client.called("add_project"))
        assert client.called("add_project") == [{"path": str(tmp_path)}]
        seen = {"changes": {"has_seen_feature_tour": True}}
        assert client.called("update_preferences") == [seen]


async def test_without_a_repository_enter_asks_for_one(start: Start) -> None:
    async with start(client_with_agents(an_agent(), new=True)) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, FirstRun))
        first = app.screen
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Dialog) and app.screen is not first)


async def test_first_run_is_not_shown_again_after_escape(start: Start) -> None:
    client = client_with_agents(an_agent(), new=True)
    async with start(client) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, FirstRun))
        await pilot.press("escape")
        await until(pilot, lambda: client.called("update_preferences"))
        await until(pilot, lambda: app.main.state.preferences.has_seen_feature_tour)
        assert "Welcome" not in app.main.chat.welcome.step.title, "it was said once"
    async with start(client_with_agents(an_agent())) as (app, pilot):
        assert app.screen is app.main


async def test_ctrl_q_quits_from_first_run(start: Start) -> None:
    async with start(client_with_agents(an_agent(), new=True)) as (app, pilot):
        await until(pilot, lambda: isinstance(app.screen, FirstRun))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)


async def test_without_an_agent_it_asks_for_one_and_r_checks_again(start: Start) -> None:
    client = client_with_agents(MISSING, new=True)
    async with start(client) as (app, pilot):
        await until(
            pilot, lambda: isinstance(app.screen, FirstRun) and "You need one" in report_text(app)
        )
        client.answers["list_backends"] = lambda given: [an_agent()]
        await pilot.press("r")
        await until(pilot, lambda: "Claude Code" in report_text(app))
        assert "You need one" not in report_text(app)


async def test_check_agents_opens_the_screen_later(start: Start) -> None:
    async with start(client_with_agents(an_agent(), MISSING)) as (app, pilot):
        app.main.action_do("check_agents")
        await until(pilot, lambda: isinstance(app.screen, FirstRun) and "Codex" in report_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_about_shows_versions_problems_and_the_log(start: Start) -> None:
    client = client_with_agents(
        an_agent(signed_in=False, problem="Not signed in. Run: claude login")
    )
    client.answers["get_problems"] = lambda given: ["preferences.json [was] broken."]
    async with start(client) as (app, pilot):
        app.main.action_do("about")
        await until(
            pilot, lambda: isinstance(app.screen, AboutScreen) and "1.2.3" in report_text(app)
        )
        text = report_text(app)
        assert "Textual 8" in text
        assert "Log  /data/spinney.log" in text
        assert "preferences.json [was] broken." in text
        assert "Not signed in. Run: claude login" in text
        copied: list[str] = []
        app.copy = copied.append  # type: ignore[method-assign]
        await pilot.press("c")
        await until(pilot, lambda: copied)
        assert copied == [app.screen.content.plain]  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (200, 50)])
@pytest.mark.parametrize("action", ["about", "check_agents", "server"])
async def test_key_hints_are_visible_at_every_size(
    start: Start, size: tuple[int, int], action: str
) -> None:
    async with start(client_with_agents(an_agent(), MISSING), size=size) as (app, pilot):
        app.main.action_do(action)
        await until(pilot, lambda: app.screen is not app.main)
        keys = app.screen.query(".keys").last()
        await until(pilot, lambda: keys.region.height)
        assert keys.region in app.screen.query_one(".dialog").content_region
