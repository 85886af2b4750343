"""Slash commands in the message box: Spinney's own, followed by those of the agent."""

import asyncio
from typing import Any

from textual import events
from textual.pilot import Pilot

from model.domain.agent_commands import AgentCommand
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.waiting import until
from tui.composer.completion import MAX_ROWS
from tui.shell.app import SpinneyApp
from tui.store.places import Place

WEAVE = AgentCommand(name="weave", description="Weave a cloth", argument_hint="[yarn] [colour]")
CONTEXT = AgentCommand(name="context", description="Show what is known")
DEEP = AgentCommand(name="area:deep")
MODEL = AgentCommand(name="model", description="Set the model")


def client_with_commands(*commands: AgentCommand, **session: Any) -> FakeClient:
    given = {"backend": "backend_a", **session}
    client = a_client(**given)
    client.answers["list_agent_commands"] = lambda _: list(commands)
    return client


def completion_rows(app: SpinneyApp) -> list[str]:
    """The rows of the list above the message box; empty while it is hidden."""
    shown = app.main.chat.completion
    return [line.strip() for line in shown.render().plain.splitlines()] if shown.display else []


def sent_messages(client: FakeClient) -> list[str]:
    return [given["message"] for given in client.called("send_chat_message")]


async def wait_for_row(pilot: "Pilot[None]", app: SpinneyApp, words: str) -> None:
    await until(pilot, lambda: any(words in row for row in completion_rows(app)))


async def test_the_agents_commands_follow_spinneys_and_show_its_name(start: Start) -> None:
    mow = AgentCommand(name="mow", description="Cut the lawn", argument_hint="[height]")
    client = client_with_commands(mow)
    async with start(client) as (app, pilot):
        await pilot.press(*"/mo")
        await wait_for_row(pilot, app, "Cut the lawn")
        first, second, third = completion_rows(app)
        assert first.startswith("/mode ") and second.startswith("/model ")
        assert third.startswith("/mow [height]") and third.endswith("Claude Code")
        assert "Claude Code" not in first
        given = {"worktree_id": "w1", "backend": "backend_a"}
        assert client.called("list_agent_commands") == [given]  # once for all letters


async def test_tab_completes_a_command_and_its_hint_stays_until_an_argument_is_typed(
    start: Start,
) -> None:
    client = client_with_commands(WEAVE, CONTEXT)
    async with start(client) as (app, pilot):
        await pilot.press(*"/we")
        await wait_for_row(pilot, app, "/weave")
        await pilot.press("tab")
        assert app.main.chat.composer.text == "/weave "
        await until(pilot, lambda: completion_rows(app) == ["/weave [yarn] [colour]"])
        await pilot.press("w")
        await until(pilot, lambda: completion_rows(app) == [])
        await pilot.press(*"ool", "enter")
        await until(pilot, lambda: sent_messages(client))
        assert sent_messages(client) == ["/weave wool"]


async def test_enter_completes_a_partial_command_and_sends_a_complete_one(start: Start) -> None:
    client = client_with_commands(CONTEXT)
    async with start(client) as (app, pilot):
        await pilot.press(*"/con")
        await wait_for_row(pilot, app, "/context")
        await pilot.press("enter")
        assert app.main.chat.composer.text == "/context "
        assert not sent_messages(client)
        await pilot.press("enter")
        await until(pilot, lambda: len(sent_messages(client)) == 1)
        await pilot.press(*"/context")
        await wait_for_row(pilot, app, "/context")
        await pilot.press("enter")
        await until(pilot, lambda: len(sent_messages(client)) == 2)
        assert [message.strip() for message in sent_messages(client)] == ["/context", "/context"]


async def test_keys_pressed_before_the_list_updates_apply_to_the_current_text(start: Start) -> None:
    client = client_with_commands(AgentCommand(name="code-review"), CONTEXT)
    async with start(client) as (app, pilot):
        await pilot.press(*"/co")
        await wait_for_row(pilot, app, "/code-review")
        composer = app.main.chat.composer
        composer.insert("nt")
        assert app.main.chat.completion.press("tab")
        assert composer.text == "/context "
        composer.clear()
        composer.insert("/mod")
        assert app.main.chat.completion.press("tab")
        assert composer.text == "/mode "


async def test_an_unknown_command_is_sent_unchanged(start: Start) -> None:
    client = client_with_commands(WEAVE)
    async with start(client) as (app, pilot):
        await pilot.press(*"/etc/hosts")
        await until(pilot, lambda: client.called("list_agent_commands"))
        assert completion_rows(app) == []
        await pilot.press("enter")
        await until(pilot, lambda: sent_messages(client))
        assert sent_messages(client) == ["/etc/hosts"]


async def test_an_agents_command_named_like_one_of_spinneys_has_two_slashes(start: Start) -> None:
    client = client_with_commands(MODEL)
    async with start(client) as (app, pilot):
        await pilot.press(*"//")
        await wait_for_row(pilot, app, "//model")
        await pilot.press("tab", "x", "enter")
        await until(pilot, lambda: sent_messages(client))
        assert sent_messages(client) == ["/model x"]


async def test_a_part_of_a_name_matches_and_an_exact_match_comes_first(start: Start) -> None:
    client = client_with_commands(
        AgentCommand(name="deep-research"), DEEP, AgentCommand(name="deep")
    )
    async with start(client) as (app, pilot):
        await pilot.press(*"/deep")
        await wait_for_row(pilot, app, "/area:deep")
        names = [row.split()[0] for row in completion_rows(app)]
        assert names == ["/deep", "/deep-research", "/area:deep"]


async def test_a_long_list_scrolls_with_the_selection_and_shows_its_length(
    start: Start,
) -> None:
    many = [AgentCommand(name=f"x{number:02}") for number in range(50)]
    async with start(client_with_commands(*many)) as (app, pilot):
        await pilot.press(*"/x")
        await wait_for_row(pilot, app, "1 of 50")
        assert len(completion_rows(app)) == MAX_ROWS + 1
        await pilot.press("up")
        await wait_for_row(pilot, app, "50 of 50")
        assert completion_rows(app)[-2].startswith("/x49")
        await pilot.press("tab")
        assert app.main.chat.composer.text == "/x49 "


async def test_the_list_fits_into_a_small_terminal(start: Start) -> None:
    many = [AgentCommand(name=f"x{number:02}") for number in range(50)]
    async with start(client_with_commands(*many), size=(60, 15)) as (app, pilot):
        await pilot.press(*"/x")
        await wait_for_row(pilot, app, "1 of 50")
        assert app.main.chat.completion.region.y > 0
        assert completion_rows(app)[0].startswith("/x00")


async def test_spinneys_commands_are_listed_immediately_and_the_selection_stays(
    start: Start,
) -> None:
    client = client_with_commands()
    response: asyncio.Future[list[AgentCommand]] = asyncio.get_running_loop().create_future()

    async def slow(_: dict[str, Any]) -> list[AgentCommand]:
        return await response

    client.answers["list_agent_commands"] = slow
    async with start(client) as (app, pilot):
        await pilot.press(*"/mo", "down")
        assert len(completion_rows(app)) == 2
        response.set_result([AgentCommand(name="mow")])
        await wait_for_row(pilot, app, "/mow")
        await pilot.press("tab")
        assert app.main.chat.composer.text == "/model "


async def test_a_closed_list_stays_closed_when_the_response_arrives(start: Start) -> None:
    client = client_with_commands()
    response: asyncio.Future[list[AgentCommand]] = asyncio.get_running_loop().create_future()

    async def slow(_: dict[str, Any]) -> list[AgentCommand]:
        return await response

    client.answers["list_agent_commands"] = slow
    async with start(client) as (app, pilot):
        await pilot.press(*"/mo", "escape")
        response.set_result([AgentCommand(name="mow")])
        await until(pilot, lambda: app.main.chat.completion._agent_rows)
        assert completion_rows(app) == []


async def test_if_the_request_fails_spinneys_commands_are_listed_without_an_error(
    start: Start,
) -> None:
    client = client_with_commands()
    client.refuse("list_agent_commands", "Unknown command: list_agent_commands")
    async with start(client) as (app, pilot):
        await pilot.press(*"/mo")
        await until(pilot, lambda: client.called("list_agent_commands"))
        assert len(completion_rows(app)) == 2
        assert not list(app._notifications)


async def test_another_session_has_the_commands_of_its_own_agent(start: Start) -> None:
    client = client_with_commands()
    other = a_session(id="s2", name="Other", backend="backend_b", order=1)
    client.state.sessions["s2"] = other
    known = {"backend_a": WEAVE, "backend_b": AgentCommand(name="wind")}
    client.answers["list_agent_commands"] = lambda given: [known[given["backend"]]]
    async with start(client) as (app, pilot):
        app.main.open_place(Place("session", "s1"))
        await until(pilot, lambda: app.main.chat.key == "s1")
        await pilot.press(*"/w")
        await wait_for_row(pilot, app, "Claude Code")
        app.main.open_session("s2")
        await until(pilot, lambda: app.main.chat.key == "s2")
        await pilot.press(*"/w")
        await wait_for_row(pilot, app, "Codex")
        names = [row.split()[0] for row in completion_rows(app)]
        assert "/wind" in names
        assert "/weave" not in names


async def test_without_a_session_the_commands_of_its_future_agent_are_listed(
    start: Start,
) -> None:
    client = FakeClient(a_state(a_project(), a_worktree()))
    client.answers["list_agent_commands"] = lambda _: [WEAVE]
    async with start(client) as (app, pilot):
        app.main.open_place(Place("worktree", "w1"))
        await until(pilot, lambda: app.main.chat.key == "w1")
        await pilot.press(*"/we")
        await wait_for_row(pilot, app, "/weave")
        assert client.called("list_agent_commands") == [{"worktree_id": "w1"}]


async def test_a_click_takes_a_row_and_the_wheel_moves_the_list(start: Start) -> None:
    many = [AgentCommand(name=f"x{number:02}") for number in range(50)]
    async with start(client_with_commands(*many)) as (app, pilot):
        await pilot.press(*"/x")
        await wait_for_row(pilot, app, "1 of 50")
        shown = app.main.chat.completion
        await pilot._post_mouse_events([events.MouseScrollDown], shown, offset=(3, 3))
        await wait_for_row(pilot, app, "2 of 50")
        await pilot.click(shown, offset=(3, 4))
        assert app.main.chat.composer.text == "/x04 "


async def test_markup_and_control_characters_of_an_agent_are_escaped(start: Start) -> None:
    strange = AgentCommand(name="x[/]", description="[b]bold\x1b[2J[/b]", argument_hint="[$red]")
    async with start(client_with_commands(strange)) as (app, pilot):
        await pilot.press(*"/x")
        await wait_for_row(pilot, app, "[b]bold")
        assert completion_rows(app)[0].startswith("/x[/] [$red]")
        assert "\x1b" not in completion_rows(app)[0]


async def test_text_typed_before_the_list_closes_is_not_replaced(
    start: Start,
) -> None:
    client = client_with_commands(CONTEXT)
    async with start(client) as (app, pilot):
        await pilot.press(*"/con")
        await wait_for_row(pilot, app, "/context")
        composer = app.main.chat.composer
        composer.insert("text of all this")
        assert not app.main.chat.completion.press("enter")
        assert composer.text == "/context of all this"
        await until(pilot, lambda: completion_rows(app) == [])


async def test_a_click_into_a_command_opens_no_list_and_enter_sends_the_text(
    start: Start,
) -> None:
    client = client_with_commands(CONTEXT)
    async with start(client) as (app, pilot):
        composer = app.main.chat.composer
        await pilot.press(*"/context of all")
        await pilot.click(composer, offset=(composer.gutter.left + 2, composer.gutter.top))
        await until(pilot, lambda: composer.cursor_location == (0, 2))
        await pilot.press("enter")
        await until(pilot, lambda: sent_messages(client))
        assert sent_messages(client) == ["/context of all"]


async def test_a_letter_typed_inside_a_command_opens_no_list(start: Start) -> None:
    client = client_with_commands(CONTEXT)
    async with start(client) as (_, pilot):
        await pilot.press(*"/ontext of all", "home", "right", "c", "enter")
        await until(pilot, lambda: sent_messages(client))
        assert sent_messages(client) == ["/context of all"]


async def test_a_command_that_returns_to_the_box_is_sent_unchanged(start: Start) -> None:
    client = client_with_commands(AgentCommand(name="context-of-all"))
    async with start(client) as (app, pilot):
        app.main.chat.return_message("s1", "/context")
        await until(pilot, lambda: app.main.chat.composer.text == "/context")
        await pilot.press("enter")
        await until(pilot, lambda: sent_messages(client))
        assert sent_messages(client) == ["/context"]
