"""`!command` in the message box: it runs in the worktree, and its output can go to the agent."""

import asyncio
from typing import Any

from textual.pilot import Pilot

from model.base.errors import SpinneyError
from model.domain.requests import Request
from model.domain.scripts import CommandRun
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications, screen_text
from tests.tui.waiting import until
from tui.actions.shell_command import MAX_SENT, format_for_agent
from tui.screens import command_output
from tui.screens.command_output import CommandOutput
from tui.shell.app import SpinneyApp


def a_run(**fields: Any) -> CommandRun:
    given = {"worktree_id": "w1", "command": "make", "status": "failed"}
    return CommandRun(**{**given, "started_at": 1.0, "ended_at": 4.0, **fields})


def client_that_runs(output: str = "1 failed", exit_code: int = 2, **session: Any) -> FakeClient:
    client = a_client(**session)
    result = a_run(exit_code=exit_code, output=output)
    client.answers["run_command"] = lambda given: result
    client.answers["get_command_output"] = lambda given: a_run(status="running")
    return client


def sent_messages(client: FakeClient) -> list[str]:
    return [given["message"] for given in client.called("send_chat_message")]


async def open_output(app: SpinneyApp, pilot: "Pilot[Any]", keys: str) -> CommandOutput:
    await pilot.press(*keys, "enter")
    await until(pilot, lambda: isinstance(app.screen, CommandOutput))
    assert isinstance(app.screen, CommandOutput)
    return app.screen


async def test_a_command_runs_in_the_worktree_and_is_sent_on_only_on_request(start: Start) -> None:
    client = client_that_runs()
    async with start(client) as (app, pilot):
        await pilot.press(*"!make")
        await until(pilot, lambda: "runs in the worktree" in screen_text(app))
        dialog = await open_output(app, pilot, " test")
        await until(pilot, lambda: dialog.result is not None)
        await until(pilot, lambda: "Exit code 2 after 3.0 s" in screen_text(app))
        assert "1 failed" in screen_text(app)
        assert client.called("run_command") == [{"worktree_id": "w1", "command": "make test"}]
        await pilot.press("r")
        await until(pilot, lambda: len(client.called("run_command")) == 2)
        await until(pilot, lambda: dialog.result is not None)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert not sent_messages(client) and app.main.chat.composer.text == ""
        await pilot.press("up")
        assert app.main.chat.composer.text == "!make test"
        await open_output(app, pilot, "")
        await pilot.press("s")
        await until(pilot, lambda: sent_messages(client))
        assert sent_messages(client) == [
            "I ran this in the worktree:\n\n```console\n$ make test\n1 failed\n```\n\n"
            "Exit code 2 after 3.0 s."
        ]


async def test_enter_sends_too_but_not_at_the_moment_the_command_ends(
    start: Start, monkeypatch: Any
) -> None:
    client = client_that_runs()
    async with start(client) as (app, pilot):
        monkeypatch.setattr(command_output, "SEND_DELAY", 1e9)
        dialog = await open_output(app, pilot, "!ls")
        await until(pilot, lambda: dialog.result is not None)
        await pilot.press("enter")
        assert app.screen is dialog
        monkeypatch.setattr(command_output, "SEND_DELAY", 0)
        await pilot.press("enter")
        await until(pilot, lambda: sent_messages(client))


async def test_output_is_shown_while_the_command_runs_and_escape_stops_it(start: Start) -> None:
    client = client_that_runs()
    ended: asyncio.Future[CommandRun] = asyncio.get_running_loop().create_future()

    async def run(given: dict[str, Any]) -> CommandRun:
        return await ended

    client.answers["run_command"] = run
    client.answers["get_command_output"] = lambda given: a_run(
        status="running", output="building ..."
    )
    client.answers["stop_command"] = lambda given: ended.set_result(
        a_run(status="stopped", output="building ... stop")
    )
    async with start(client) as (app, pilot):
        dialog = await open_output(app, pilot, "!make")
        await until(pilot, lambda: "building ..." in screen_text(app))
        assert "Running …" in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: "Stopped after 3.0 s" in screen_text(app))
        assert app.screen is dialog and "building ... stop" in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_a_command_answers_no_request_and_neither_does_its_output(start: Start) -> None:
    request = Request(id="r1", kind="plan", plan="1. Do it.")
    client = client_that_runs(status="waiting", waiting_for="plan", request=request)
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.chat.request.request is not None)
        dialog = await open_output(app, pilot, "!make")
        await until(pilot, lambda: dialog.result is not None)
        await pilot.press("s")
        await until(pilot, lambda: "I ran this" in app.main.chat.composer.text)
        assert "answers the agent's request" in "".join(notifications(app))
        assert not sent_messages(client) and not client.called("approve_plan")
        assert app.main.chat.request.request is not None


async def test_a_message_that_begins_with_an_exclamation_mark_can_be_sent(start: Start) -> None:
    client = client_that_runs()
    async with start(client) as (_, pilot):
        await pilot.press(*"\\!important", "enter")
        await until(pilot, lambda: len(sent_messages(client)) == 1)
        await pilot.press(*" !important", "enter")
        await until(pilot, lambda: len(sent_messages(client)) == 2)
        assert sent_messages(client) == ["!important", " !important"]
        assert not client.called("run_command")


async def test_an_exclamation_mark_alone_runs_and_sends_nothing(start: Start) -> None:
    client = client_that_runs()
    async with start(client) as (app, pilot):
        await pilot.press("!", "enter")
        await until(pilot, lambda: notifications(app))
        assert app.main.chat.composer.text == "!"
        assert not client.called("run_command") and not sent_messages(client)


async def test_why_a_command_cannot_run_is_shown_and_it_can_be_recalled(start: Start) -> None:
    client = client_that_runs()

    def refuse(given: dict[str, Any]) -> None:
        raise SpinneyError("The directory is missing.")

    client.answers["run_command"] = refuse
    async with start(client) as (app, pilot):
        await open_output(app, pilot, "!make")
        await until(pilot, lambda: "The directory is missing." in screen_text(app))
        await pilot.press("escape", "up")
        await until(pilot, lambda: app.main.chat.composer.text == "!make")


def test_a_long_output_is_shortened_and_a_fence_in_it_is_kept() -> None:
    output = "```\n" + "x" * 3 * MAX_SENT
    text = format_for_agent(
        "cat a", a_run(status="completed", exit_code=0, output=output, ended_at=66.0)
    )
    assert len(text) < MAX_SENT + 200
    assert "````console\n$ cat a\n```" in text and text.endswith("Exit code 0 after 1:05.")
