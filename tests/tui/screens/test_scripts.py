"""A repository's scripts: shown before they are trusted, run, followed, stopped, edited."""

from typing import Any

import pytest
from textual.widgets import TextArea

from model.base.errors import SpinneyError
from model.base.text import find_hidden, make_visible
from model.domain.events.program import TaskCompleted
from model.domain.events.sessions import SessionUpdated
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.scripts import Script, ScriptRun
from tests.tui.builders import a_project, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import dialog_text, notifications
from tests.tui.waiting import until
from tui.screens.scripts import EditScript, Scripts
from tui.store.places import Place
from tui.widgets.key_hints import KeyHints
from tui.widgets.top_bar import TopBar


class FakeRepository:
    """Answers the script commands as the model does."""

    def __init__(self, client: FakeClient, *, trusted: bool = True) -> None:
        self.scripts = {
            "run": Script(
                name="run", text="npm start", shown="npm start", hash="h1", trusted=trusted
            ),
        }
        self.last_run: ScriptRun | None = None
        client.answers |= {
            "get_project_scripts": lambda given: list(self.scripts.values()),
            "get_script_output": self._output,
            "run_worktree_script": self._run,
            "stop_worktree_script": self._stop,
            "trust_project_scripts": self._trust,
        }

    def _output(self, given: dict[str, Any]) -> ScriptRun:
        if self.last_run is None or given["script"] != "run":
            raise SpinneyError("The script has not run here.", "not_found")
        return self.last_run

    def _run(self, given: dict[str, Any]) -> ScriptRun:
        if not self.scripts["run"].trusted:
            raise SpinneyError("It is not trusted.", "forbidden")
        self.last_run = ScriptRun(
            worktree_id="w1", script="run", status="running", started_at=1.0, output="listening"
        )
        return self.last_run

    def _stop(self, given: dict[str, Any]) -> None:
        assert self.last_run is not None
        self.last_run = self.last_run.model_copy(update={"status": "stopped", "ended_at": 4.0})

    def _trust(self, given: dict[str, Any]) -> None:
        for name, script in self.scripts.items():
            if script.hash in given["hashes"]:
                self.scripts[name] = script.model_copy(update={"trusted": True})


async def open_scripts(app: Any, pilot: Any, action: str = "show_scripts") -> Scripts:
    app.main.action_do(action)
    await until(pilot, lambda: isinstance(app.screen, Scripts))
    assert isinstance(app.screen, Scripts)
    return app.screen


async def test_a_script_is_started_followed_and_stopped(start: Start) -> None:
    client = a_client()
    repository = FakeRepository(client)
    async with start(client) as (app, pilot):
        dialog = await open_scripts(app, pilot)
        await until(pilot, lambda: "npm start" in dialog_text(dialog))
        assert "r run" in dialog_text(dialog)
        await pilot.press("r")
        await until(
            pilot, lambda: "listening" in dialog_text(dialog) and "Running" in dialog_text(dialog)
        )
        assert repository.last_run is not None
        repository.last_run = repository.last_run.model_copy(update={"output": "listening\nGET /"})
        await until(pilot, lambda: "GET /" in dialog_text(dialog))
        await pilot.press("s")
        await until(pilot, lambda: "Stopped after 3 s" in dialog_text(dialog))
        assert client.called("stop_worktree_script") == [{"worktree_id": "w1", "script": "run"}]


async def test_an_untrusted_script_is_shown_first_and_trusted_by_its_hash(
    start: Start,
) -> None:
    client = a_client()
    FakeRepository(client, trusted=False)
    async with start(client) as (app, pilot):
        dialog = await open_scripts(app, pilot, "run_script")
        await until(
            pilot,
            lambda: "Not trusted" in dialog_text(dialog) and "npm start" in dialog_text(dialog),
        )
        assert "r run" not in dialog_text(dialog)
        await pilot.press("t")
        await until(pilot, lambda: "r run" in dialog_text(dialog))
        assert client.called("trust_project_scripts") == [{"project_id": "p1", "hashes": ["h1"]}]


async def test_a_script_with_hidden_characters_is_shown_in_full_and_cannot_be_trusted(
    start: Start,
) -> None:
    client = a_client()
    repository = FakeRepository(client, trusted=False)
    text = "echo harmless # \x1b]0;\ntouch made\n# \x07done"
    repository.scripts["run"] = Script(
        name="run", text=text, shown=make_visible(text), hidden=find_hidden(text), hash="h"
    )
    async with start(client) as (app, pilot):
        screen = await open_scripts(app, pilot)
        await until(pilot, lambda: "touch made" in dialog_text(screen))
        assert "echo harmless # ␛]0;" in dialog_text(screen)
        assert "line 1 contains the character ␛ (U+001B)" in dialog_text(screen)
        assert "trust script" not in dialog_text(screen)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EditScript))
        await pilot.press("end", "x", "ctrl+g")
        await until(pilot, lambda: "Not saved: line 1 contains" in dialog_text(app.screen))
        assert app.screen.query_one(TextArea).text.splitlines()[0].endswith("]0;x")
        assert client.called("save_project_scripts") == []


async def test_a_missing_script_is_written_and_only_it_is_saved(start: Start) -> None:
    client = a_client()
    FakeRepository(client)
    async with start(client) as (app, pilot):
        dialog = await open_scripts(app, pilot)
        await pilot.press("left")
        await until(
            pilot, lambda: dialog.script == "setup" and "no such script" in dialog_text(dialog)
        )
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
        client.feed(WorktreeUpdated(worktree=a_worktree(running_scripts=["run"])))
        row = "· brave-otter ▶ run  Fix the parser"
        await until(pilot, lambda: row in app.main.projects.labels)
        app.main.action_do("stop_script")
        await until(pilot, lambda: client.called("stop_worktree_script"))


async def test_an_error_is_shown_in_the_dialog(start: Start) -> None:
    client = a_client()
    FakeRepository(client)
    client.refuse("get_project_scripts", "spinney.json is not valid JSON: line 3")
    async with start(client) as (app, pilot):
        dialog = await open_scripts(app, pilot)
        await until(pilot, lambda: "not valid JSON" in dialog_text(dialog))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


def running_scripts_updated(*names: Any) -> WorktreeUpdated:
    return WorktreeUpdated(worktree=a_worktree(running_scripts=list(names)))


@pytest.mark.parametrize("key", ["shift+f7", "f19"])
async def test_the_scripts_open_by_a_key_in_the_message_box_and_in_the_tree(
    start: Start, key: str
) -> None:
    client = a_client()
    FakeRepository(client)
    async with start(client) as (app, pilot):
        for pane in (app.main.chat.composer, app.main.projects):
            await until(pilot, lambda: app.main.session is not None)
            pane.focus()
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, Scripts))
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)


async def test_the_top_bar_shows_running_scripts_and_their_key(start: Start) -> None:
    client = a_client()
    FakeRepository(client)
    async with start(client) as (app, pilot):
        bar = app.main.query_one(TopBar)
        client.feed(running_scripts_updated("run"))
        await until(pilot, lambda: "▶ run ⇧f7" in bar.text)
        await pilot.click(TopBar, offset=(bar.text.index("▶") + 1, 0))
        await until(pilot, lambda: isinstance(app.screen, Scripts))
        client.feed(running_scripts_updated())
        await until(pilot, lambda: "▶" not in bar.text)


async def test_ctrl_x_in_the_tree_stops_what_runs_in_the_row(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        client.feed(running_scripts_updated("setup", "run"))
        await until(pilot, lambda: any("▶ setup, run" in row for row in app.main.projects.labels))
        app.main.projects.focus()
        await until(pilot, lambda: "^x stop" in app.main.query_one(KeyHints).text)
        app.main.projects.move_cursor_to(Place("worktree", "w1"))
        await until(pilot, lambda: app.main.projects.place == Place("worktree", "w1"))
        await pilot.press("ctrl+x")
        # The row is that of the session as well, which is stopped first.
        await until(pilot, lambda: client.called("stop_generation") == [{"session_id": "s1"}])
        client.feed(SessionUpdated(session_id="s1", updates={"status": "idle"}))
        await until(pilot, lambda: not app.main.state.interruptible_sessions())
        await pilot.press("ctrl+x")
        await until(pilot, lambda: len(client.called("stop_worktree_script")) == 2)
        stopped = [given["script"] for given in client.called("stop_worktree_script")]
        assert stopped == ["setup", "run"]
        assert app.main.session is not None, "the open session stays open"


async def test_ctrl_x_in_an_idle_row_says_that_nothing_is_running(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        app.main.projects.focus()
        await pilot.press("ctrl+x")
        await until(pilot, lambda: notifications(app))
        assert notifications(app) == ["Nothing is running in this row."]


async def test_a_setup_is_stopped_from_the_empty_chat_of_its_worktree(start: Start) -> None:
    client = FakeClient(a_state(a_project(), a_worktree(running_scripts=["setup"])))
    async with start(client) as (app, pilot):
        app.main.open_place(Place("worktree", "w1"))
        await until(pilot, lambda: "setup script" in app.main.chat.welcome.step.sentence)
        assert ("esc", "stop setup") in app.main.chat.welcome.step.more
        await pilot.press(*"go", "escape")
        await until(pilot, lambda: client.called("stop_worktree_script"))
        assert app.main.chat.composer.text == "go"
        # A setup that the user stopped is not reported as a failure.
        client.feed(
            TaskCompleted(task="setup", ok=False, detail="It was stopped.", worktree_id="w1"),
            running_scripts_updated(),
        )
        await until(pilot, lambda: "setup" not in app.main.chat.welcome.step.sentence)
        messages = notifications(app)
        assert messages == ["The setup script was stopped. ⇧f7: all scripts."]


async def test_a_setup_is_stopped_from_a_session_of_its_worktree(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.session is not None)
        client.feed(running_scripts_updated("setup"))
        status = app.main.chat.status
        await until(pilot, lambda: "setup running, esc stops it" in status.text)
        await pilot.press("escape")
        await until(pilot, lambda: client.called("stop_worktree_script"))
        # Escape does not stop the run script, such as a development server.
        client.feed(running_scripts_updated("run"))
        await until(pilot, lambda: "idle" in status.text)
        await pilot.press("escape")
        await pilot.pause()
        assert len(client.called("stop_worktree_script")) == 1
