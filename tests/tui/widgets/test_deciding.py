"""Answering requests: a selected choice and enter do; typed text does not, and is never lost."""

import asyncio
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Static

from model.domain.events.sessions import SessionUpdated
from model.domain.messages import ToolUseBlock
from model.domain.requests import Question, QuestionOption, Request
from tests.tui.builders import a_message, a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications, screen_lines
from tests.tui.waiting import until
from tui.shell.app import SpinneyApp
from tui.widgets.key_hints import KeyHints
from tui.widgets.request_panel import RequestPanel

PLAN = Request(id="r1", kind="plan", plan="1. look\n2. mend")
PERMISSION = Request(
    id="r2",
    kind="permission",
    tool_name="bash",
    tool_input={"command": "rm x"},
    description="Run `rm x`",
)
QUESTION = Request(
    id="r3",
    kind="question",
    questions=[
        Question(
            question="Red or blue?",
            options=[QuestionOption(label="red"), QuestionOption(label="blue")],
        )
    ],
)
DECISIONS = ("approve_plan", "answer_permission", "answer_question", "stop_generation")


def request_fields(request: Request | None, **more: Any) -> dict[str, Any]:
    kind = request.kind if request is not None else None
    status = "waiting" if request is not None else "running"
    return {"status": status, "waiting_for": kind, "request": request, **more}


def client_with_request(request: Request | None) -> FakeClient:
    return a_client(**request_fields(request))


def feed(client: FakeClient, request: Request | None, **more: Any) -> None:
    """Set the current request of the session."""
    session = client.state.sessions["s1"].model_copy(update=request_fields(request, **more))
    names = {"status", "waiting_for", "request", *more}
    updates = session.model_dump(mode="json", include=names)
    client.feed(SessionUpdated(session_id="s1", updates=updates))


def sent_decisions(client: FakeClient) -> list[str]:
    return [name for name, _ in client.calls if name in DECISIONS]


def panel_text(app: SpinneyApp) -> str:
    parts = app.main.chat.request.query(Static)
    return "\n".join(str(part.render()) for part in parts if part.display)


class PanelClock:
    """A clock that the test advances."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(RequestPanel, "ARMED_AFTER", 0.8)
        monkeypatch.setattr(RequestPanel, "QUIET", 0.3)
        monkeypatch.setattr(RequestPanel, "clock", lambda: self.now)


async def wait_for_request(app: SpinneyApp, pilot: Pilot[None], request: Request | None) -> None:
    await until(pilot, lambda: app.main.chat.request.request == request)


# Typed text ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("request_", [PLAN, PERMISSION, QUESTION], ids=lambda r: r.kind)
@pytest.mark.parametrize("how", ["typed", "in one burst"])
async def test_no_letter_or_digit_in_the_message_box_decides(
    start: Start, request_: Request, how: str
) -> None:
    client = client_with_request(request_)
    async with start(client) as (app, pilot):
        box = app.main.chat.composer
        for text in ("but first", "actually no", "y", "yy", "s", "dear", "r", "e", "2 cups", "1"):
            if how == "typed":
                await pilot.press(*("space" if char == " " else char for char in text))
            else:
                for char in text:
                    app.post_message(events.Key(char, char))
            await until(pilot, lambda text=text: box.text == text)
            box.text = ""
        assert app.screen is app.main
        assert sent_decisions(client) == []


@pytest.mark.parametrize(
    ("request_", "effect"),
    [
        (PLAN, "enter request this change"),
        (PERMISSION, "enter deny with this reason"),
        (QUESTION, "enter send as answer"),
    ],
)
async def test_the_panel_says_what_enter_does_with_the_text_in_the_box(
    start: Start, request_: Request, effect: str
) -> None:
    client = client_with_request(request_)
    async with start(client) as (app, pilot):
        await pilot.press("n", "o")
        await until(pilot, lambda: effect in panel_text(app))
        await pilot.press("backspace", "backspace")
        await until(pilot, lambda: "enter choose" in panel_text(app))
        assert effect not in panel_text(app)


@pytest.mark.parametrize("key", ["alt+b", "alt+y", "alt+a", "alt+1"])
async def test_no_alt_combination_decides(start: Start, key: str) -> None:
    for request in (PLAN, PERMISSION, QUESTION):
        client = client_with_request(request)
        async with start(client) as (_, pilot):
            await pilot.press(key)
            await pilot.pause()
            assert sent_decisions(client) == []


@pytest.mark.parametrize(
    ("request_", "offer", "command", "given"),
    [
        (PLAN, "say what should change", "send_chat_message", {"message": "smaller"}),
        (
            PERMISSION,
            "write what to do instead",
            "answer_permission",
            {"request_id": "r2", "decision": "deny", "reason": "smaller"},
        ),
    ],
    ids=["a plan is discussed", "a permission is denied"],
)
async def test_text_sent_while_a_request_waits_reaches_the_agent_once(
    start: Start, request_: Request, offer: str, command: str, given: dict[str, str]
) -> None:
    client = client_with_request(request_)
    async with start(client) as (app, pilot):
        assert offer in str(app.main.chat.composer.placeholder)
        await pilot.press(*"smaller", "enter", "enter")
        await until(pilot, lambda: client.called(command))
        assert client.called(command) == [{"session_id": "s1", **given}]
        others = {"send_chat_message", *DECISIONS} - {command}
        assert not [name for name, _ in client.calls if name in others]


async def test_unsent_text_returns_to_the_box_and_the_request_can_be_answered(
    start: Start,
) -> None:
    client = client_with_request(PERMISSION)
    client.refuse("answer_permission", "This permission no longer needs an answer.", "conflict")
    async with start(client) as (app, pilot):
        await pilot.press(*"keep", "enter")
        await until(pilot, lambda: app.main.chat.composer.text == "keep")
        assert notifications(app) == ["This permission no longer needs an answer."]
        del client.answers["answer_permission"]
        app.main.chat.composer.text = ""
        await pilot.press("enter")
        await until(pilot, lambda: len(client.called("answer_permission")) == 2)
        assert client.called("answer_permission")[1]["decision"] == "allow"


async def test_a_click_into_the_panel_leaves_the_focus_in_the_box(start: Start) -> None:
    client = client_with_request(PERMISSION)
    async with start(client) as (app, pilot):
        await pilot.click("#request-text", offset=(2, 0))
        await pilot.press(*"a")
        assert app.main.chat.composer.text == "a"
        assert sent_decisions(client) == []


# Decisions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "decision"),
    [
        (["enter"], "allow"),
        (["down", "enter"], "allow_session"),
        (["up", "enter"], "deny"),
        (["tab", "d"], "deny"),
        (["tab", "s"], "allow_session"),
        (["tab", "down", "down", "enter"], "deny"),
    ],
)
async def test_the_cursor_and_enter_or_a_letter_in_the_panel_decide(
    start: Start, keys: list[str], decision: str
) -> None:
    client = client_with_request(PERMISSION)
    async with start(client) as (_, pilot):
        await pilot.press(*keys)
        await until(pilot, lambda: client.called("answer_permission"))
        assert client.called("answer_permission") == [
            {"session_id": "s1", "request_id": "r2", "decision": decision}
        ]


async def test_one_answer_is_sent_however_often_enter_is_pressed(start: Start) -> None:
    client = client_with_request(PERMISSION)
    async with start(client) as (_, pilot):
        await pilot.press("enter", "enter", "tab", "d", "a")
        await pilot.pause()
        assert [given["decision"] for given in client.called("answer_permission")] == ["allow"]


async def test_an_unbound_letter_in_the_panel_goes_into_the_box(start: Start) -> None:
    client = client_with_request(PERMISSION)
    async with start(client) as (app, pilot):
        await pilot.press("tab", "n", "o")
        await until(pilot, lambda: app.main.chat.composer.text == "no")
        assert sent_decisions(client) == []


async def test_yolo_takes_two_keys_with_a_warning_between_them(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = PanelClock(monkeypatch)
    client = client_with_request(PLAN)
    async with start(client) as (app, pilot):
        clock.now += 5
        await pilot.press("down", "enter")  # in one burst: the warning cannot have been read
        assert "enter confirms: the agent will run everything" in panel_text(app)
        for _ in range(20):  # the key is held down
            clock.now += 0.05
            await pilot.press("enter")
        assert sent_decisions(client) == []
        await pilot.press("up", "down")
        clock.now += 1
        await pilot.press("enter")
        await until(pilot, lambda: client.called("approve_plan"))
        assert client.called("approve_plan")[0]["mode"] == "yolo"


async def test_a_cursor_that_passes_yolo_delays_nothing(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = PanelClock(monkeypatch)
    client = client_with_request(PLAN)
    async with start(client) as (_, pilot):
        clock.now += 5
        await pilot.press("down", "up", "enter")
        await until(pilot, lambda: client.called("approve_plan"))
        assert client.called("approve_plan")[0]["mode"] == "build"


@pytest.mark.parametrize("key", ["escape", "up", "x"])
async def test_any_other_key_takes_the_warning_back(start: Start, key: str) -> None:
    client = client_with_request(PLAN)
    async with start(client) as (app, pilot):
        await pilot.press("down")
        assert "enter confirms" in panel_text(app)
        await pilot.press(key)
        assert "enter confirms" not in panel_text(app)
        assert sent_decisions(client) == []


async def test_an_enter_typed_before_the_request_appeared_does_not_answer_it(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = PanelClock(monkeypatch)
    client = client_with_request(None)
    async with start(client) as (app, pilot):
        feed(client, PERMISSION)
        await wait_for_request(app, pilot, PERMISSION)
        clock.now += 0.7
        await pilot.press("enter")
        clock.now += 0.2
        await pilot.press("enter")  # too soon after the previous one
        assert sent_decisions(client) == []
        clock.now += 0.5
        await pilot.press("x", "backspace", "enter")  # one burst
        assert sent_decisions(client) == []
        clock.now += 0.5
        await pilot.press("enter")
        await until(pilot, lambda: client.called("answer_permission"))


async def test_keys_that_are_processed_late_do_not_answer(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = PanelClock(monkeypatch)
    client = client_with_request(PERMISSION)
    async with start(client) as (app, pilot):
        clock.now += 5

        async def press_late(key: str, seconds: float) -> None:
            event = events.Key(key, None)
            event.time -= seconds
            app.post_message(event)
            await pilot.pause()

        await press_late("enter", 4.5)  # pressed when the request had just appeared
        await press_late("tab", 1)  # pressed to focus the tree
        clock.now += 1
        await press_late("down", 1.8)
        await press_late("enter", 1.8)  # in one burst with the tab
        assert sent_decisions(client) == []
        await press_late("enter", 0)
        await until(pilot, lambda: client.called("answer_permission"))


async def test_a_request_that_just_replaced_another_is_not_answered(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = PanelClock(monkeypatch)
    client = client_with_request(PERMISSION)
    other = PERMISSION.model_copy(update={"id": "r9", "tool_input": {"command": "rm -rf /"}})
    async with start(client) as (app, pilot):
        await pilot.press("tab")
        clock.now += 2
        feed(client, other)
        await wait_for_request(app, pilot, other)
        clock.now += 0.4
        await pilot.press("a", "enter")
        await pilot.click("#request-choices", offset=(4, 0))
        assert sent_decisions(client) == []


# Requests that vanish or change -------------------------------------------------------------------


@pytest.mark.parametrize("request_", [PLAN, PERMISSION, QUESTION], ids=lambda r: r.kind)
async def test_messages_can_be_sent_after_a_request_was_stopped(
    start: Start, request_: Request
) -> None:
    client = client_with_request(request_)
    async with start(client) as (app, pilot):
        feed(client, None, status="idle")
        await wait_for_request(app, pilot, None)
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: client.called("send_chat_message"))
        assert client.called("send_chat_message") == [{"session_id": "s1", "message": "hello"}]


@pytest.mark.parametrize("request_", [PLAN, PERMISSION, QUESTION], ids=lambda r: r.kind)
async def test_text_for_a_vanished_request_needs_a_second_enter(
    start: Start, request_: Request
) -> None:
    client = client_with_request(request_)
    async with start(client) as (app, pilot):
        await pilot.press(*"never")
        feed(client, None)
        await wait_for_request(app, pilot, None)
        await pilot.press("enter")
        await until(pilot, lambda: notifications(app))
        assert "Press enter again" in notifications(app)[0]
        assert app.main.chat.composer.text == "never"
        assert not client.called("send_chat_message")
        await pilot.press("enter")
        await until(pilot, lambda: client.called("send_chat_message"))


@pytest.mark.parametrize("before", [None, PLAN, QUESTION], ids=["nothing", "a plan", "a question"])
async def test_text_begun_before_a_permission_request_needs_a_second_enter(
    start: Start, before: Request | None
) -> None:
    client = client_with_request(before)
    async with start(client) as (app, pilot):
        await pilot.press(*"go on")
        feed(client, PERMISSION)
        await wait_for_request(app, pilot, PERMISSION)
        await until(pilot, lambda: "enter twice deny with this reason" in panel_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: notifications(app))
        assert app.main.chat.composer.text == "go on"
        assert sent_decisions(client) == []
        await pilot.press("enter")
        await until(pilot, lambda: client.called("answer_permission"))
        assert client.called("answer_permission")[0]["reason"] == "go on"


async def test_text_typed_as_a_request_appears_needs_a_second_enter(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = PanelClock(monkeypatch)
    client = client_with_request(None)
    async with start(client) as (app, pilot):
        feed(client, PERMISSION)
        await wait_for_request(app, pilot, PERMISSION)
        clock.now += 0.3
        await pilot.press(*"go on", "enter")
        await until(pilot, lambda: notifications(app))
        assert app.main.chat.composer.text == "go on"
        assert sent_decisions(client) == []


async def test_a_half_typed_answer_survives_a_switch_of_sessions(start: Start) -> None:
    other = a_session(id="s2", **request_fields(PERMISSION))
    sessions = (a_session(**request_fields(QUESTION)), other)
    client = FakeClient(a_state(a_project(), a_worktree(), *sessions))
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        await wait_for_request(app, pilot, QUESTION)
        await pilot.press(*"both")
        app.main.open_session("s2")
        await wait_for_request(app, pilot, PERMISSION)
        assert app.main.chat.composer.text == ""
        app.main.open_session("s1")
        await wait_for_request(app, pilot, QUESTION)
        await pilot.press("enter")
        await until(pilot, lambda: client.called("answer_question"))
        assert client.called("answer_question") == [
            {"session_id": "s1", "request_id": "r3", "answer": {"Red or blue?": "both"}}
        ]


async def test_an_answer_returns_to_the_box_when_its_questions_vanish(
    start: Start,
) -> None:
    two = QUESTION.model_copy(
        update={"questions": [*QUESTION.questions, Question(question="Why?")]}
    )
    client = client_with_request(two)
    async with start(client) as (app, pilot):
        await pilot.press(*"green", "enter")
        await until(pilot, lambda: "Why?" in panel_text(app))
        feed(client, None)
        await until(pilot, lambda: app.main.chat.composer.text == "green")


async def test_focus_returns_to_the_box_when_the_request_vanishes(start: Start) -> None:
    client = client_with_request(PERMISSION)
    async with start(client) as (app, pilot):
        await pilot.press("tab")
        assert app.focused is app.main.chat.request
        feed(client, None)
        await until(pilot, lambda: app.focused is app.main.chat.composer)


# Text of the panel --------------------------------------------------------------------------------


async def test_a_permission_shows_mode_directory_and_the_command_once(start: Start) -> None:
    command = "rm -rf build && [bold]echo[/]"
    request = PERMISSION.model_copy(
        update={
            "tool_input": {"command": command},
            "description": f"Run `{command}`",
            "execution_mode": "plan",
            "directory": "/trees/brave-otter",
            "session_scope": "exactly this command, in plan mode",
        }
    )
    client = client_with_request(request)
    async with start(client) as (app, _):
        text = panel_text(app)
        assert text.count(command) == 1 and "`" not in text
        assert "plan mode in /trees/brave-otter" in text
        assert "Allow for this session  exactly this command, in plan mode" in text


async def test_a_tool_that_waits_for_permission_is_not_shown_as_running(start: Start) -> None:
    client = client_with_request(PERMISSION.model_copy(update={"message_id": "m"}))
    tool = ToolUseBlock(id="t", name="bash", input={"command": "rm x"})
    message = a_message("m", role="assistant", status="processing")
    client.messages["s1"] = [message.model_copy(update={"content": [tool]})]
    async with start(client) as (app, pilot):
        await until(
            pilot, lambda: any("waiting for permission" in row for row in screen_lines(app))
        )
        assert not any("◌ running" in row for row in screen_lines(app))


# Escape -------------------------------------------------------------------------------------------


async def test_the_first_escape_leaves_a_plan_waiting_and_the_second_sets_it_aside(
    start: Start,
) -> None:
    client = client_with_request(PLAN)
    stopped = asyncio.Event()

    async def stop(given: dict[str, Any]) -> None:
        await stopped.wait()
        feed(client, None, status="idle", set_aside_plan=PLAN)

    client.answers["stop_generation"] = stop
    async with start(client) as (app, pilot):
        keys = app.main.query_one(KeyHints)
        await until(pilot, lambda: "esc twice: set aside" in keys.text)
        assert "esc stop" not in keys.text
        await pilot.press("escape")
        await until(pilot, lambda: "The plan keeps waiting" in panel_text(app))
        assert sent_decisions(client) == []
        await pilot.press("escape")
        await until(pilot, lambda: "stopping" in app.main.chat.status.text)
        stopped.set()
        await wait_for_request(app, pilot, None)
        await until(pilot, lambda: any("/approve" in words for words in notifications(app)))
        await until(pilot, lambda: "plan set aside, /approve" in app.main.chat.status.text)
        await pilot.press(*"/approve", "enter")
        await wait_for_request(app, pilot, PLAN)
        await until(pilot, lambda: "plan waits for you" in app.main.chat.status.text)
        await pilot.press("escape")
        await wait_for_request(app, pilot, None)
        await pilot.press(*"/approve", "enter")
        await wait_for_request(app, pilot, PLAN)
        await pilot.press("enter")
        await until(pilot, lambda: client.called("approve_plan"))
        assert client.called("approve_plan") == [
            {"session_id": "s1", "mode": "build", "request_id": "r1"}
        ]


async def test_one_ctrl_c_leaves_a_plan_waiting_and_the_next_sets_it_aside(start: Start) -> None:
    client = client_with_request(PLAN)
    async with start(client) as (app, pilot):
        await pilot.press(*"a note", "ctrl+c")
        await until(pilot, lambda: app.main.chat.composer.text == "")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: "keeps waiting" in panel_text(app))
        assert not client.called("stop_generation")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: client.called("stop_generation"))
