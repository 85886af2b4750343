"""The restart of Spinney on the terminal: the dialog, and what is said about the program."""

from typing import Any

import pytest

from model.domain.events.program import ProgramUpdated
from model.domain.program import ProgramStatus, RestartAnswer
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient
from tests.tui.reading import notifications
from tests.tui.waiting import until
from tui.screens.restart import Restart
from tui.widgets.top_bar import TopBar


def a_client(status: str, **program: Any) -> FakeClient:
    client = FakeClient(a_state(a_project(), a_worktree(), a_session(status=status)))
    client.answers |= {
        "get_program_status": lambda given: ProgramStatus(**program),
        "restart_spinney": lambda given: RestartAnswer(restarting=True, running=[]),
        "cancel_restart": lambda given: ProgramStatus(**program),
    }
    return client


@pytest.mark.parametrize(
    ("status", "program", "keys", "called"),
    [
        ("idle", {}, ["enter"], {}),
        ("idle", {}, ["i", "c", "escape"], {}),
        ("idle", {}, ["n"], {"restart_spinney": [{"when": "now"}]}),
        ("running", {}, ["enter"], {"restart_spinney": [{"when": "idle"}]}),
        ("running", {}, ["right", "enter"], {"restart_spinney": [{"when": "now"}]}),
        ("running", {"restart": "idle"}, ["enter"], {"cancel_restart": [{}]}),
    ],
)
async def test_enter_interrupts_nothing_and_each_choice_has_its_key(
    start: Start, status: str, program: Any, keys: list[str], called: dict[str, Any]
) -> None:
    client = a_client(status, **program)
    async with start(client) as (app, pilot):
        app.main.perform("restart_spinney")
        await until(pilot, lambda: isinstance(app.screen, Restart) and app.screen.is_painted)
        await pilot.press(*keys)
        await until(pilot, lambda: app.screen is app.main)
        for name in ("restart_spinney", "cancel_restart"):
            await until(pilot, lambda name=name: client.called(name) == called.get(name, []))


async def test_another_version_a_release_and_a_restart_are_each_reported_once(
    start: Start,
) -> None:
    client = a_client("idle")
    async with start(client) as (app, pilot):
        bar = app.main.query_one(TopBar)
        new = ProgramStatus(installed_version="9.9.9", release="9.9.8", update_command="make it")
        for _ in range(2):
            client.feed(ProgramUpdated(program=new.model_copy()))
            await until(pilot, lambda: "restart to update" in bar.text)
        waits = new.model_copy(update={"restart": "idle"})
        client.feed(ProgramUpdated(program=waits))
        await until(pilot, lambda: "restarts when idle" in bar.text)
        assert notifications(app) == [
            "Spinney 9.9.9 is installed. To use it: ^p, Restart Spinney.",
            "Spinney 9.9.8 is available. To update: make it",
        ]
