"""Queued messages: shown above the box, edited, removed, and sent in order."""

from dataclasses import replace
from typing import Any

from textual.widgets import Static

from model.domain.events.messages import MessageQueued, MessageRemoved
from model.domain.events.sessions import SessionUpdated
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.messages import ImageBlock
from model.domain.sessions import Pause
from tests.tui.builders import a_message, a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications, visible_text
from tests.tui.waiting import until
from tui.screens.choose import Choose
from tui.shell.app import SpinneyApp


def queued_events(*texts: str) -> list[MessageQueued]:
    return [MessageQueued(session_id="s1", status="sent", message=a_message(t)) for t in texts]


def conversation_text(app: SpinneyApp) -> str:
    """The visible rows of the conversation."""
    transcript = app.main.chat.transcript
    return visible_text(transcript) if transcript is not None else ""


async def test_queued_messages_are_listed_above_the_box_in_order(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        client.feed(*queued_events("one", "two [/]", "three"))
        await until(pilot, lambda: app.main.chat.queue.display)
        await until(pilot, lambda: "three" in app.main.chat.queue.render().plain)
        rows = app.main.chat.queue.render().plain.split("\n")
        assert [row.split("  ")[0] for row in rows] == ["1 next", "2 two [/]", "3 three"]


async def test_a_queued_message_is_only_in_the_queue_until_its_run_starts(
    start: Start,
) -> None:
    client = a_client(status="running")
    client.messages["s1"] = [a_message("before")]
    async with start(client) as (app, pilot):
        await until(pilot, lambda: "before" in conversation_text(app))
        client.feed(*queued_events("one", "two"))
        await until(pilot, lambda: "two" in app.main.chat.queue.render().plain)
        assert "one" not in conversation_text(app)
        assert "two" not in conversation_text(app)
        client.feed(MessageQueued(session_id="s1", status="processing", message=a_message("one")))
        await until(pilot, lambda: "one" in conversation_text(app))
        assert "two" not in conversation_text(app)
        rows = app.main.chat.queue.render().plain.split("\n")
        assert [row.split("  ")[:2] for row in rows] == [["1 next", "two"]]


async def test_messages_queued_before_the_session_was_opened_are_only_in_the_queue(
    start: Start,
) -> None:
    state = a_state(a_project(), a_worktree(), a_session(status="running"))
    client = FakeClient(replace(state, queued={"s1": (a_message("later"),)}))
    client.messages["s1"] = [a_message("before")]
    async with start(client) as (app, pilot):
        await until(pilot, lambda: "before" in conversation_text(app))
        assert "later" in app.main.chat.queue.render().plain
        assert "later" not in conversation_text(app)


async def test_a_queued_message_is_taken_back_into_the_box(start: Start) -> None:
    client = a_client(status="running")
    image = ImageBlock(path="/tmp/map.png")
    async with start(client) as (app, pilot):
        message = a_message("one")
        with_image = message.model_copy(update={"content": [*message.content, image]})
        client.feed(
            MessageQueued(session_id="s1", status="sent", message=with_image),
            MessageQueued(session_id="s1", status="sent", message=a_message("two")),
        )
        await until(pilot, lambda: app.main.chat.queue.display)
        await pilot.press(*"draft")
        app.main.chat.queue.focus()
        await pilot.press("up", "enter")
        await until(pilot, lambda: client.called("remove_queued_message"))
        assert client.called("remove_queued_message")[0]["message_id"] == "one"
        await until(pilot, lambda: app.focused is app.main.chat.composer)
        assert app.main.chat.composer.text == "one [image map.png]\n\ndraft"
        assert app.main.chat.composer.draft.image_paths() == ("/tmp/map.png",)


async def test_a_queued_message_is_removed_by_a_key(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        client.feed(MessageQueued(session_id="s1", status="sent", message=a_message("one")))
        await until(pilot, lambda: app.main.chat.queue.display)
        app.main.chat.queue.focus()
        await pilot.press("delete")
        await until(pilot, lambda: client.called("remove_queued_message"))
        client.feed(MessageRemoved(session_id="s1", message_id="one"))
        await until(pilot, lambda: not app.main.chat.queue.display)
        assert app.focused is app.main.chat.composer
        assert app.main.chat.composer.text == ""


async def test_a_removed_message_of_another_client_can_be_recalled(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        message = a_message("written on the page")
        client.feed(MessageQueued(session_id="s1", status="sent", message=message))
        await until(pilot, lambda: app.main.chat.queue.display)
        app.main.chat.queue.focus()
        await pilot.press("delete")
        client.feed(MessageRemoved(session_id="s1", message_id="written on the page"))
        await until(pilot, lambda: app.focused is app.main.chat.composer)
        await pilot.press("up")
        assert app.main.chat.composer.text == "written on the page"


async def test_unbound_letters_in_the_queue_go_into_the_message_box(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        client.feed(MessageQueued(session_id="s1", status="sent", message=a_message("one")))
        await until(pilot, lambda: app.main.chat.queue.display)
        app.main.chat.queue.focus()
        await pilot.press(*"hello")
        await until(pilot, lambda: app.main.chat.composer.text == "hello")
        assert not client.called("remove_queued_message")


async def test_after_a_click_on_the_queue_typing_goes_into_the_message_box(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        client.feed(*queued_events("one", "two"))
        await until(pilot, lambda: "two" in app.main.chat.queue.render().plain)
        queue = app.main.chat.queue
        await pilot.click(queue, offset=(queue.render_line(0).text.index("remove") + 1, 0))
        await pilot.press(*"else")
        await until(pilot, lambda: app.main.chat.composer.text == "else")
        assert [given["message_id"] for given in client.called("remove_queued_message")] == ["one"]


async def test_delete_removes_no_other_message_when_the_marked_one_starts(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        client.feed(*queued_events("one", "two"))
        await until(pilot, lambda: "two" in app.main.chat.queue.render().plain)
        app.main.chat.queue.focus()
        await pilot.press("up")
        client.feed(MessageQueued(session_id="s1", status="processing", message=a_message("one")))
        await until(pilot, lambda: len(app.main.chat.queue.messages) == 1)
        await pilot.press("delete")
        assert not client.called("remove_queued_message")
        assert app.focused is app.main.chat.composer


async def test_a_newer_message_does_not_move_the_cursor_of_the_queue(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        client.feed(MessageQueued(session_id="s1", status="sent", message=a_message("one")))
        await until(pilot, lambda: app.main.chat.queue.display)
        app.main.chat.queue.focus()
        await until(pilot, lambda: app.focused is app.main.chat.queue)
        client.feed(MessageQueued(session_id="s1", status="sent", message=a_message("two")))
        await until(pilot, lambda: len(app.main.chat.queue.messages) == 2)
        await pilot.press("delete")
        await until(pilot, lambda: client.called("remove_queued_message"))
        assert [given["message_id"] for given in client.called("remove_queued_message")] == ["one"]


async def test_taking_back_a_started_message_reports_an_error_and_makes_no_copy(
    start: Start,
) -> None:
    client = a_client(status="running")
    client.refuse("remove_queued_message", "That message runs already.")
    async with start(client) as (app, pilot):
        client.feed(MessageQueued(session_id="s1", status="sent", message=a_message("one")))
        await until(pilot, lambda: app.main.chat.queue.display)
        app.main.action_do("take_back")
        await until(pilot, lambda: notifications(app))
        assert notifications(app) == ["That message runs already."]
        assert app.main.chat.composer.text == ""


async def test_up_takes_the_newest_queued_message_back_and_offers_no_copy(start: Start) -> None:
    client = a_client(status="running")

    def remove(given: dict[str, Any]) -> None:
        client.feed(MessageRemoved(session_id="s1", message_id=given["message_id"]))

    client.answers["remove_queued_message"] = remove
    async with start(client) as (app, pilot):
        box = app.main.chat.composer
        client.feed(*queued_events("one", "two"))
        await until(pilot, lambda: len(app.main.chat.queue.messages) == 2)
        box.sent_messages = ["before", "one", "two"]
        await app._press_keys(["up", "up"])  # the second while the first is at work
        await until(pilot, lambda: box.text == "two")
        assert [given["message_id"] for given in client.called("remove_queued_message")] == ["two"]
        await until(pilot, lambda: len(app.main.chat.queue.messages) == 1)
        await pilot.press("up", "up")  # “one” is still queued, so it is not recalled
        assert box.text == "before"
        await pilot.press("down", "down")
        assert box.text == "two"


async def test_enter_on_an_empty_box_sends_queued_messages_after_a_stop(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        client.feed(*queued_events("one"))
        await until(pilot, lambda: app.main.chat.queue.messages)
        await pilot.press("enter")
        await pilot.pause()
        assert not client.called("send_queued_messages")
        client.feed(SessionUpdated(session_id="s1", updates={"status": "idle"}))
        await until(pilot, lambda: "send now" in app.main.chat.queue.render().plain)
        # The placeholder is shown while the box is empty; otherwise enter sends its text.
        sends = "Enter sends queued messages"
        await until(pilot, lambda: sends in str(app.main.chat.composer.placeholder))
        assert app.main.chat.status.text.endswith("idle · 1 queued")
        await pilot.press("enter")
        await until(pilot, lambda: client.called("send_queued_messages"))
        assert client.called("send_queued_messages") == [{"session_id": "s1"}]


async def test_enter_sends_messages_held_for_setup_only_after_it_failed(
    start: Start,
) -> None:
    client = a_client(message_count=0)
    worktree = a_worktree(setup_hold="running", running_scripts=["setup"])
    async with start(client) as (app, pilot):
        client.feed(WorktreeUpdated(worktree=worktree), *queued_events("one"))
        await until(pilot, lambda: "send anyway" in app.main.chat.queue.render().plain)
        assert app.main.chat.status.text.endswith("waiting for setup, esc stops it")
        await pilot.press("enter")
        await until(pilot, lambda: any("setup" in words for words in notifications(app)))
        assert not client.called("send_queued_messages")
        failed = worktree.model_copy(update={"setup_hold": "failed", "running_scripts": []})
        client.feed(WorktreeUpdated(worktree=failed))
        await until(pilot, lambda: app.main.chat.status.text.endswith("enter sends anyway"))
        assert "setup script failed" in str(app.main.chat.query_one("#recap", Static).content)
        await pilot.press("enter")
        await until(pilot, lambda: client.called("send_queued_messages"))


async def test_a_message_is_sent_into_the_running_turn(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        assert "alt+s" in str(app.main.chat.composer.placeholder)
        await pilot.press(*"faster", "alt+s")
        await until(pilot, lambda: client.called("send_chat_message"))
        assert client.called("send_chat_message") == [
            {"session_id": "s1", "message": "faster", "steer": True}
        ]
        assert app.main.chat.composer.text == ""


async def test_a_queued_message_is_sent_into_the_running_turn(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        client.feed(*queued_events("one", "two"))
        await until(pilot, lambda: len(app.main.chat.queue.messages) == 2)
        await pilot.press("alt+s")
        await until(pilot, lambda: client.called("steer_queued_message"))
        assert client.called("steer_queued_message") == [{"session_id": "s1", "message_id": "one"}]
        sent = a_message("one").model_copy(update={"steered": True})
        client.feed(MessageQueued(session_id="s1", status="sent", message=sent))
        await until(pilot, lambda: "not read yet" in app.main.chat.queue.render().plain)
        rows = app.main.chat.queue.render().plain.split("\n")
        assert [row.split("  ")[0] for row in rows] == ["1 sent, not read yet", "2 two"]
        assert "send now" in rows[1] and "send now" not in rows[0]
        client.feed(
            MessageQueued(
                session_id="s1",
                status="processing",
                message=sent.model_copy(update={"status": "completed"}),
            )
        )
        await until(pilot, lambda: "read during the turn" in conversation_text(app))


async def test_a_message_with_a_time_shows_it_and_is_not_sent_by_enter(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        later = a_message("later", send_at=2_000_000_000.0)
        client.feed(MessageQueued(session_id="s1", status="sent", message=later))
        await until(pilot, lambda: "later" in app.main.chat.queue.render().plain)
        assert "May" in app.main.chat.queue.render().plain
        assert "send now" not in app.main.chat.queue.render().plain
        await pilot.press("enter")
        client.feed(*queued_events("plain"))
        await until(pilot, lambda: "send now" in app.main.chat.queue.render().plain)
        assert client.called("send_queued_messages") == []


async def test_enter_in_a_paused_session_chooses_when_it_continues(start: Start) -> None:
    pause = Pause(
        kind="overloaded", since=1.0, until=2_000_000_000.0, text="It is busy", attempts=1
    )
    client = a_client(status="paused", pause=pause)
    async with start(client) as (app, pilot):
        await until(pilot, lambda: "Paused" in str(app.main.query_one("#recap", Static).content))
        assert "It is busy. Attempt 2 is at Wed 18 May" in str(
            app.main.query_one("#recap", Static).content
        )
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press("enter")
        await until(pilot, lambda: client.called("resume_session"))
