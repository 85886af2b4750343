"""The chat: writing and sending messages, and answering requests of a session."""

from textual import events

from model.domain.events.messages import ContentDelta, MessageQueued, MessageStarted
from model.domain.events.sessions import SessionCreated, SessionUpdated
from model.domain.messages import Message, TextBlock
from model.domain.requests import Question, QuestionOption, Request
from model.domain.sessions import Session
from tests.tui.builders import a_message, a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications, screen_lines
from tests.tui.waiting import until


def client_with_earlier_message(**session: object) -> FakeClient:
    client = a_client(**session)
    client.messages["s1"] = [a_message("an earlier word")]
    return client


async def test_the_only_session_is_opened_at_the_start_and_its_messages_are_loaded(
    start: Start,
) -> None:
    client = client_with_earlier_message()
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.chat.transcript is not None)
        assert app.main.session is not None
        assert client.called("get_messages")[0]["session_id"] == "s1"


async def test_an_empty_demo_session_mentions_its_help_command(start: Start) -> None:
    client = client_with_earlier_message(backend="demo")
    client.messages.clear()
    async with start(client) as (app, pilot):
        await until(pilot, lambda: any("/demo help" in line for line in screen_lines(app)))


async def test_enter_sends_the_message_and_clears_the_box(start: Start) -> None:
    client = client_with_earlier_message()
    async with start(client) as (app, pilot):
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: client.called("send_chat_message"))
        assert client.called("send_chat_message") == [{"session_id": "s1", "message": "hello"}]
        assert app.main.chat.composer.text == ""


async def test_the_new_line_keys_and_a_trailing_backslash_break_the_line(start: Start) -> None:
    client = client_with_earlier_message()
    async with start(client) as (_, pilot):
        await pilot.press("a", "ctrl+j", "b", "alt+enter", "c", "shift+enter", "d", "\\", "enter")
        await pilot.press("e", "enter")
        await until(pilot, lambda: client.called("send_chat_message"))
        assert client.called("send_chat_message")[0]["message"] == "a\nb\nc\nd\ne"


async def test_text_typed_right_after_enter_is_kept(start: Start) -> None:
    client = client_with_earlier_message()
    async with start(client) as (app, pilot):
        composer = app.main.chat.composer
        for key, character in (("a", "a"), ("enter", "\r"), ("b", "b")):
            composer.post_message(events.Key(key, character))
        await until(pilot, lambda: client.called("send_chat_message"))
        assert client.called("send_chat_message")[0]["message"] == "a"
        assert composer.text == "b"


async def test_an_empty_message_is_not_sent(start: Start) -> None:
    client = client_with_earlier_message()
    async with start(client) as (_, pilot):
        await pilot.press("enter", "space", "enter")
        await pilot.pause()
        assert not client.called("send_chat_message")


async def test_an_unsent_message_returns_to_the_box_with_the_error(start: Start) -> None:
    client = client_with_earlier_message()
    client.refuse("send_chat_message", "The agent [/] is gone.")
    async with start(client) as (app, pilot):
        await pilot.press(*"precious", "enter")
        await until(pilot, lambda: app.main.chat.composer.text == "precious")
        assert notifications(app) == ["The agent [/] is gone."]


async def test_a_long_paste_is_folded_to_a_chip_and_sent_in_full(start: Start) -> None:
    client = client_with_earlier_message()
    text = "\n".join(f"line {number}" for number in range(240))
    async with start(client) as (app, pilot):
        composer = app.main.chat.composer
        composer.post_message(events.Paste(text))
        await until(pilot, lambda: composer.text)
        assert composer.text == "[pasted 240 lines]"
        await pilot.press("!", "enter")
        await until(pilot, lambda: client.called("send_chat_message"))
        assert client.called("send_chat_message")[0]["message"] == text + "!"


async def test_backspace_deletes_a_whole_chip(start: Start) -> None:
    client = client_with_earlier_message()
    async with start(client) as (app, pilot):
        composer = app.main.chat.composer
        composer.post_message(events.Paste("word " * 2000))
        await until(pilot, lambda: composer.text)
        await pilot.press("backspace")
        assert composer.text == ""


async def test_two_pastes_of_the_same_size_are_distinguished(start: Start) -> None:
    client = client_with_earlier_message()
    async with start(client) as (app, pilot):
        composer = app.main.chat.composer
        for letter in "ab":
            composer.post_message(events.Paste(f"{letter}\n" * 30))
        await until(pilot, lambda: "2]" in composer.text)
        await pilot.press("enter")
        await until(pilot, lambda: client.called("send_chat_message"))
        sent = client.called("send_chat_message")[0]["message"]
        assert sent == "a\n" * 30 + "b\n" * 30


async def test_up_recalls_sent_messages_and_down_returns_to_the_draft(
    start: Start,
) -> None:
    client = client_with_earlier_message()
    async with start(client) as (app, pilot):
        await pilot.press(*"one", "enter", *"two", "enter", *"draft", "up")
        assert app.main.chat.composer.text == "two"
        await pilot.press("up", "up")
        assert app.main.chat.composer.text == "one"
        await pilot.press("down", "down")
        assert app.main.chat.composer.text == "draft"


async def test_each_session_keeps_its_draft(start: Start) -> None:
    client = FakeClient(
        a_state(a_project(), a_worktree(), a_session(), a_session(id="s2", name="Other"))
    )
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        await pilot.press(*"first")
        await pilot.press("alt+right")
        await until(pilot, lambda: app.main.chat.key == "s2")
        assert app.main.chat.composer.text == ""
        await pilot.press("alt+left")
        await until(pilot, lambda: app.main.chat.key == "s1")
        assert app.main.chat.composer.text == "first"


async def test_during_a_run_the_box_says_that_enter_queues(start: Start) -> None:
    client = client_with_earlier_message(status="running")
    async with start(client) as (app, pilot):
        assert "Queue a message" in str(app.main.chat.composer.placeholder)
        client.feed(MessageQueued(session_id="s1", message=a_message("later"), status="sent"))
        await until(pilot, lambda: "1 queued" in app.main.chat.status.text)


async def test_escape_stops_the_run(start: Start) -> None:
    client = client_with_earlier_message(status="running")
    async with start(client) as (_, pilot):
        await pilot.press("escape")
        await until(pilot, lambda: client.called("stop_generation"))


async def test_escape_does_nothing_to_an_idle_session(start: Start) -> None:
    client = client_with_earlier_message()
    async with start(client) as (_, pilot):
        await pilot.press("escape")
        await pilot.pause()
        assert not client.called("stop_generation")


async def test_shift_tab_cycles_plan_build_and_yolo_however_fast(start: Start) -> None:
    client = client_with_earlier_message()
    async with start(client) as (_, pilot):
        await pilot.press("shift+tab", "shift+tab", "shift+tab")
        await until(pilot, lambda: len(client.called("update_session")) == 3)
        modes = [call["execution_mode"] for call in client.called("update_session")]
        assert modes == ["build", "yolo", "plan"]


async def test_a_mode_changed_during_a_turn_says_when_it_takes_effect(start: Start) -> None:
    client = client_with_earlier_message(status="running", execution_mode="yolo")
    words = "plan from the next turn on, yolo now"
    async with start(client) as (app, pilot):
        changed = {"execution_mode": "plan", "turn_mode": "yolo"}
        client.feed(SessionUpdated(session_id="s1", updates=changed))
        await until(pilot, lambda: any(words in line for line in screen_lines(app)))
        client.feed(SessionUpdated(session_id="s1", updates={"turn_mode": None}))
        await until(pilot, lambda: not any("from the next" in line for line in screen_lines(app)))


async def test_streamed_text_reaches_the_open_conversation(start: Start) -> None:
    client = client_with_earlier_message(status="running")
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.chat.transcript is not None)
        answer = Message(id="a1", role="assistant", session_id="s1", timestamp=2.0)
        client.feed(MessageStarted(message_id="a1", session_id="s1", message=answer))
        for word in ("Hello", " there"):
            client.feed(
                ContentDelta(message_id="a1", session_id="s1", content=word, content_index=0)
            )
        assert app.main.is_connected
        histories = app.main.mirror.histories
        await until(pilot, lambda: histories.get("s1")[-1].text == "Hello there")  # type: ignore


async def test_events_that_arrive_while_a_page_is_loaded_are_kept(start: Start) -> None:
    client = client_with_earlier_message()
    page = client.answers["get_messages"]

    def read_then_feed(given: dict[str, object]) -> object:
        found = page(given)  # type: ignore[arg-type]
        message = a_message("meanwhile")
        client.feed(MessageQueued(session_id="s1", message=message, status="processing"))
        return found

    client.answers["get_messages"] = read_then_feed
    async with start(client) as (app, pilot):
        assert app.main.is_connected
        histories = app.main.mirror.histories
        await until(pilot, lambda: (found := histories.get("s1")) and len(found) == 2)
        assert [m.text for m in histories.get("s1").messages] == ["an earlier word", "meanwhile"]  # type: ignore


# Requests -----------------------------------------------------------------------------------------


def a_plan() -> dict[str, object]:
    request = Request(id="r1", kind="plan", plan="1. look\n2. mend")
    return {"status": "waiting", "waiting_for": "plan", "request": request}


async def test_enter_on_an_empty_box_confirms_the_selected_choice_of_a_plan(start: Start) -> None:
    client = client_with_earlier_message(**a_plan())
    async with start(client) as (_, pilot):
        await pilot.press("enter")
        await until(pilot, lambda: client.called("approve_plan"))
        assert client.called("approve_plan") == [
            {"session_id": "s1", "mode": "build", "request_id": "r1"}
        ]


async def test_a_plan_continues_in_a_fresh_session_which_is_opened(start: Start) -> None:
    client = client_with_earlier_message(**a_plan())
    fresh = client.state.sessions["s1"].model_copy(update={"id": "s9", "status": "running"})

    def approve(given: dict[str, object]) -> Session:
        client.feed(SessionCreated(session=fresh))
        return fresh

    client.answers["approve_plan"] = approve
    async with start(client) as (app, pilot):
        await pilot.press("tab", "f")
        await until(pilot, lambda: app.main.session is not None and app.main.session.id == "s9")
        assert client.called("approve_plan") == [
            {"session_id": "s1", "mode": "build", "fresh": True, "request_id": "r1"}
        ]
        # The session with the plan was archived.
        [notice] = app._notifications
        assert notice.message == "'Fix the parser' was archived. f8 restores it."


async def test_a_plan_can_be_edited_before_it_is_built(start: Start) -> None:
    client = client_with_earlier_message(**a_plan())
    async with start(client) as (app, pilot):
        await pilot.press("tab", "e")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press("x", "escape")
        await until(pilot, lambda: app.screen is app.main)
        # What was written is there the next time.
        await pilot.press("e")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press("ctrl+g")
        await until(pilot, lambda: client.called("approve_plan"))
        given = client.called("approve_plan")[0]
        assert given["plan"] == "x1. look\n2. mend"
        assert given["mode"] == "build"


def some_questions() -> dict[str, object]:
    questions = [
        Question(
            question="Which colour?",
            options=[QuestionOption(label="red [/]"), QuestionOption(label="blue")],
        ),
        Question(
            question="Which sides?",
            multi_select=True,
            options=[QuestionOption(label="left"), QuestionOption(label="right")],
        ),
        Question(question="Why?"),
    ]
    request = Request(id="r1", kind="question", questions=questions)
    return {"status": "waiting", "waiting_for": "question", "request": request}


async def test_several_questions_are_answered_one_after_the_other(start: Start) -> None:
    client = client_with_earlier_message(**some_questions())
    async with start(client) as (_, pilot):
        await pilot.press("down", "enter", "enter", "down", "enter", "down", "enter")
        await pilot.press(*"because", "enter")
        await until(pilot, lambda: client.called("answer_question"))
        assert client.called("answer_question")[0]["answer"] == {
            "Which colour?": "blue",
            "Which sides?": "left, right",
            "Why?": "because",
        }
        assert not client.called("send_chat_message")


async def test_the_recap_is_shown_above_the_message_box(start: Start) -> None:
    client = client_with_earlier_message(recap="Two tests [b]fail[/].")
    async with start(client) as (app, pilot):
        recap = app.main.chat.query_one("#recap")
        await until(pilot, lambda: recap.display)
        assert str(recap.render()) == "While you were away: Two tests [b]fail[/]."
        client.feed(SessionUpdated(session_id="s1", updates={"recap": None}))
        await until(pilot, lambda: not recap.display)


async def test_the_open_session_is_marked_as_read(start: Start) -> None:
    client = client_with_earlier_message(unread=True)
    async with start(client) as (_, pilot):
        await until(pilot, lambda: client.called("mark_session_read"))


async def test_in_a_worktree_without_a_session_the_first_message_creates_one(
    start: Start,
) -> None:
    client = FakeClient(a_state(a_project(), a_worktree()))

    def create(given: dict[str, object]) -> object:
        session = a_session(id="new")
        client.feed(SessionCreated(session=session))
        return session

    client.answers["create_session"] = create
    async with start(client) as (app, pilot):
        from tui.store.places import Place

        app.main.open_place(Place("worktree", "w1"))
        await pilot.press(*"go", "enter")
        await until(pilot, lambda: client.called("send_chat_message"))
        assert client.called("send_chat_message")[0] == {"session_id": "new", "message": "go"}


async def test_an_empty_message_with_only_text_blocks_is_shown(start: Start) -> None:
    client = client_with_earlier_message()
    client.messages["s1"].append(
        Message(id="x", role="assistant", timestamp=1.0, content=[TextBlock(text="\x1b[31m[/]")])
    )
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.chat.transcript is not None)
        assert app.is_running
