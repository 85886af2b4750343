"""Keys that arrive in one read, as over a slow connection or pasted without brackets."""

from textual.widgets import Input

from model.domain.requests import Request
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.waiting import until
from tui.screens.dialog import AskText
from tui.shell.app import SpinneyApp
from tui.terminal.input_parser import InputParser
from tui.tree.widget import ProjectTree


def feed_input(app: SpinneyApp, sent: str) -> None:
    """Post the events of what the terminal sends in one read."""
    for event in InputParser().feed(sent):
        app.post_message(event)


async def test_five_thousand_letters_are_one_edit_of_the_message(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        composer = app.main.chat.composer
        edits: list[str] = []
        insert = composer._replace_via_keyboard

        def noted(text: str, *place: tuple[int, int]) -> object:
            edits.append(text)
            return insert(text, *place)

        composer._replace_via_keyboard = noted  # type: ignore[method-assign, assignment]
        feed_input(app, "word " * 1000 + "\x1b[D\x7f!")
        await until(pilot, lambda: composer.text == "word " * 999 + "wor! ")
        assert edits == ["word " * 1000, "!"]


async def test_a_burst_in_a_text_field_is_complete_and_ends_with_its_enter(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        given: list[str | None] = []
        app.push_screen(AskText("Name"), given.append)
        await until(pilot, lambda: isinstance(app.focused, Input))
        values: list[str] = []
        assert app.focused is not None
        app.screen.watch(app.focused, "value", lambda value: values.append(value), init=False)
        feed_input(app, "x" * 3000 + "60\x7f\x7f5\r")
        await until(pilot, lambda: given)
        assert given == ["x" * 3000 + "5"]
        assert len(values) == 4


async def test_word_deletions_among_letters_apply_in_order(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        composer = app.main.chat.composer
        feed_input(app, "one two\x1b\x7fthree four\x1bb\x1bb\x1bd!")
        await until(pilot, lambda: composer.text == "one ! four")
        app.push_screen(AskText("Name"))
        await until(pilot, lambda: isinstance(app.focused, Input))
        field = app.focused
        feed_input(app, "one two\x1b\x7fthree four\x1bb\x1bb\x1bd!")
        await until(pilot, lambda: isinstance(field, Input) and field.value == "one !four")


async def test_a_burst_filters_the_tree_once(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        tree = app.main.query_one(ProjectTree)
        tree.focus()
        await until(pilot, lambda: app.focused is tree)
        narrowed: list[str] = []
        narrow = tree.set_filter
        tree.set_filter = lambda text: (narrowed.append(text), narrow(text))[1]  # type: ignore[method-assign]
        feed_input(app, "spinney" * 50 + "\x7f")
        await until(pilot, lambda: len(narrowed) == 2)
        assert narrowed == ["spinney" * 50, ("spinney" * 50)[:-1]]


async def test_letters_that_are_commands_are_pressed_one_by_one(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not app.main)
        feed_input(app, "kk")
        await until(pilot, lambda: "keymap_editor" in type(app.screen).__module__)


async def test_pasted_lines_stay_in_the_message_box_and_send_nothing(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        feed_input(app, "".join(f"line {number}\r" for number in range(20)))
        await until(pilot, lambda: app.main.chat.composer.text)
        assert app.main.chat.composer.draft.text_to_send().splitlines() == [
            f"line {number}" for number in range(20)
        ]
        assert client.called("send_chat_message") == []


async def test_escape_and_letters_of_one_read_stop_the_run_and_are_typed(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        feed_input(app, "\x1bhello")
        await until(pilot, lambda: client.called("stop_generation"))
        await until(pilot, lambda: app.main.chat.composer.text == "hello")


async def test_a_burst_is_text_while_a_request_waits_and_an_enter_in_it_sends_it(
    start: Start,
) -> None:
    request = Request(id="r1", kind="plan", plan="1. look")
    session = a_session(status="waiting", waiting_for="plan", request=request)
    client = FakeClient(a_state(a_project(), a_worktree(), session))
    async with start(client) as (app, pilot):
        feed_input(app, "but first\r\r")
        await until(pilot, lambda: client.called("send_chat_message"))
        assert client.called("send_chat_message")[0]["message"] == "but first"
        assert not client.called("approve_plan")
