"""Questions of an agent, answered by arrows, numbers, words and the mouse."""

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Static

from model.domain.resources import Question, QuestionOption, Request
from tests.tui.conftest import Start, until
from tests.tui.fake_client import FakeClient, a_project, a_session, a_state, a_worktree
from tui.shell.app import SpinneyApp


def a_client(**session: Any) -> FakeClient:
    return FakeClient(a_state(a_project(), a_worktree(), a_session(**session)))


def asked(*questions: Question) -> dict[str, Any]:
    request = Request(id="r1", kind="question", questions=list(questions))
    return {"status": "waiting", "waiting_for": "question", "request": request}


def of(question: str, *labels: str, several: bool = False) -> Question:
    options = [QuestionOption(label=label) for label in labels]
    return Question(question=question, options=options, multi_select=several)


COLOUR = of("Which colour?", "red", "blue", "green")
SIDES = of("Which sides?", "left", "right", several=True)
WHY = of("Why?")


def text_of(app: SpinneyApp) -> str:
    return str(app.main.chat.request.query_one("#request-text", Static).render())


async def answers(pilot: Pilot[None], client: FakeClient) -> Any:
    await until(pilot, lambda: client.called("answer_question"))
    [given] = client.called("answer_question")
    return given["answer"]


async def test_arrows_move_over_the_options_and_enter_takes_one(start: Start) -> None:
    client = a_client(**asked(COLOUR))
    async with start(client) as (app, pilot):
        assert "❯ red" in text_of(app)
        await pilot.press("down", "down")
        assert "❯ green" in text_of(app)
        await pilot.press("down", "up", "up", "enter")
        assert await answers(pilot, client) == {"Which colour?": "blue"}


async def test_the_marked_option_shows_what_it_would_look_like(start: Start) -> None:
    box = "+--+\n|  |\n+--+"
    tall = "\n".join(f"row {number}" for number in range(40))
    options = [QuestionOption(label="box", preview=box), QuestionOption(label="list", preview=tall)]
    async with start(a_client(**asked(Question(question="Which?", options=options)))) as (
        app,
        pilot,
    ):
        assert "│ |  |" in text_of(app)
        assert "row 0" not in text_of(app)
        await pilot.press("down")
        assert "row 11" in text_of(app)
        assert "28 more lines" in text_of(app)
        assert "|  |" not in text_of(app)


async def test_of_several_choices_enter_ticks_and_the_last_row_sends(start: Start) -> None:
    client = a_client(**asked(SIDES))
    async with start(client) as (app, pilot):
        await pilot.press("down", "enter", "up", "enter", "enter")
        assert "[ ] left" in text_of(app)
        assert "[x] right" in text_of(app)
        await pilot.press("up", "enter")
        assert await answers(pilot, client) == {"Which sides?": "right"}


async def test_a_blank_in_the_box_is_no_answer_and_enter_ticks_all_the_same(start: Start) -> None:
    client = a_client(**asked(SIDES))
    async with start(client) as (app, pilot):
        await pilot.press("space", "enter")  # as one ticks elsewhere
        assert "[x] left" in text_of(app)


async def test_of_several_choices_none_is_never_sent(start: Start) -> None:
    client = a_client(**asked(SIDES))
    async with start(client) as (app, pilot):
        await pilot.press("up", "enter", "enter")
        assert "nothing is selected yet" in text_of(app)
        assert not client.called("answer_question")


async def test_in_the_panel_digits_and_space_choose(start: Start) -> None:
    client = a_client(**asked(COLOUR, SIDES))
    async with start(client) as (app, pilot):
        await pilot.press("tab")
        await until(pilot, lambda: "❯  1  red" in text_of(app))
        await pilot.press("3", "1", "2", "space")
        assert "[x] left" in text_of(app)
        assert "[ ] right" in text_of(app)
        await pilot.press("up", "up", "enter")
        assert await answers(pilot, client) == {"Which colour?": "green", "Which sides?": "left"}


async def test_an_earlier_answer_can_be_changed_until_the_last_one_is_given(start: Start) -> None:
    client = a_client(**asked(COLOUR, SIDES, WHY))
    async with start(client) as (app, pilot):
        await pilot.press("up", "enter", "down", "enter", "down", "enter", "left", "left")
        assert "1 of 3" in text_of(app)
        assert "❯ green" in text_of(app)
        await pilot.press("down", "enter")
        assert "[x] right" in text_of(app)
        await pilot.press("enter", *"so", "enter")
        assert await answers(pilot, client) == {
            "Which colour?": "red",
            "Which sides?": "right",
            "Why?": "so",
        }


async def test_a_click_on_an_option_takes_it(start: Start) -> None:
    client = a_client(**asked(COLOUR))
    async with start(client) as (_, pilot):
        await pilot.click("#request-text", offset=(4, 2))
        assert await answers(pilot, client) == {"Which colour?": "blue"}


async def test_a_click_on_a_choice_takes_it(start: Start) -> None:
    request = Request(id="r9", kind="permission", tool_name="bash", tool_input={"command": "ls"})
    client = a_client(status="waiting", waiting_for="permission", request=request)
    async with start(client) as (app, pilot):
        rows = str(app.main.chat.request.query_one("#request-choices", Static).render())
        [row] = [at for at, text in enumerate(rows.splitlines()) if "Deny" in text]
        await pilot.click("#request-choices", offset=(4, row))
        await until(pilot, lambda: client.called("answer_permission"))
        assert client.called("answer_permission")[0]["decision"] == "deny"


async def test_arrows_still_bring_earlier_messages_where_nothing_can_be_chosen(
    start: Start,
) -> None:
    client = a_client(**asked(WHY))
    async with start(client) as (app, pilot):
        app.main.chat.composer.sent_messages = ["said before"]
        await pilot.press("up")
        assert app.main.chat.composer.text == "said before"


async def test_a_terminal_with_no_room_for_the_question_shows_it_once_it_grows(
    start: Start,
) -> None:
    client = a_client(**asked(COLOUR))
    async with start(client, size=(1, 1)) as (app, pilot):
        assert app.main.chat.request.query_one("#request-scroll").size.width == 0
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: app.main.chat.request.query_one("#request-scroll").size.width)
        await pilot.press("down")
        await until(pilot, lambda: "❯ blue" in text_of(app))


async def test_the_option_under_the_cursor_is_always_in_sight(start: Start) -> None:
    many = of("Which? " * 40, *(f"option {number}" for number in range(1, 30)))
    client = a_client(**asked(many))
    async with start(client) as (app, pilot):
        await pilot.press("up")
        scroll = app.main.chat.request.query_one("#request-scroll")
        await until(pilot, lambda: scroll.scroll_y > 0)
        first = round(scroll.scroll_y)
        shown = range(first, first + scroll.scrollable_content_region.height)
        text = app.main.chat.request.query_one("#request-text", Static)
        last = text.size.height - 1
        assert last in shown


async def test_what_only_repeats_an_option_is_left_out(start: Start) -> None:
    options = [QuestionOption(label="red", description="red")]
    client = a_client(**asked(Question(question="Which?", options=options)))
    async with start(client) as (app, _):
        assert text_of(app).count("red") == 1
