"""`/` in the message box: Spinney's commands, and after them those of the agent."""

import asyncio
from typing import Any

from textual import events
from textual.pilot import Pilot

from model.domain.resources import AgentCommand
from tests.tui.conftest import Start, until
from tests.tui.fake_client import FakeClient, a_project, a_session, a_state, a_worktree
from tui.composer.completion import MAX_ROWS
from tui.shell.app import SpinneyApp
from tui.store.places import Place

WEAVE = AgentCommand(name="weave", description="Weave a cloth", argument_hint="[yarn] [colour]")
CONTEXT = AgentCommand(name="context", description="Show what is known")
DEEP = AgentCommand(name="area:deep")
MODEL = AgentCommand(name="model", description="Set the model")


def a_client(*commands: AgentCommand, **session: Any) -> FakeClient:
    given = {"backend": "backend_a", **session}
    client = FakeClient(a_state(a_project(), a_worktree(), a_session(**given)))
    client.answers["list_agent_commands"] = lambda _: list(commands)
    return client


def rows(app: SpinneyApp) -> list[str]:
    """The list over the message box; empty while it is put away."""
    shown = app.main.chat.completion
    return [line.strip() for line in shown.render().plain.splitlines()] if shown.display else []


def sent(client: FakeClient) -> list[str]:
    return [given["message"] for given in client.called("send_chat_message")]


async def listed(pilot: "Pilot[None]", app: SpinneyApp, words: str) -> None:
    await until(pilot, lambda: any(words in row for row in rows(app)))


async def test_the_agents_commands_follow_spinneys_and_bear_its_name(start: Start) -> None:
    mow = AgentCommand(name="mow", description="Cut the lawn", argument_hint="[height]")
    client = a_client(mow)
    async with start(client) as (app, pilot):
        await pilot.press(*"/mo")
        await listed(pilot, app, "Cut the lawn")
        first, second, third = rows(app)
        assert first.startswith("/mode ") and second.startswith("/model ")
        assert third.startswith("/mow [height]") and third.endswith("Claude Code")
        assert "Claude Code" not in first
        given = {"worktree_id": "w1", "backend": "backend_a"}
        assert client.called("list_agent_commands") == [given]  # once for all letters


async def test_tab_completes_a_command_and_its_hint_stays_until_more_is_written(
    start: Start,
) -> None:
    client = a_client(WEAVE, CONTEXT)
    async with start(client) as (app, pilot):
        await pilot.press(*"/we")
        await listed(pilot, app, "/weave")
        await pilot.press("tab")
        assert app.main.chat.composer.text == "/weave "
        await until(pilot, lambda: rows(app) == ["/weave [yarn] [colour]"])
        await pilot.press("w")
        await until(pilot, lambda: rows(app) == [])
        await pilot.press(*"ool", "enter")
        await until(pilot, lambda: sent(client))
        assert sent(client) == ["/weave wool"]


async def test_enter_completes_what_is_begun_and_sends_what_is_complete(start: Start) -> None:
    client = a_client(CONTEXT)
    async with start(client) as (app, pilot):
        await pilot.press(*"/con")
        await listed(pilot, app, "/context")
        await pilot.press("enter")
        assert app.main.chat.composer.text == "/context "
        assert not sent(client)
        await pilot.press("enter")
        await until(pilot, lambda: len(sent(client)) == 1)
        await pilot.press(*"/context")
        await listed(pilot, app, "/context")
        await pilot.press("enter")
        await until(pilot, lambda: len(sent(client)) == 2)
        assert [message.strip() for message in sent(client)] == ["/context", "/context"]


async def test_keys_that_come_quicker_than_the_list_mean_what_was_written(start: Start) -> None:
    client = a_client(AgentCommand(name="code-review"), CONTEXT)
    async with start(client) as (app, pilot):
        await pilot.press(*"/co")
        await listed(pilot, app, "/code-review")
        composer = app.main.chat.composer
        composer.insert("nt")
        assert app.main.chat.completion.press("tab")
        assert composer.text == "/context "
        composer.clear()
        composer.insert("/mod")
        assert app.main.chat.completion.press("tab")
        assert composer.text == "/mode"


async def test_a_command_that_nobody_knows_is_sent_as_it_is(start: Start) -> None:
    client = a_client(WEAVE)
    async with start(client) as (app, pilot):
        await pilot.press(*"/etc/hosts")
        await until(pilot, lambda: client.called("list_agent_commands"))
        assert rows(app) == []
        await pilot.press("enter")
        await until(pilot, lambda: sent(client))
        assert sent(client) == ["/etc/hosts"]


async def test_one_that_is_called_like_spinneys_has_two_slashes(start: Start) -> None:
    client = a_client(MODEL)
    async with start(client) as (app, pilot):
        await pilot.press(*"//")
        await listed(pilot, app, "//model")
        await pilot.press("tab", "x", "enter")
        await until(pilot, lambda: sent(client))
        assert sent(client) == ["/model x"]


async def test_a_part_of_a_name_finds_it_and_the_whole_name_goes_first(start: Start) -> None:
    client = a_client(AgentCommand(name="deep-research"), DEEP, AgentCommand(name="deep"))
    async with start(client) as (app, pilot):
        await pilot.press(*"/deep")
        await listed(pilot, app, "/area:deep")
        names = [row.split()[0] for row in rows(app)]
        assert names == ["/deep", "/deep-research", "/area:deep"]


async def test_a_long_list_moves_with_the_chosen_row_and_says_how_long_it_is(
    start: Start,
) -> None:
    many = [AgentCommand(name=f"x{number:02}") for number in range(50)]
    async with start(a_client(*many)) as (app, pilot):
        await pilot.press(*"/x")
        await listed(pilot, app, "1 of 50")
        assert len(rows(app)) == MAX_ROWS + 1
        await pilot.press("up")
        await listed(pilot, app, "50 of 50")
        assert rows(app)[-2].startswith("/x49")
        await pilot.press("tab")
        assert app.main.chat.composer.text == "/x49 "


async def test_where_there_is_little_room_the_list_stays_on_the_screen(start: Start) -> None:
    many = [AgentCommand(name=f"x{number:02}") for number in range(50)]
    async with start(a_client(*many), size=(60, 15)) as (app, pilot):
        await pilot.press(*"/x")
        await listed(pilot, app, "1 of 50")
        assert app.main.chat.completion.region.y > 0
        assert rows(app)[0].startswith("/x00")


async def test_spinneys_are_there_at_once_and_the_chosen_one_stays_chosen(start: Start) -> None:
    client = a_client()
    answer: asyncio.Future[list[AgentCommand]] = asyncio.get_running_loop().create_future()

    async def slow(_: dict[str, Any]) -> list[AgentCommand]:
        return await answer

    client.answers["list_agent_commands"] = slow
    async with start(client) as (app, pilot):
        await pilot.press(*"/mo", "down")
        assert len(rows(app)) == 2
        answer.set_result([AgentCommand(name="mow")])
        await listed(pilot, app, "/mow")
        await pilot.press("tab")
        assert app.main.chat.composer.text == "/model"


async def test_a_list_that_was_put_away_stays_away_when_the_answer_comes(start: Start) -> None:
    client = a_client()
    answer: asyncio.Future[list[AgentCommand]] = asyncio.get_running_loop().create_future()

    async def slow(_: dict[str, Any]) -> list[AgentCommand]:
        return await answer

    client.answers["list_agent_commands"] = slow
    async with start(client) as (app, pilot):
        await pilot.press(*"/mo", "escape")
        answer.set_result([AgentCommand(name="mow")])
        await until(pilot, lambda: app.main.chat.completion._agent_rows)
        assert rows(app) == []


async def test_without_an_answer_there_are_spinneys_and_no_complaint(start: Start) -> None:
    client = a_client()
    client.refuse("list_agent_commands", "Unknown command: list_agent_commands")
    async with start(client) as (app, pilot):
        await pilot.press(*"/mo")
        await until(pilot, lambda: client.called("list_agent_commands"))
        assert len(rows(app)) == 2
        assert not list(app._notifications)


async def test_another_session_has_the_commands_of_its_own_agent(start: Start) -> None:
    client = a_client()
    other = a_session(id="s2", name="Other", backend="backend_b", order=1)
    client.state.sessions["s2"] = other
    known = {"backend_a": WEAVE, "backend_b": AgentCommand(name="wind")}
    client.answers["list_agent_commands"] = lambda given: [known[given["backend"]]]
    async with start(client) as (app, pilot):
        app.main.open_place(Place("session", "s1"))
        await until(pilot, lambda: app.main.chat.key == "s1")
        await pilot.press(*"/w")
        await listed(pilot, app, "Claude Code")
        app.main.open_session("s2")
        await until(pilot, lambda: app.main.chat.key == "s2")
        await pilot.press(*"/w")
        await listed(pilot, app, "Codex")
        assert [row.split()[0] for row in rows(app)] == ["/wind"]


async def test_before_there_is_a_session_they_are_those_of_the_agent_it_would_have(
    start: Start,
) -> None:
    client = FakeClient(a_state(a_project(), a_worktree()))
    client.answers["list_agent_commands"] = lambda _: [WEAVE]
    async with start(client) as (app, pilot):
        app.main.open_place(Place("worktree", "w1"))
        await until(pilot, lambda: app.main.chat.key == "w1")
        await pilot.press(*"/we")
        await listed(pilot, app, "/weave")
        assert client.called("list_agent_commands") == [{"worktree_id": "w1"}]


async def test_a_row_is_taken_by_the_mouse_and_the_wheel_moves_the_list(start: Start) -> None:
    many = [AgentCommand(name=f"x{number:02}") for number in range(50)]
    async with start(a_client(*many)) as (app, pilot):
        await pilot.press(*"/x")
        await listed(pilot, app, "1 of 50")
        shown = app.main.chat.completion
        await pilot._post_mouse_events([events.MouseScrollDown], shown, offset=(3, 3))
        await listed(pilot, app, "2 of 50")
        await pilot.click(shown, offset=(3, 4))
        assert app.main.chat.composer.text == "/x04 "


async def test_foreign_words_are_shown_as_they_are(start: Start) -> None:
    strange = AgentCommand(name="x[/]", description="[b]bold\x1b[2J[/b]", argument_hint="[$red]")
    async with start(a_client(strange)) as (app, pilot):
        await pilot.press(*"/x")
        await listed(pilot, app, "[b]bold")
        assert rows(app)[0].startswith("/x[/] [$red]")
        assert "\x1b" not in rows(app)[0]


async def test_words_that_come_quicker_than_the_list_goes_are_sent_and_not_replaced(
    start: Start,
) -> None:
    client = a_client(CONTEXT)
    async with start(client) as (app, pilot):
        await pilot.press(*"/con")
        await listed(pilot, app, "/context")
        composer = app.main.chat.composer
        composer.insert("text of all this")
        assert not app.main.chat.completion.press("enter")
        assert composer.text == "/context of all this"
        await until(pilot, lambda: rows(app) == [])


async def test_a_click_into_a_command_opens_no_list_and_enter_sends_what_was_written(
    start: Start,
) -> None:
    client = a_client(CONTEXT)
    async with start(client) as (app, pilot):
        composer = app.main.chat.composer
        await pilot.press(*"/context of all")
        await pilot.click(composer, offset=(composer.gutter.left + 2, composer.gutter.top))
        await until(pilot, lambda: composer.cursor_location == (0, 2))
        await pilot.press("enter")
        await until(pilot, lambda: sent(client))
        assert sent(client) == ["/context of all"]


async def test_a_letter_in_the_middle_of_a_command_asks_for_no_list(start: Start) -> None:
    client = a_client(CONTEXT)
    async with start(client) as (_, pilot):
        await pilot.press(*"/ontext of all", "home", "right", "c", "enter")
        await until(pilot, lambda: sent(client))
        assert sent(client) == ["/context of all"]


async def test_a_command_that_comes_back_into_the_box_is_sent_as_it_is(start: Start) -> None:
    client = a_client(AgentCommand(name="context-of-all"))
    async with start(client) as (app, pilot):
        app.main.chat.return_message("s1", "/context")
        await until(pilot, lambda: app.main.chat.composer.text == "/context")
        await pilot.press("enter")
        await until(pilot, lambda: sent(client))
        assert sent(client) == ["/context"]
