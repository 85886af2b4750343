"""The canvas: all sessions on one screen, those that wait for the user first."""

import asyncio
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input
from textual.widgets import OptionList as CommandList

from model.base.errors import SpinneyError
from model.domain.events.messages import ContentDelta, MessageStarted
from model.domain.events.program import PreferencesUpdated
from model.domain.events.sessions import SessionCreated, SessionUpdated
from model.domain.messages import Message, TextBlock, ToolUseBlock
from model.domain.requests import Question, QuestionOption, Request
from model.domain.sessions import Session
from tests.tui.builders import a_message, a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.every_screen import NOW, ScreenCase, a_busy_state, action, show_screen
from tests.tui.fake_client import FakeClient
from tests.tui.reading import notifications, screen_text, visible_text
from tests.tui.waiting import until
from tui.canvas.dialogs import Answer, AskMessage
from tui.canvas.screen import Canvas
from tui.canvas.view import CanvasView
from tui.draw.motion import FRAMES
from tui.screens.dialog import Confirm
from tui.screens.full import FullScreen
from tui.shell.app import SpinneyApp
from tui.widgets.line import Line

PERMISSION = Request(id="r1", kind="permission", tool_name="bash", tool_input={"command": "make"})
QUESTION = Request(
    id="r2",
    kind="question",
    questions=[Question(question="Which store?", options=[QuestionOption(label="SQLite")])],
)


def client_with_sessions(*more: Session) -> FakeClient:
    return FakeClient(
        a_state(
            a_project(),
            a_project(id="p2", name="beta", added_at=2.0),
            a_worktree(),
            a_worktree(id="w2", project_id="p2", name="calm-heron"),
            a_session(id="idle", name="Idle one", updated_at=9.0),
            a_session(id="failed", name="Failed one", status="failed"),
            a_session(id="done", name="Done one", unread=True),
            a_session(id="runs", name="Running one", status="running", worktree_id="w2"),
            a_session(
                id="asks", name="Asking one", status="waiting", waiting_for="permission",
                request=PERMISSION,
            ),
            *more,
        )
    )  # fmt: skip


async def open_canvas(app: SpinneyApp, pilot: "Pilot[None]") -> Canvas:
    await pilot.press("ctrl+o")
    await until(pilot, lambda: isinstance(app.screen, Canvas) and app.screen.view.cells)
    assert isinstance(app.screen, Canvas)
    return app.screen


def session_ids(canvas: Canvas) -> list[str]:
    return [cell.id for cell in canvas.view.cells]


async def test_waiting_sessions_come_first_then_running_unread_failed_and_idle_ones(
    start: Start,
) -> None:
    async with start(client_with_sessions()) as (app, pilot):
        canvas = await open_canvas(app, pilot)
        assert session_ids(canvas) == ["asks", "runs", "done", "failed", "idle"]
        text = visible_text(canvas.view)
        assert "? Asking one" in text and "alpha ▸ brave-otter · Claude Code" in text
        assert "allow bash: make" in text
        assert "1 needs you · 1 running" in canvas.query_one("#top", Line).text


async def test_events_that_arrive_while_it_closes_are_not_drawn(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_unmount(_: FullScreen) -> None:
        """Stay subscribed, as if this event came long after the widgets were removed."""

    monkeypatch.setattr(FullScreen, "on_unmount", on_unmount)
    client = client_with_sessions()
    async with start(client) as (app, pilot):
        canvas = await open_canvas(app, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: not canvas.query(CanvasView))
        client.feed(SessionUpdated(session_id="idle", updates={"name": "Another one"}))
        await until(pilot, lambda: app.main.state.sessions["idle"].name == "Another one")
        await open_canvas(app, pilot)


async def test_a_cell_shows_the_last_lines_of_streamed_and_of_stored_messages(
    start: Start,
) -> None:
    client = client_with_sessions(a_session(id="old", name="Old one", message_count=1))
    client.messages["old"] = [a_message("first\nsecond\nlast of all", session_id="old")]
    async with start(client) as (app, pilot):
        canvas = await open_canvas(app, pilot)
        await until(pilot, lambda: "last of all" in visible_text(canvas.view))
        message = Message(
            id="m", role="assistant", session_id="runs", timestamp=1.0, status="processing",
            content=[TextBlock(text="looking at ")],
        )  # fmt: skip
        client.feed(
            MessageStarted(message_id="m", session_id="runs", message=message),
            ContentDelta(message_id="m", session_id="runs", content="the parser", content_index=0),
        )
        await until(pilot, lambda: "looking at the parser" in visible_text(canvas.view))


@pytest.mark.painted
async def test_streaming_redraws_only_the_changed_cell_without_a_layout(start: Start) -> None:
    client = client_with_sessions()
    message = Message(
        id="m", role="assistant", session_id="runs", timestamp=1.0, status="processing"
    )
    async with start(client) as (app, pilot):
        canvas = await open_canvas(app, pilot)
        client.feed(MessageStarted(message_id="m", session_id="runs", message=message))
        await pilot.pause()
        regions: list[Any] = []
        layouts: list[bool] = []
        refresh = canvas.view.refresh

        def record_refresh(*given: Any, layout: bool = False, **options: Any) -> CanvasView:
            regions.extend(given)
            layouts.append(layout)
            return refresh(*given, layout=layout, **options)

        canvas.view.refresh = record_refresh  # type: ignore[method-assign]
        for word in ("one ", "two ", "three"):
            client.feed(
                ContentDelta(message_id="m", session_id="runs", content=word, content_index=0)
            )
        await until(pilot, lambda: "one two three" in visible_text(canvas.view))
        assert {(region.y, region.height) for region in regions} == {(4, 4)}
        assert not any(layouts)
        assert len(canvas.query("*")) <= 5


async def test_typing_filters_and_escape_clears_the_filter_before_it_closes(
    start: Start,
) -> None:
    async with start(client_with_sessions()) as (app, pilot):
        canvas = await open_canvas(app, pilot)
        await pilot.press(*"one beta")
        await until(pilot, lambda: session_ids(canvas) == ["runs"])
        await pilot.press("escape")
        await until(pilot, lambda: len(session_ids(canvas)) == 5)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_enter_opens_the_session_under_the_cursor(start: Start) -> None:
    async with start(client_with_sessions()) as (app, pilot):
        await open_canvas(app, pilot)
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.main.session is not None and app.main.session.id == "runs"


async def test_the_cursor_follows_its_session_when_the_order_changes(start: Start) -> None:
    client = client_with_sessions()
    async with start(client) as (app, pilot):
        canvas = await open_canvas(app, pilot)
        await pilot.press("end")
        assert canvas.view.session_id == "idle"
        client.feed(
            SessionUpdated(
                session_id="idle", updates={"status": "waiting", "request": QUESTION.model_dump()}
            )
        )
        await until(pilot, lambda: session_ids(canvas).index("idle") < 2)
        assert canvas.view.session_id == "idle"


async def test_a_message_is_sent_to_all_marked_sessions(start: Start) -> None:
    client = client_with_sessions()
    async with start(client) as (app, pilot):
        await open_canvas(app, pilot)
        await pilot.press("down", "tab", "tab", "ctrl+e")
        await until(pilot, lambda: isinstance(app.screen, AskMessage))
        await pilot.press(*"go on", "enter")
        await until(pilot, lambda: len(client.called("send_chat_message")) == 2)
        assert client.called("send_chat_message") == [
            {"session_id": "runs", "message": "go on"},
            {"session_id": "done", "message": "go on"},
        ]


async def test_several_are_stopped_at_once_and_an_error_names_its_session(start: Start) -> None:
    client = client_with_sessions()

    def stop(given: dict[str, Any]) -> None:
        if given["session_id"] == "runs":
            raise SpinneyError("It does not listen.", "invalid_request")

    client.answers["stop_generation"] = stop
    async with start(client) as (app, pilot):
        await open_canvas(app, pilot)
        await pilot.press("tab", "tab", "ctrl+x")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: len(client.called("stop_generation")) == 2)
        await until(pilot, lambda: len(app._notifications) == 2)
        messages = sorted(notifications(app))
        assert messages == ["1 stopped.", "Running one: It does not listen."]


async def test_archiving_an_active_session_asks_first(start: Start) -> None:
    client = client_with_sessions()
    async with start(client) as (app, pilot):
        await open_canvas(app, pilot)
        await pilot.press("delete")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("escape")
        assert client.called("archive_session") == []
        client.feed(PreferencesUpdated(changes={"confirm_session_close": False}))
        await until(pilot, lambda: not app.main.state.preferences.confirm_session_close)
        await pilot.press("end", "delete")
        await until(pilot, lambda: client.called("archive_session") == [{"session_id": "idle"}])


async def test_a_permission_is_answered_from_the_canvas(start: Start) -> None:
    client = client_with_sessions()
    async with start(client) as (app, pilot):
        await open_canvas(app, pilot)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, Answer))
        await pilot.press("enter")
        await until(pilot, lambda: client.called("answer_permission"))
        assert client.called("answer_permission") == [
            {"session_id": "asks", "request_id": "r1", "decision": "allow"}
        ]
        client.feed(
            SessionUpdated(session_id="asks", updates={"status": "running", "request": None})
        )
        await until(pilot, lambda: isinstance(app.screen, Canvas))


async def test_a_plan_is_read_without_its_markup(start: Start) -> None:
    request = Request(id="r", kind="plan", plan="## A change\n\nWrite `a.py` **first**")
    client = client_with_sessions(
        a_session(id="planned", status="waiting", waiting_for="plan", request=request)
    )
    async with start(client) as (app, pilot):
        canvas = await open_canvas(app, pilot)
        assert "▲ All sessions" in screen_text(app)
        canvas.view.action_move_to(session_ids(canvas).index("planned"))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, Answer))
        await until(pilot, lambda: "Write a.py first" in screen_text(app))
        assert "## A change" not in screen_text(app)


async def test_a_question_is_answered_from_the_canvas_by_the_cursor_or_in_words(
    start: Start,
) -> None:
    client = client_with_sessions(
        a_session(id="q1", status="waiting", waiting_for="question", request=QUESTION),
        a_session(id="q2", status="waiting", waiting_for="question", request=QUESTION),
    )
    async with start(client) as (app, pilot):
        canvas = await open_canvas(app, pilot)
        for session_id, keys in (("q1", ["enter"]), ("q2", [*"!Redis", "enter"])):
            canvas.view.action_move_to(session_ids(canvas).index(session_id))
            await pilot.press("ctrl+r")
            await until(pilot, lambda: isinstance(app.screen, Answer))
            await pilot.press(*keys)
            await until(
                pilot, lambda: client.called("answer_question")[-1:] != []
                and client.called("answer_question")[-1]["session_id"] == session_id  # noqa: B023
            )  # fmt: skip
            client.feed(SessionUpdated(session_id=session_id, updates={"status": "running"}))
            await until(pilot, lambda: app.screen is canvas)
        answers = [given["answer"] for given in client.called("answer_question")]
        assert answers == [{"Which store?": "SQLite"}, {"Which store?": "!Redis"}]


async def test_list_or_grid_is_a_preference_and_f3_shows_one_project(start: Start) -> None:
    client = client_with_sessions()
    async with start(client) as (app, pilot):
        app.main.open_session("runs")
        canvas = await open_canvas(app, pilot)
        assert "┌" not in visible_text(canvas.view)
        await pilot.press("f2")
        await until(pilot, lambda: client.called("update_preferences"))
        assert client.called("update_preferences") == [{"changes": {"canvas_layout": "grid"}}]
        client.feed(PreferencesUpdated(changes={"canvas_layout": "grid"}))
        await until(pilot, lambda: "┏" in visible_text(canvas.view))
        await pilot.press("f3")
        await until(pilot, lambda: session_ids(canvas) == ["runs"])
        assert "beta" in canvas.query_one("#top", Line).text


async def test_rows_fit_the_width_at_every_size(start: Start) -> None:
    for size in ((80, 24), (120, 40), (200, 50), (60, 15)):
        client = client_with_sessions(
            *(a_session(id=f"n{n}", name="long " * 40) for n in range(40))
        )
        async with start(client, size=size) as (app, pilot):
            canvas = await open_canvas(app, pilot)
            for layout in ("list", "grid"):
                canvas.view.set_layout(layout)
                await pilot.press("end", "home", "pagedown")
                rows = [canvas.view.render_line(y) for y in range(canvas.view.size.height)]
                assert {row.cell_length for row in rows} == {canvas.view.size.width}


async def test_hostile_text_is_escaped_and_has_no_effect(start: Start) -> None:
    name = "[/] [@click=app.exit]x[/] \x1b[31mred"
    request = Request(id="r", kind="plan", plan=f"\x1b]0;title\x07{name}")
    client = client_with_sessions(
        a_session(id="evil", name=name, status="waiting", waiting_for="plan", request=request)
    )
    async with start(client) as (app, pilot):
        canvas = await open_canvas(app, pilot)
        text = visible_text(canvas.view)
        assert "[/] [@click=app.exit]x[/] ␛[31mred" in text and "\x1b" not in text
        canvas.view.action_move_to(session_ids(canvas).index("evil"))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, Answer))
        assert app.is_running


async def test_next_waiting_closes_the_canvas_and_opens_the_waiting_session(
    start: Start,
) -> None:
    async with start(client_with_sessions()) as (app, pilot):
        await open_canvas(app, pilot)
        await pilot.press("f6")
        await until(pilot, lambda: app.screen is app.main and app.main.session is not None)
        assert app.main.session is not None and app.main.session.id == "asks"


async def test_the_canvas_is_opened_from_the_palette(start: Start) -> None:
    async with start(client_with_sessions()) as (app, pilot):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.main and app.screen.query(Input))
        await pilot.press(*"canvas")
        await until(pilot, lambda: app.screen.query_one(CommandList).option_count == 1)
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, Canvas))


async def test_the_canvas_says_that_it_loads_until_the_state_arrives(start: Start) -> None:
    client = a_busy_state()
    client._updates = asyncio.Queue()  # the state has not arrived yet
    async with start(client) as (app, pilot):
        app.main.action_do("canvas")
        await until(pilot, lambda: isinstance(app.screen, Canvas))
        canvas = app.screen
        assert isinstance(canvas, Canvas)
        await until(pilot, lambda: canvas.view.empty == "Loading …")
        assert "running" not in canvas.query_one("#top", Line).text
        client.reload()
        await until(pilot, lambda: canvas.view.cells)
        assert "need you" in canvas.query_one("#top", Line).text


async def test_what_runs_says_what_it_does_and_for_how_long() -> None:
    client = a_busy_state()
    running = a_session(id="runs", name="Running one", status="running", message_count=1)
    client.feed(SessionCreated(session=running))
    answer = a_message(
        "", id="m1", session_id="runs", role="assistant", status="processing", timestamp=NOW - 83,
        content=[
            TextBlock(text="I run the tests again."),
            ToolUseBlock(id="t1", name="bash", input={"command": "make test"}),
        ],
    )  # fmt: skip
    client.feed(MessageStarted(message_id="m1", session_id="runs", message=answer))
    shown = ScreenCase("canvas", action("canvas"), lambda: client)
    async with show_screen(shown, SPINNEY_MOTION="1") as (app, pilot):
        canvas = app.screen
        assert isinstance(canvas, Canvas)
        rows = visible_text(canvas.view).splitlines()
        at = next(y for y, row in enumerate(rows) if "Running one" in row)
        assert rows[at].strip()[0] in FRAMES
        assert [row.strip() for row in rows[at + 1 : at + 3]] == [
            "I run the tests again.",
            "run make test · 1:23",
        ]
        await until(pilot, lambda: visible_text(canvas.view).splitlines()[at] != rows[at])
