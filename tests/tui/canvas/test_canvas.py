"""The canvas: all sessions on one screen, those that need a person first."""

import asyncio
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input
from textual.widgets import OptionList as CommandList

from model.base.errors import SpinneyError
from model.domain import events as e
from model.domain.resources import Message, Question, QuestionOption, Request, Session, TextBlock
from tests.tui.conftest import Start, until
from tests.tui.every_screen import a_busy_state
from tests.tui.fake_client import FakeClient, a_message, a_project, a_session, a_state, a_worktree
from tui.canvas.dialogs import Answer, AskMessage
from tui.canvas.screen import Canvas
from tui.canvas.view import CanvasView
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


def some_sessions(*more: Session) -> FakeClient:
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


async def opened(app: SpinneyApp, pilot: "Pilot[None]") -> Canvas:
    await pilot.press("ctrl+o")
    await until(pilot, lambda: isinstance(app.screen, Canvas) and app.screen.view.cells)
    assert isinstance(app.screen, Canvas)
    return app.screen


def order(canvas: Canvas) -> list[str]:
    return [cell.id for cell in canvas.view.cells]


def shown(view: CanvasView) -> str:
    return "\n".join(view.render_line(y).text.rstrip() for y in range(view.size.height))


async def test_those_that_need_a_person_stand_first_then_runs_news_failures_and_the_rest(
    start: Start,
) -> None:
    async with start(some_sessions()) as (app, pilot):
        canvas = await opened(app, pilot)
        assert order(canvas) == ["asks", "runs", "done", "failed", "idle"]
        text = shown(canvas.view)
        assert "? Asking one" in text and "alpha ▸ brave-otter · Claude Code" in text
        assert "allow bash: make" in text
        assert "1 needs you · 1 running" in canvas.query_one("#top", Line).text


async def test_what_happens_while_it_closes_is_not_drawn_in_it(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_told_late(_: FullScreen) -> None:
        """Its parts have gone before."""

    monkeypatch.setattr(FullScreen, "on_unmount", is_told_late)
    client = some_sessions()
    async with start(client) as (app, pilot):
        canvas = await opened(app, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: not canvas.query(CanvasView))
        client.feed(e.SessionUpdated(session_id="idle", updates={"name": "Another one"}))
        await until(pilot, lambda: app.main.state.sessions["idle"].name == "Another one")
        await opened(app, pilot)


async def test_a_cell_shows_the_last_lines_of_what_streams_and_of_what_was_said(
    start: Start,
) -> None:
    client = some_sessions(a_session(id="old", name="Old one", message_count=1))
    client.messages["old"] = [a_message("first\nsecond\nlast of all", session_id="old")]
    async with start(client) as (app, pilot):
        canvas = await opened(app, pilot)
        await until(pilot, lambda: "last of all" in shown(canvas.view))
        message = Message(
            id="m", role="assistant", session_id="runs", timestamp=1.0, status="processing",
            content=[TextBlock(text="looking at ")],
        )  # fmt: skip
        client.feed(
            e.MessageStarted(message_id="m", session_id="runs", message=message),
            e.ContentDelta(
                message_id="m", session_id="runs", content="the parser", content_index=0
            ),
        )
        await until(pilot, lambda: "looking at the parser" in shown(canvas.view))


async def test_streaming_draws_only_the_cell_that_grew_and_lays_nothing_out(start: Start) -> None:
    client = some_sessions()
    message = Message(
        id="m", role="assistant", session_id="runs", timestamp=1.0, status="processing"
    )
    async with start(client) as (app, pilot):
        canvas = await opened(app, pilot)
        client.feed(e.MessageStarted(message_id="m", session_id="runs", message=message))
        await pilot.pause()
        regions: list[Any] = []
        layouts: list[bool] = []
        refresh = canvas.view.refresh

        def noted(*given: Any, layout: bool = False, **options: Any) -> CanvasView:
            regions.extend(given)
            layouts.append(layout)
            return refresh(*given, layout=layout, **options)

        canvas.view.refresh = noted  # type: ignore[method-assign]
        for word in ("one ", "two ", "three"):
            client.feed(
                e.ContentDelta(message_id="m", session_id="runs", content=word, content_index=0)
            )
        await until(pilot, lambda: "one two three" in shown(canvas.view))
        assert {(region.y, region.height) for region in regions} == {(4, 4)}
        assert not any(layouts)
        assert len(canvas.query("*")) <= 5


async def test_letters_filter_and_escape_takes_the_filter_back_before_it_leaves(
    start: Start,
) -> None:
    async with start(some_sessions()) as (app, pilot):
        canvas = await opened(app, pilot)
        await pilot.press(*"one beta")
        await until(pilot, lambda: order(canvas) == ["runs"])
        await pilot.press("escape")
        await until(pilot, lambda: len(order(canvas)) == 5)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_enter_opens_the_session_under_the_cursor(start: Start) -> None:
    async with start(some_sessions()) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.main.session is not None and app.main.session.id == "runs"


async def test_the_cursor_follows_its_session_when_the_order_changes(start: Start) -> None:
    client = some_sessions()
    async with start(client) as (app, pilot):
        canvas = await opened(app, pilot)
        await pilot.press("end")
        assert canvas.view.session_id == "idle"
        client.feed(
            e.SessionUpdated(
                session_id="idle", updates={"status": "waiting", "request": QUESTION.model_dump()}
            )
        )
        await until(pilot, lambda: order(canvas).index("idle") < 2)
        assert canvas.view.session_id == "idle"


async def test_the_same_message_goes_to_all_that_are_marked(start: Start) -> None:
    client = some_sessions()
    async with start(client) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("down", "tab", "tab", "ctrl+e")
        await until(pilot, lambda: isinstance(app.screen, AskMessage))
        await pilot.press(*"go on", "enter")
        await until(pilot, lambda: len(client.called("send_chat_message")) == 2)
        assert client.called("send_chat_message") == [
            {"session_id": "runs", "message": "go on"},
            {"session_id": "done", "message": "go on"},
        ]


async def test_several_are_stopped_at_once_and_a_refusal_names_its_session(start: Start) -> None:
    client = some_sessions()

    def stop(given: dict[str, Any]) -> None:
        if given["session_id"] == "runs":
            raise SpinneyError("It does not listen.", "invalid_request")

    client.answers["stop_generation"] = stop
    async with start(client) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("tab", "tab", "ctrl+x")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: len(client.called("stop_generation")) == 2)
        await until(pilot, lambda: len(app._notifications) == 2)
        told = sorted(notification.message for notification in app._notifications)
        assert told == ["1 stopped.", "Running one: It does not listen."]


async def test_archiving_what_is_at_work_asks_first(start: Start) -> None:
    client = some_sessions()
    async with start(client) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("delete")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("escape")
        assert client.called("archive_session") == []
        client.feed(e.PreferencesUpdated(changes={"confirm_session_close": False}))
        await until(pilot, lambda: not app.main.state.preferences.confirm_session_close)
        await pilot.press("end", "delete")
        await until(pilot, lambda: client.called("archive_session") == [{"session_id": "idle"}])


async def test_a_permission_is_given_from_the_canvas(start: Start) -> None:
    client = some_sessions()
    async with start(client) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, Answer))
        await pilot.press("enter")
        await until(pilot, lambda: client.called("answer_permission"))
        assert client.called("answer_permission") == [
            {"session_id": "asks", "request_id": "r1", "decision": "allow"}
        ]
        client.feed(
            e.SessionUpdated(session_id="asks", updates={"status": "running", "request": None})
        )
        await until(pilot, lambda: isinstance(app.screen, Canvas))


async def test_a_question_is_answered_from_the_canvas_by_the_cursor_or_in_words(
    start: Start,
) -> None:
    client = some_sessions(
        a_session(id="q1", status="waiting", waiting_for="question", request=QUESTION),
        a_session(id="q2", status="waiting", waiting_for="question", request=QUESTION),
    )
    async with start(client) as (app, pilot):
        canvas = await opened(app, pilot)
        for session_id, keys in (("q1", ["enter"]), ("q2", [*"Redis", "enter"])):
            canvas.view.action_move_to(order(canvas).index(session_id))
            await pilot.press("ctrl+r")
            await until(pilot, lambda: isinstance(app.screen, Answer))
            await pilot.press(*keys)
            await until(
                pilot, lambda: client.called("answer_question")[-1:] != []
                and client.called("answer_question")[-1]["session_id"] == session_id  # noqa: B023
            )  # fmt: skip
            client.feed(e.SessionUpdated(session_id=session_id, updates={"status": "running"}))
            await until(pilot, lambda: app.screen is canvas)
        answers = [given["answer"] for given in client.called("answer_question")]
        assert answers == [{"Which store?": "SQLite"}, {"Which store?": "Redis"}]


async def test_list_or_grid_is_a_preference_and_f3_shows_one_project(start: Start) -> None:
    client = some_sessions()
    async with start(client) as (app, pilot):
        app.main.open_session("runs")
        canvas = await opened(app, pilot)
        assert "┌" not in shown(canvas.view)
        await pilot.press("f2")
        await until(pilot, lambda: client.called("update_preferences"))
        assert client.called("update_preferences") == [{"changes": {"canvas_layout": "grid"}}]
        client.feed(e.PreferencesUpdated(changes={"canvas_layout": "grid"}))
        await until(pilot, lambda: "┏" in shown(canvas.view))
        await pilot.press("f3")
        await until(pilot, lambda: order(canvas) == ["runs"])
        assert "beta" in canvas.query_one("#top", Line).text


async def test_everything_fits_every_size(start: Start) -> None:
    for size in ((80, 24), (120, 40), (200, 50), (60, 15)):
        client = some_sessions(*(a_session(id=f"n{n}", name="long " * 40) for n in range(40)))
        async with start(client, size=size) as (app, pilot):
            canvas = await opened(app, pilot)
            for layout in ("list", "grid"):
                canvas.view.set_layout(layout)
                await pilot.press("end", "home", "pagedown")
                rows = [canvas.view.render_line(y) for y in range(canvas.view.size.height)]
                assert {row.cell_length for row in rows} == {canvas.view.size.width}


async def test_hostile_text_is_shown_and_changes_nothing(start: Start) -> None:
    name = "[/] [@click=app.exit]x[/] \x1b[31mred"
    request = Request(id="r", kind="plan", plan=f"\x1b]0;title\x07{name}")
    client = some_sessions(
        a_session(id="evil", name=name, status="waiting", waiting_for="plan", request=request)
    )
    async with start(client) as (app, pilot):
        canvas = await opened(app, pilot)
        text = shown(canvas.view)
        assert "[/] [@click=app.exit]x[/] ␛[31mred" in text and "\x1b" not in text
        canvas.view.action_move_to(order(canvas).index("evil"))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, Answer))
        assert app.is_running


async def test_next_waiting_leaves_the_canvas_for_the_session_that_needs_a_person(
    start: Start,
) -> None:
    async with start(some_sessions()) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("f6")
        await until(pilot, lambda: app.screen is app.main and app.main.session is not None)
        assert app.main.session is not None and app.main.session.id == "asks"


async def test_the_palette_knows_the_canvas_and_what_it_does(start: Start) -> None:
    async with start(some_sessions()) as (app, pilot):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.main and app.screen.query(Input))
        await pilot.press(*"canvas")
        await until(pilot, lambda: app.screen.query_one(CommandList).option_count == 1)
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, Canvas))


async def test_while_nothing_is_known_the_canvas_says_that_it_loads(start: Start) -> None:
    client = a_busy_state()
    client._updates = asyncio.Queue()  # the state is still on its way
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
