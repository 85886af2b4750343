"""The side pane of wide terminals: the changes of the open worktree as they happen."""

from typing import Any

from model.api.changes import FileDiff
from model.domain import events as e
from model.domain.resources import ToolResultBlock
from tests.tui.builders import a_message, make_changes
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications, screen_text
from tests.tui.waiting import until

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
        e.MessageStarted(message_id="m9", session_id="s1", message=started),
        e.ToolUsed(
            message_id="m9", session_id="s1", content_index=0, tool_name="edit",
            tool_input=given, tool_use_id="t",
        ),
        e.BlockChanged(
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
        await until(pilot, lambda: "Everything is staged or committed." in screen_text(app))


async def test_it_is_hidden_by_a_key_and_where_there_is_no_room(start: Start) -> None:
    async with start(client_with_changes("a.py"), size=(200, 50)) as (app, pilot):
        await until(pilot, lambda: "new a.py" in screen_text(app))
        await pilot.press("shift+f2")
        await until(pilot, lambda: "new a.py" not in screen_text(app))
        await pilot.press("shift+f2")
        await until(pilot, lambda: "new a.py" in screen_text(app))
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "new a.py" not in screen_text(app))
        await pilot.press("shift+f2")
        sentence = "The side pane needs a terminal of at least 150 columns."
        await until(pilot, lambda: sentence in notifications(app))
