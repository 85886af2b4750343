"""The side pane of wide terminals: steps of the open session, and changes as they happen."""

from typing import Any

from model.api.changes import FileDiff
from model.domain.events.messages import BlockChanged, ContentDelta, MessageStarted, ToolUsed
from model.domain.events.sessions import SessionCreated, SessionUpdated
from model.domain.events.worktrees import WorktreeCreated
from model.domain.messages import Message, ToolResultBlock, ToolUseBlock
from tests.tui.builders import a_message, a_session, a_worktree, make_changes
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications, screen_text, visible_text
from tests.tui.waiting import until
from tui.transcript.view import TranscriptView

DIFF = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-old {0}\n+new {0}\n"


def client_with_changes(*paths: str) -> FakeClient:
    client = a_client(status="running")

    def diff(given: dict[str, Any]) -> FileDiff:
        path = given["path"]
        return FileDiff(path=path, text=DIFF.format(path), digest="d", hunks=["h"])

    client.answers |= {
        "list_changed_files": lambda given: make_changes(*paths),
        "get_file_diff": diff,
    }
    return client


def edit(client: FakeClient, path: str) -> None:
    """An agent edits a file."""
    started = a_message("", id="m9", role="assistant", status="processing", session_id="s1")
    given = {"file_path": path, "old_content": "", "new_content": "x"}
    client.feed(
        MessageStarted(message_id="m9", session_id="s1", message=started),
        ToolUsed(
            message_id="m9", session_id="s1", content_index=0, tool_name="edit",
            tool_input=given, tool_use_id="t",
        ),
        BlockChanged(
            session_id="s1", message_id="m9", content_index=1,
            block=ToolResultBlock(tool_use_id="t"),
        ),
    )  # fmt: skip


async def test_a_wide_terminal_shows_the_changes_of_the_open_worktree(start: Start) -> None:
    async with start(client_with_changes("a.py", "b.py"), size=(200, 50)) as (app, pilot):
        await until(pilot, lambda: "new a.py" in screen_text(app))
        assert "▸ a.py" in screen_text(app)
        assert "Changes  2 files" in screen_text(app)


async def test_it_follows_the_file_that_the_agent_edits(start: Start) -> None:
    client = client_with_changes("a.py", "b.py")
    async with start(client, size=(200, 50)) as (app, pilot):
        await until(pilot, lambda: "new a.py" in screen_text(app))
        edit(client, "b.py")
        await until(pilot, lambda: "new b.py" in screen_text(app))
        assert "new a.py" not in screen_text(app)


async def test_a_click_follows_a_file_and_nothing_left_is_said(start: Start) -> None:
    client = client_with_changes("a.py", "b.py")
    async with start(client, size=(200, 50)) as (app, pilot):
        await until(pilot, lambda: "new a.py" in screen_text(app))
        await pilot.click("#side-view", offset=(4, 1))
        await until(pilot, lambda: "new b.py" in screen_text(app))
        client.answers["list_changed_files"] = lambda given: make_changes()
        edit(client, "a.py")
        await until(pilot, lambda: "No unstaged changes." in screen_text(app))


async def test_one_key_shows_changes_a_second_session_and_nothing(start: Start) -> None:
    client = client_with_changes("a.py")
    client.feed(SessionCreated(session=a_session(id="s2", name="The other one")))
    client.messages["s2"] = [a_message("What the other one was told", session_id="s2")]
    async with start(client, size=(200, 50)) as (app, pilot):
        app.main.open_session("s2")
        app.main.open_session("s1")
        await until(pilot, lambda: "new a.py" in screen_text(app))
        await pilot.press("shift+f2")
        await until(pilot, lambda: "What the other one was told" in screen_text(app))
        assert "new a.py" not in screen_text(app)
        await pilot.press("shift+f2")
        await until(pilot, lambda: "What the other one was told" not in screen_text(app))
        assert not app.main.has_class("side")
        await pilot.press("shift+f2")
        await until(pilot, lambda: "new a.py" in screen_text(app))


async def test_a_second_session_is_live_and_changes_places_with_the_open_one(start: Start) -> None:
    client = client_with_changes()
    client.feed(SessionCreated(session=a_session(id="s2", name="The other one")))
    client.messages["s1"] = [a_message("Told to the first")]
    async with start(client, size=(200, 50)) as (app, pilot):
        app.main.open_session("s2")
        app.main.open_session("s1")
        await pilot.press("shift+f2")
        answer = a_message("", id="m9", role="assistant", status="processing", session_id="s2")
        client.feed(
            MessageStarted(message_id="m9", session_id="s2", message=answer),
            ContentDelta(message_id="m9", session_id="s2", content="It streams.", content_index=0),
        )
        await until(pilot, lambda: "It streams." in screen_text(app))
        await pilot.press("ctrl+6")
        await until(pilot, lambda: app.main.session.id == "s2")  # type: ignore[union-attr]
        side = app.main.query_one("#side-transcript", TranscriptView)
        await until(pilot, lambda: "Told to the first" in visible_text(side))


async def test_there_is_no_side_pane_where_there_is_no_room(start: Start) -> None:
    async with start(client_with_changes("a.py"), size=(200, 50)) as (app, pilot):
        await until(pilot, lambda: "new a.py" in screen_text(app))
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "new a.py" not in screen_text(app))
        await pilot.press("shift+f2")
        sentence = "The side pane needs a terminal of at least 150 columns."
        await until(pilot, lambda: sentence in notifications(app))


def todo_list(*steps: tuple[str, str]) -> dict[str, Any]:
    return {"todos": [{"content": text, "status": status} for text, status in steps]}


async def test_the_steps_of_the_open_session_are_ticked_off(start: Start) -> None:
    client = client_with_changes("a.py")
    client.feed(SessionCreated(session=a_session(id="s2", name="Without steps")))
    before = todo_list(("Read the tail", "in_progress"), ("Test it", "pending"))
    client.messages["s1"] = [
        a_message(
            "", id="m8", role="assistant",
            content=[ToolUseBlock(id="t", name="TodoWrite", input=before)],
        )
    ]  # fmt: skip
    async with start(client, size=(200, 50)) as (app, pilot):
        app.main.open_session("s1")
        await until(pilot, lambda: "Steps  0 of 2 done" in screen_text(app))
        assert "▸ Read the tail" in screen_text(app)
        after = todo_list(("Read the tail", "completed"), ("Test it", "in_progress"))
        client.feed(
            ToolUsed(
                message_id="m9", session_id="s1", content_index=0, tool_name="TodoWrite",
                tool_input=after, tool_use_id="t2",
            ),
        )  # fmt: skip
        await until(pilot, lambda: "Steps  1 of 2 done" in screen_text(app))
        assert "✓ Read the tail" in screen_text(app) and "▸ Test it" in screen_text(app)
        app.main.open_session("s2")
        await until(pilot, lambda: "Steps" not in screen_text(app))


async def test_it_follows_to_another_worktree(start: Start) -> None:
    client = client_with_changes()
    client.answers["list_changed_files"] = lambda given: make_changes(f"{given['worktree_id']}.py")
    client.feed(
        WorktreeCreated(worktree=a_worktree(id="w2", name="calm-heron")),
        SessionCreated(session=a_session(id="s2", name="Elsewhere", worktree_id="w2")),
    )
    async with start(client, size=(200, 50)) as (app, pilot):
        app.main.open_session("s1")
        await until(pilot, lambda: "▸ w1.py" in screen_text(app))
        app.main.open_session("s2")
        await until(pilot, lambda: "▸ w2.py" in screen_text(app))


async def test_steps_that_changed_while_it_showed_something_else_are_read_again(
    start: Start,
) -> None:
    client = client_with_changes("a.py")

    def work(status: str) -> list[Message]:
        steps = todo_list(("Read the tail", status))
        use = ToolUseBlock(id="t", name="TodoWrite", input=steps)
        return [a_message("", id="m8", role="assistant", content=[use])]

    client.messages["s1"] = work("in_progress")
    async with start(client, size=(200, 50)) as (app, pilot):
        app.main.open_session("s1")
        await until(pilot, lambda: "Steps  0 of 1 done" in screen_text(app))
        await pilot.press("shift+f2")
        await until(pilot, lambda: "Open a second session" in screen_text(app))
        client.messages["s1"] = work("completed")
        await pilot.press("shift+f2", "shift+f2")
        await until(pilot, lambda: "Steps  1 of 1 done" in screen_text(app))


async def test_an_archived_session_is_not_shown_beside_the_open_one(start: Start) -> None:
    client = client_with_changes()
    other = a_session(id="s2", name="The other one")
    client.feed(SessionCreated(session=other))
    client.messages["s2"] = [a_message("Said beside", session_id="s2")]
    async with start(client, size=(200, 50)) as (app, pilot):
        app.main.open_session("s2")
        app.main.open_session("s1")
        await pilot.press("shift+f2")
        await until(pilot, lambda: "The other one  brave-otter" in screen_text(app))
        await until(pilot, lambda: "Said beside" in screen_text(app))
        archived = {"archived_at": 1.0}
        client.feed(SessionUpdated(session_id="s2", updates=archived))
        await until(pilot, lambda: "Open a second session" in screen_text(app))
        assert "Said beside" not in screen_text(app)
