"""The slash commands of Spinney: arguments, their completion, mistyped names, escapes."""

from typing import Any

import pytest

from model.base.errors import SpinneyError
from model.domain.agent_commands import AgentCommand
from model.domain.events.messages import MessageQueued, MessageRemoved
from model.domain.events.sessions import SessionCreated
from tests.tui.builders import a_message, a_project, a_session, a_state, a_worktree, make_changes
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications
from tests.tui.waiting import until
from tui.composer.slash_commands import SLASH_COMMANDS, escape_text, suggest_command, unescape_text
from tui.diff.screen import Diff
from tui.screens.pick import Pick
from tui.screens.search import Search
from tui.shell.app import SpinneyApp


def completion_rows(app: SpinneyApp) -> list[str]:
    shown = app.main.chat.completion
    return [line.strip() for line in shown.render().plain.splitlines()] if shown.display else []


def updates(client: FakeClient) -> list[dict[str, Any]]:
    return client.called("update_session")


async def test_an_argument_is_completed_and_used(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        await pilot.press(*"/mode ")
        await until(
            pilot, lambda: completion_rows(app) == ["/mode plan", "/mode build", "/mode yolo"]
        )
        await pilot.press("b", "enter")
        await until(pilot, lambda: updates(client))
        assert updates(client) == [{"session_id": "s1", "execution_mode": "build"}]
        assert app.main.chat.composer.text == ""


async def test_enter_behind_a_command_without_an_argument_opens_its_dialog(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        await pilot.press(*"/model ")
        await until(pilot, lambda: len(completion_rows(app)) > 1)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        await pilot.press("escape")
        assert not updates(client)


async def test_a_part_of_the_name_chooses_a_model_and_an_unknown_one_returns_to_the_box(
    start: Start,
) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        await pilot.press(*"/model haik")
        await until(pilot, lambda: len(completion_rows(app)) == 1)
        await pilot.press("escape", "enter")
        await until(pilot, lambda: updates(client))
        assert updates(client)[-1]["model"] == "model_5"
        await pilot.press(*"/model nothing-like-it", "enter")
        await until(pilot, lambda: any("is no model" in said for said in notifications(app)))
        await until(pilot, lambda: app.main.chat.composer.text == "/model nothing-like-it")


async def test_search_rename_and_review_take_what_follows_them(start: Start) -> None:
    client = a_client()
    client.answers["list_changed_files"] = lambda given: make_changes()
    async with start(client) as (app, pilot):
        await pilot.press(*"/rename A better name", "enter")
        await until(pilot, lambda: updates(client))
        assert updates(client) == [{"session_id": "s1", "name": "A better name"}]
        await pilot.press(*"/search the otter", "enter")
        await until(pilot, lambda: isinstance(app.screen, Search))
        await until(pilot, lambda: client.called("search_messages"))
        assert client.called("search_messages")[0]["query"] == "the otter"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await pilot.press(*"/review", "enter")
        await until(pilot, lambda: isinstance(app.screen, Diff))
        assert not client.called("send_chat_message")


async def test_resume_finds_the_sessions_of_all_projects_and_restores_archived_ones(
    start: Start,
) -> None:
    away = a_session(id="s2", worktree_id="w2", name="Away", archived_at=5.0, updated_at=9.0)
    elsewhere = (a_project(id="p2", name="beta"), a_worktree(id="w2", project_id="p2", name="far"))
    client = FakeClient(a_state(a_project(), a_worktree(), a_session(), *elsewhere, away))
    client.answers["unarchive_session"] = lambda given: client.feed(
        SessionCreated(session=away.model_copy(update={"archived_at": None}))
    )
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.session is not None)
        await pilot.press(*"/resume", "enter")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        await pilot.press(*"beta", "enter")
        await until(pilot, lambda: app.main.session is not None and app.main.session.id == "s2")


@pytest.mark.parametrize("known", [True, False])
async def test_compact_is_the_agents_own_command_or_says_that_there_is_none(
    start: Start, known: bool
) -> None:
    client = a_client(message_count=3)
    commands = [AgentCommand(name="compact")] if known else []
    client.answers["list_agent_commands"] = lambda given: commands
    async with start(client) as (app, pilot):
        await pilot.press(*"/compact the plan", "enter")
        if known:
            await until(pilot, lambda: client.called("send_chat_message"))
            assert client.called("send_chat_message")[0]["message"] == "/compact the plan"
        else:
            await until(pilot, lambda: any("/clear" in said for said in notifications(app)))
            assert not client.called("send_chat_message")


async def test_a_mistyped_command_is_suggested_once_and_then_sent(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        await pilot.press(*"/comit it", "enter")
        await until(pilot, lambda: any("Did you mean /commit?" in s for s in notifications(app)))
        assert app.main.chat.composer.text == "/comit it"
        assert not client.called("send_chat_message")
        await pilot.press("enter")
        await until(pilot, lambda: client.called("send_chat_message"))
        assert client.called("send_chat_message")[0]["message"] == "/comit it"


def test_only_names_that_are_like_ours_and_unknown_to_the_agent_are_suggested() -> None:
    assert suggest_command("/renmae x", ()) == "/rename"
    assert suggest_command("/renmae x", ("/renmae",)) == ""
    for text in ("/etc/hosts", "/init", "model", "/x", "/modle\nx", "//modle"):
        assert suggest_command(text, ()) == ""


@pytest.mark.parametrize(
    "text", ["plain", "/model x", "//model", "!ls", "\\!ls", "\\\\!", "\\n", " !ls", "/init", ""]
)
def test_a_message_that_is_put_back_is_sent_as_it_was(text: str) -> None:
    assert unescape_text(escape_text(text)) == text or text == "//model"


async def test_a_queued_message_that_looks_like_a_command_is_no_command_when_taken_back(
    start: Start,
) -> None:
    client = a_client(status="running")

    def remove(given: dict[str, Any]) -> None:
        client.feed(MessageRemoved(message_id=given["message_id"], session_id="s1"))

    client.answers["remove_queued_message"] = remove
    async with start(client) as (app, pilot):
        client.feed(MessageQueued(session_id="s1", status="sent", message=a_message("/new")))
        await until(pilot, lambda: app.main.chat.queue.messages)
        await pilot.press("up")
        await until(pilot, lambda: app.main.chat.composer.text == "//new")
        await pilot.press("enter")
        await until(pilot, lambda: client.called("send_chat_message"))
        assert client.called("send_chat_message")[0]["message"] == "/new"
        assert not client.called("create_session")


async def test_a_command_that_fails_returns_to_the_box(start: Start) -> None:
    client = a_client()

    def fail(given: dict[str, Any]) -> None:
        raise SpinneyError("The disk is full.")

    client.answers["update_session"] = fail
    async with start(client) as (app, pilot):
        await pilot.press(*"/rename it", "enter")
        await until(pilot, lambda: "The disk is full." in notifications(app))
        assert app.main.chat.composer.text == "/rename it"


def test_every_command_has_a_title() -> None:
    assert all(command.title for command in SLASH_COMMANDS.values())
