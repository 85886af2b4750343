"""Questions of an agent, answered with arrows, digits, text and the mouse."""

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Static

from model.domain.requests import Question, QuestionOption, Request
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.waiting import until
from tui.shell.app import SpinneyApp


def question_fields(*questions: Question) -> dict[str, Any]:
    request = Request(id="r1", kind="question", questions=list(questions))
    return {"status": "waiting", "waiting_for": "question", "request": request}


def make_question(question: str, *labels: str, several: bool = False) -> Question:
    options = [QuestionOption(label=label) for label in labels]
    return Question(question=question, options=options, multi_select=several)


COLOR = make_question("Which colour?", "red", "blue", "green")
SIDES = make_question("Which sides?", "left", "right", several=True)
WHY = make_question("Why?")


def question_text(app: SpinneyApp) -> str:
    return str(app.main.chat.request.query_one("#request-text", Static).render())


async def wait_for_answers(pilot: Pilot[None], client: FakeClient) -> Any:
    await until(pilot, lambda: client.called("answer_question"))
    [given] = client.called("answer_question")
    return given["answer"]


async def test_arrows_move_over_the_options_and_enter_selects_one(start: Start) -> None:
    client = a_client(**question_fields(COLOR))
    async with start(client) as (app, pilot):
        assert "❯ red" in question_text(app)
        await pilot.press("down", "down")
        assert "❯ green" in question_text(app)
        await pilot.press("down", "up", "up", "enter")
        assert await wait_for_answers(pilot, client) == {"Which colour?": "blue"}


async def test_the_marked_option_shows_its_preview(start: Start) -> None:
    box = "+--+\n|  |\n+--+"
    tall = "\n".join(f"row {number}" for number in range(40))
    options = [QuestionOption(label="box", preview=box), QuestionOption(label="list", preview=tall)]
    async with start(a_client(**question_fields(Question(question="Which?", options=options)))) as (
        app,
        pilot,
    ):
        assert "│ |  |" in question_text(app)
        assert "row 0" not in question_text(app)
        await pilot.press("down")
        assert "row 11" in question_text(app)
        assert "28 more lines" in question_text(app)
        assert "|  |" not in question_text(app)


async def test_in_multiple_choice_enter_toggles_and_the_last_row_sends(start: Start) -> None:
    client = a_client(**question_fields(SIDES))
    async with start(client) as (app, pilot):
        await pilot.press("down", "enter", "up", "enter", "enter")
        assert "[ ] left" in question_text(app)
        assert "[x] right" in question_text(app)
        await pilot.press("up", "enter")
        assert await wait_for_answers(pilot, client) == {"Which sides?": "right"}


async def test_a_space_in_the_box_is_no_answer_and_enter_still_toggles(start: Start) -> None:
    client = a_client(**question_fields(SIDES))
    async with start(client) as (app, pilot):
        await pilot.press("space", "enter")  # space toggles in other programs
        assert "[x] left" in question_text(app)


async def test_multiple_choice_without_a_selection_is_not_sent(start: Start) -> None:
    client = a_client(**question_fields(SIDES))
    async with start(client) as (app, pilot):
        await pilot.press("up", "enter", "enter")
        assert "nothing is selected yet" in question_text(app)
        assert not client.called("answer_question")


async def test_in_the_panel_digits_and_space_choose(start: Start) -> None:
    client = a_client(**question_fields(COLOR, SIDES))
    async with start(client) as (app, pilot):
        await pilot.press("tab")
        await until(pilot, lambda: "❯  1  red" in question_text(app))
        await pilot.press("3", "1", "2", "space")
        assert "[x] left" in question_text(app)
        assert "[ ] right" in question_text(app)
        await pilot.press("up", "up", "enter")
        assert await wait_for_answers(pilot, client) == {
            "Which colour?": "green",
            "Which sides?": "left",
        }


async def test_an_earlier_answer_can_be_changed_until_the_last_one_is_given(start: Start) -> None:
    client = a_client(**question_fields(COLOR, SIDES, WHY))
    async with start(client) as (app, pilot):
        await pilot.press("up", "enter", "down", "enter", "down", "enter", "left", "left")
        assert "1 of 3" in question_text(app)
        assert "❯ green" in question_text(app)
        await pilot.press("down", "enter")
        assert "[x] right" in question_text(app)
        await pilot.press("enter", *"so", "enter")
        assert await wait_for_answers(pilot, client) == {
            "Which colour?": "red",
            "Which sides?": "right",
            "Why?": "so",
        }


async def test_a_click_on_an_option_selects_it(start: Start) -> None:
    client = a_client(**question_fields(COLOR))
    async with start(client) as (_, pilot):
        await pilot.click("#request-text", offset=(4, 2))
        assert await wait_for_answers(pilot, client) == {"Which colour?": "blue"}


async def test_a_click_on_a_choice_of_a_permission_answers_it(start: Start) -> None:
    request = Request(id="r9", kind="permission", tool_name="bash", tool_input={"command": "ls"})
    client = a_client(status="waiting", waiting_for="permission", request=request)
    async with start(client) as (app, pilot):
        rows = str(app.main.chat.request.query_one("#request-choices", Static).render())
        [row] = [at for at, text in enumerate(rows.splitlines()) if "Deny" in text]
        await pilot.click("#request-choices", offset=(4, row))
        await until(pilot, lambda: client.called("answer_permission"))
        assert client.called("answer_permission")[0]["decision"] == "deny"


async def test_up_recalls_sent_messages_if_the_question_has_no_options(
    start: Start,
) -> None:
    client = a_client(**question_fields(WHY))
    async with start(client) as (app, pilot):
        app.main.chat.composer.sent_messages = ["said before"]
        await pilot.press("up")
        assert app.main.chat.composer.text == "said before"


async def test_a_terminal_with_no_room_for_the_question_shows_it_once_it_grows(
    start: Start,
) -> None:
    client = a_client(**question_fields(COLOR))
    async with start(client, size=(1, 1)) as (app, pilot):
        assert app.main.chat.request.query_one("#request-scroll").size.width == 0
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: app.main.chat.request.query_one("#request-scroll").size.width)
        await pilot.press("down")
        await until(pilot, lambda: "❯ blue" in question_text(app))


async def test_the_option_under_the_cursor_is_always_visible(start: Start) -> None:
    many = make_question("Which? " * 40, *(f"option {number}" for number in range(1, 30)))
    client = a_client(**question_fields(many))
    async with start(client) as (app, pilot):
        await pilot.press("up")
        scroll = app.main.chat.request.query_one("#request-scroll")
        await until(pilot, lambda: scroll.scroll_y > 0)
        first = round(scroll.scroll_y)
        shown = range(first, first + scroll.scrollable_content_region.height)
        text = app.main.chat.request.query_one("#request-text", Static)
        last = text.size.height - 1
        assert last in shown


async def test_a_description_that_repeats_the_label_is_omitted(start: Start) -> None:
    options = [QuestionOption(label="red", description="red")]
    client = a_client(**question_fields(Question(question="Which?", options=options)))
    async with start(client) as (app, _):
        assert question_text(app).count("red") == 1


async def test_an_answer_that_begins_with_an_exclamation_mark_is_escaped_and_sent_without(
    start: Start,
) -> None:
    client = a_client(**question_fields(WHY))
    async with start(client) as (_, pilot):
        await pilot.press(*"\\!because", "enter")
        assert await wait_for_answers(pilot, client) == {"Why?": "!because"}
        assert not client.called("run_command")
