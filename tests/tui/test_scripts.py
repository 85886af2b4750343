"""A repository's own scripts: read before they are trusted, run, followed, stopped, written."""

from typing import Any

from fake_client import FakeClient, a_project, a_session, a_state, a_worktree
from textual.widgets import Static, TextArea

from model import events as e
from model.errors import SpinneyError
from model.scripts.config import Script
from model.scripts.running import ScriptRun
from tests.tui.conftest import Start, until
from tui.screens.scripts import EditScript, Scripts


class Repository:
    """Scripts as a model would have them."""

    def __init__(self, client: FakeClient, *, trusted: bool = True) -> None:
        self.scripts = {
            "run": Script(name="run", text="npm start", hash="h1", trusted=trusted),
        }
        self.ran: ScriptRun | None = None
        client.answers |= {
            "get_project_scripts": lambda given: list(self.scripts.values()),
            "get_script_output": self._output,
            "run_worktree_script": self._run,
            "stop_worktree_script": self._stop,
            "trust_project_scripts": self._trust,
        }

    def _output(self, given: dict[str, Any]) -> ScriptRun:
        if self.ran is None or given["script"] != "run":
            raise SpinneyError("The script has not run here.", "not_found")
        return self.ran

    def _run(self, given: dict[str, Any]) -> ScriptRun:
        if not self.scripts["run"].trusted:
            raise SpinneyError("It is not trusted.", "forbidden")
        self.ran = ScriptRun(
            worktree_id="w1", script="run", status="running", started_at=1.0, output="listening"
        )
        return self.ran

    def _stop(self, given: dict[str, Any]) -> None:
        assert self.ran is not None
        self.ran = self.ran.model_copy(update={"status": "stopped", "ended_at": 4.0})

    def _trust(self, given: dict[str, Any]) -> None:
        for name, script in self.scripts.items():
            if script.hash in given["hashes"]:
                self.scripts[name] = script.model_copy(update={"trusted": True})


def a_client() -> FakeClient:
    return FakeClient(a_state(a_project(), a_worktree(), a_session()))


def shown(screen: Any) -> str:
    """All that the dialog says."""
    return "\n".join(str(part.render()) for part in screen.query(Static))


async def open_scripts(app: Any, pilot: Any, action: str = "show_scripts") -> Scripts:
    app.main.action_do(action)
    await until(pilot, lambda: isinstance(app.screen, Scripts))
    assert isinstance(app.screen, Scripts)
    return app.screen


async def test_a_script_is_started_followed_and_stopped(start: Start) -> None:
    client = a_client()
    repository = Repository(client)
    async with start(client) as (app, pilot):
        dialog = await open_scripts(app, pilot)
        await until(pilot, lambda: "npm start" in shown(dialog))
        assert "r run" in shown(dialog)
        await pilot.press("r")
        await until(pilot, lambda: "listening" in shown(dialog) and "Running" in shown(dialog))
        assert repository.ran is not None
        repository.ran = repository.ran.model_copy(update={"output": "listening\nGET /"})
        await until(pilot, lambda: "GET /" in shown(dialog))
        await pilot.press("s")
        await until(pilot, lambda: "Stopped after 3 s" in shown(dialog))
        assert client.called("stop_worktree_script") == [{"worktree_id": "w1", "script": "run"}]


async def test_what_is_not_trusted_is_read_first_and_trusted_by_its_very_text(
    start: Start,
) -> None:
    client = a_client()
    Repository(client, trusted=False)
    async with start(client) as (app, pilot):
        dialog = await open_scripts(app, pilot, "run_script")
        await until(pilot, lambda: "Not trusted" in shown(dialog) and "npm start" in shown(dialog))
        assert "r run" not in shown(dialog)
        await pilot.press("t")
        await until(pilot, lambda: "r run" in shown(dialog))
        assert client.called("trust_project_scripts") == [{"project_id": "p1", "hashes": ["h1"]}]


async def test_a_script_is_written_and_an_empty_one_taken_away(start: Start) -> None:
    client = a_client()
    Repository(client)
    async with start(client) as (app, pilot):
        dialog = await open_scripts(app, pilot)
        await pilot.press("left")
        await until(pilot, lambda: dialog.script == "setup" and "no such script" in shown(dialog))
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EditScript))
        app.screen.query_one(TextArea).text = "npm install"
        await pilot.press("ctrl+g")
        await until(pilot, lambda: client.called("save_project_scripts"))
        texts = client.called("save_project_scripts")[0]["scripts"]
        assert texts.setup == "npm install"
        assert texts.model_fields_set == {"setup"}


async def test_the_tree_shows_which_script_runs(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        client.feed(e.WorktreeUpdated(worktree=a_worktree(running_scripts=["run"])))
        await until(pilot, lambda: "brave-otter ▶ run" in app.main.projects.labels)
        app.main.action_do("stop_script")
        await until(pilot, lambda: client.called("stop_worktree_script"))


async def test_a_failure_is_a_sentence_in_the_dialog(start: Start) -> None:
    client = a_client()
    Repository(client)
    client.refuse("get_project_scripts", "spinney.json is not valid JSON: line 3")
    async with start(client) as (app, pilot):
        dialog = await open_scripts(app, pilot)
        await until(pilot, lambda: "not valid JSON" in shown(dialog))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
