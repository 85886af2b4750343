"""The diff screen: what it shows of the changes, and what its keys do with them."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from fake_client import FakeClient, a_project, a_session, a_state, a_worktree
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.widgets import OptionList

from model import events as e
from model.commands.changes import ChangedFile, Changes, DiscardedFile, FileDiff
from model.commands.reviews import ConflictTask
from model.errors import SpinneyError
from model.resources import SentMessage
from tests.tui.conftest import Start, until
from tui.app import SpinneyApp
from tui.screens.dialog import Confirm
from tui.screens.diff import Diff
from tui.screens.diff_comment import Comments, EditComment
from tui.transcript_targets import Target
from tui.widgets.key_hints import KeyHints

PARSER = """\
diff --git a/parser.py b/parser.py
index 1..2 100644
--- a/parser.py
+++ b/parser.py
@@ -1,3 +1,3 @@ import sys
 import sys
-print(1)
+print(2)
 # end
@@ -20,2 +20,3 @@ def main():
 def main():
+    return 1
     pass
"""
PICTURE = """\
diff --git a/picture b/picture
new file mode 100644
Binary files /dev/null and b/picture differ
"""
RENAMED = """\
diff --git a/old b/new
old mode 100644
new mode 100755
similarity index 100%
rename from old
rename to new
"""


def a_file(path: str, **fields: Any) -> ChangedFile:
    given: dict[str, Any] = {"old_path": None, "status": "modified", "added": 2, "removed": 1}
    given |= {"old_mode": "100644", "mode": "100644", "submodule": False, "path": path}
    return ChangedFile(**{**given, **fields})


CONFLICT = """\
diff --git a/parser.py b/parser.py
--- a/parser.py
+++ b/parser.py
@@ -1,2 +1,5 @@
 import sys
+<<<<<<< HEAD
 print(1)
+=======
+print(2)
+>>>>>>> theirs
"""


class Tree:
    """What git would say of a worktree, as the fake client tells it."""

    def __init__(self, **state: Any) -> None:
        self.files: dict[str, list[ChangedFile]] = {
            "unstaged": [
                a_file("parser.py"),
                a_file("picture", status="untracked", added=None, removed=0),
            ],
            "staged": [a_file("new", status="renamed", old_path="old", added=0, removed=0)],
            "branch": [],
        }
        self.texts = {"parser.py": PARSER, "picture": PICTURE, "new": RENAMED}
        self.operation: str | None = None
        resources = [a_project(), a_worktree(), *state.get("sessions", [a_session()])]
        self.client = FakeClient(a_state(*resources))
        self.client.answers |= {"list_changed_files": self._list, "get_file_diff": self._diff}
        for name in ("stage_changes", "unstage_changes"):
            self.client.answers[name] = lambda given: None
        self.client.answers["discard_changes"] = lambda given: DiscardedFile(
            id="d", path=given["path"]
        )

    def _list(self, given: dict[str, Any]) -> Changes:
        files = self.files[given.get("side", "unstaged")]
        return Changes(files=files, base="main", operation=self.operation)

    def _diff(self, given: dict[str, Any]) -> FileDiff:
        text = self.texts[given["path"]]
        names = [f"h{n}" for n in range(text.count("\n@@ "))]
        return FileDiff(path=given["path"], text=text, digest=str(hash(text)), hunks=names)


async def opened(app: SpinneyApp, pilot: "Pilot[None]") -> Diff:
    """The diff screen, opened by its key, with its first file shown."""
    app.main.action_open_session("s1")
    await pilot.press("ctrl+g")
    await until(pilot, lambda: isinstance(app.screen, Diff) and app.screen.file_diff is not None)
    assert isinstance(app.screen, Diff)
    return app.screen


def lines(screen: Diff) -> list[str]:
    """The rows of the difference as they stand on the screen."""
    view = screen.view
    height = min(view.size.height, view.count or 2)
    return [view.render_line(y).text.rstrip() for y in range(height)]


def top(screen: Diff) -> str:
    return screen.query_one("#top").text  # type: ignore[no-any-return, attr-defined]


async def test_files_with_their_counts_stand_beside_the_difference(start: Start) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        labels = [screen.files.render_line(n).text for n in range(2)]
        assert labels[0].split() == ["M", "parser.py", "+2", "−1"]
        assert labels[1].split() == ["?", "picture", "binary"]
        assert lines(screen)[0].startswith("▌── line 1  import sys ──")
        assert lines(screen)[1:5] == [
            "   1   1   import sys",
            "   2     - print(1)",
            "       2 + print(2)",
            "   3   3   # end",
        ]
        assert "[not staged]" in top(screen)
        assert "against main" in top(screen)
        assert top(screen).endswith("2 files  +2 −1")


async def test_what_has_no_lines_is_said_in_words(start: Start) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("down")
        await until(pilot, lambda: "A binary file" in lines(screen)[0])
        await pilot.press("v")
        await until(pilot, lambda: "rename from old" in "\n".join(lines(screen)))
        assert "The file can now be run." in "\n".join(lines(screen))
        await pilot.press("v")
        await until(pilot, lambda: "no commits that its base lacks" in screen.view.said)


async def test_two_columns_by_a_key_and_by_themselves_where_there_is_room(start: Start) -> None:
    tree = Tree()
    async with start(tree.client, size=(200, 50)) as (app, pilot):
        screen = await opened(app, pilot)
        assert screen.view.is_split
        assert lines(screen)[2].split() == ["2", "-", "print(1)", "│", "2", "+", "print(2)"]
        await pilot.press("t")
        assert not screen.view.is_split
        assert len(lines(screen)) == 9


async def test_a_file_or_a_hunk_is_staged_as_it_was_seen(start: Start) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        seen = str(hash(PARSER))
        await pilot.press("s")
        await until(pilot, lambda: tree.client.called("stage_changes"))
        await pilot.press("tab", "n", "s")
        await until(pilot, lambda: len(tree.client.called("stage_changes")) == 2)
        of_file = {"worktree_id": "w1", "path": "parser.py", "hunk": None, "seen": seen}
        assert tree.client.called("stage_changes") == [of_file, {**of_file, "hunk": "h1"}]
        await pilot.press("x")
        await until(pilot, lambda: tree.client.called("discard_changes"))
        assert tree.client.called("discard_changes") == [{**of_file, "hunk": "h1"}]
        await pilot.press("v")
        await until(pilot, lambda: screen.path == "new")
        await pilot.press("u")
        await until(pilot, lambda: tree.client.called("unstage_changes"))
        assert tree.client.called("unstage_changes")[0]["path"] == "new"


async def test_a_staged_file_leaves_the_list_and_the_next_one_is_shown(start: Start) -> None:
    tree = Tree()

    def stage(given: dict[str, Any]) -> None:
        tree.files["unstaged"] = tree.files["unstaged"][1:]

    tree.client.answers["stage_changes"] = stage
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("s")
        await until(pilot, lambda: screen.path == "picture" and "binary" in lines(screen)[0])


async def test_undo_brings_the_cursor_back_to_what_it_brought_back(start: Start) -> None:
    tree = Tree()
    tree.client.answers["undo_discard"] = lambda given: DiscardedFile(id="d", path="picture")
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("z")
        await until(pilot, lambda: screen.path == "picture")


async def test_a_refusal_is_said_and_the_file_is_read_anew(start: Start) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        tree.client.refuse("stage_changes", "“parser.py” has changed since it was shown.")
        tree.texts["parser.py"] = PARSER.replace("print(2)", "print(3)")
        await pilot.press("s")
        await until(pilot, lambda: "print(3)" in "\n".join(lines(screen)))
        said = [note.message for note in app._notifications]
        assert said == ["“parser.py” has changed since it was shown."]


async def test_it_follows_the_worktree_and_the_cursor_keeps_its_line(start: Start) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("tab", "n", "down", "down")
        assert screen.view.line is not None
        assert screen.view.line.text == "    return 1"
        tree.texts["parser.py"] = PARSER.replace("+print(2)\n", "+print(2)\n+print(3)\n").replace(
            "+20,3", "+21,3"
        )
        tree.client.feed(
            e.GitStatusUpdated(
                worktree_id="w1", ahead=0, behind=0, uncommitted_added=1, uncommitted_removed=1,
                branch_diff_added=0, branch_diff_removed=0, unpushed=0, checked_at=1.0,
            )
        )  # fmt: skip
        await until(pilot, lambda: "print(3)" in "\n".join(lines(screen)))
        assert screen.view.line is not None
        assert screen.view.line.text == "    return 1"


async def marked_by_arrows(pilot: "Pilot[None]", screen: Diff) -> None:
    await pilot.press("tab", "down", "down", "shift+down", "shift+down")


async def marked_by_the_mark_key(pilot: "Pilot[None]", screen: Diff) -> None:
    await pilot.press("tab", "down", "down", "k", "down", "down")


async def marked_by_the_mouse(pilot: "Pilot[None]", screen: Diff) -> None:
    await pilot.mouse_down(screen.view, Offset(20, 2))
    await pilot.hover(screen.view, Offset(20, 4))
    await pilot.mouse_up(screen.view, Offset(20, 4))


@pytest.mark.parametrize(
    "mark",
    [marked_by_arrows, marked_by_the_mark_key, marked_by_the_mouse],
    ids=lambda m: m.__name__,
)
async def test_several_lines_are_marked_and_commented_on_as_a_range(
    start: Start, mark: Callable[["Pilot[None]", Diff], Awaitable[None]]
) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await mark(pilot, screen)
        assert "3 lines marked" in top(screen)
        assert [line[0] for line in lines(screen)[:6]] == [" ", " ", "▌", "▌", "▌", " "]
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        assert app.screen.box_title == "Comment on parser.py:2-3"  # type: ignore[attr-defined]
        await pilot.press(*"Both", "enter")
        await until(pilot, lambda: "1 comment " in top(screen))
        assert "marked" not in top(screen)
        assert [line[0] for line in lines(screen)[:6]] == [" ", " ", "◆", "◆", "◆", " "]
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, Comments))
        await pilot.press("s")
        await until(pilot, lambda: tree.client.called("send_chat_message"))
        assert tree.client.called("send_chat_message")[0]["message"] == (
            "Please look at these comments on the changes:\n\n"
            "`parser.py:2-3`\n```diff\n-print(1)\n+print(2)\n # end\n```\nBoth"
        )


async def test_what_is_marked_ends_with_the_hunk_and_is_let_go_before_the_screen_is(
    start: Start,
) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("tab", "shift+pagedown")  # from the heading: all lines of the hunk
        assert "4 lines marked" in top(screen)
        await pilot.press("escape")
        assert app.screen is screen
        assert "marked" not in top(screen)
        await pilot.press("shift+up", "up")  # without shift the cursor moves alone
        assert "marked" not in top(screen)


async def test_in_two_columns_both_versions_are_marked(start: Start) -> None:
    tree = Tree()
    async with start(tree.client, size=(200, 50)) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("tab", "down", "down", "k")
        assert [row.text for row in screen.view.marked_rows] == ["print(1)", "print(2)"]
        await pilot.press("t")
        assert [row.text for row in screen.view.marked_rows] == ["print(2)"]


async def test_a_comment_is_changed_and_taken_back_where_it_stands(start: Start) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("tab", "down", "c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press(*"Why", "enter")
        await until(pilot, lambda: "1 comment " in top(screen))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press("?", "enter")
        await until(pilot, lambda: [each.text for each in screen.comments] == ["Why?"])
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press(*["backspace"] * 4, "enter")
        await until(pilot, lambda: app.screen is screen)
        assert "comment" not in top(screen)
        assert lines(screen)[1].startswith("▌")


async def test_a_comment_that_was_begun_and_left_is_there_the_next_time(start: Start) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("tab", "down", "c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press(*"Hal", "escape")
        await until(pilot, lambda: app.screen is screen)
        assert not screen.comments
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press("f", "enter")
        await until(pilot, lambda: [each.text for each in screen.comments] == ["Half"])
        await pilot.press("down", "up", "down", "c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        assert app.screen.text == ""  # type: ignore[attr-defined]


async def test_a_comment_moves_with_its_lines_to_wherever_they_go(start: Start) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("tab", "n", "down", "down", "c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press(*"No", "enter")
        await until(pilot, lambda: [each.place for each in screen.comments] == ["parser.py:21"])
        tree.texts["parser.py"] = PARSER.replace("+20,3", "+27,3")
        screen.load()
        await until(pilot, lambda: [each.place for each in screen.comments] == ["parser.py:28"])
        # It is staged: on this side nothing is left of it, and it is not lost.
        tree.files = {**tree.files, "staged": tree.files["unstaged"][:1], "unstaged": []}
        await pilot.press("v")
        await until(pilot, lambda: screen.side == "staged" and "◆" in "\n".join(lines(screen)))
        assert not screen.lost


async def test_a_comment_that_moves_while_it_is_changed_or_sent_is_neither_lost_nor_doubled(
    start: Start,
) -> None:
    tree = Tree()
    gate = asyncio.Event()

    async def slow(given: dict[str, Any]) -> SentMessage:
        await gate.wait()
        return SentMessage(message_id="m", status="processing")

    tree.client.answers["send_chat_message"] = slow
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("tab", "n", "down", "down", "c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press(*"No", "enter")
        await until(pilot, lambda: bool(screen.comments))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        tree.texts["parser.py"] = PARSER.replace("+20,3", "+27,3")
        await screen.read()
        await pilot.press("!", "enter")
        await until(pilot, lambda: app.screen is screen)
        assert [(each.place, each.text) for each in screen.comments] == [("parser.py:28", "No!")]
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, Comments))
        await pilot.press("s")
        await until(pilot, lambda: tree.client.called("send_chat_message"))
        tree.texts["parser.py"] = PARSER
        await screen.read()
        gate.set()
        await until(pilot, lambda: not screen.comments)


async def test_it_is_told_when_the_lines_of_a_comment_are_gone(start: Start) -> None:
    tree = Tree()
    ask = tree.client.answers["get_file_diff"]

    def as_git(given: dict[str, Any]) -> FileDiff:
        if all(file.path != given["path"] for file in tree.files[given["side"]]):
            raise SpinneyError("has no such changes any more", "conflict")
        return ask(given)  # type: ignore[return-value]

    tree.client.answers["get_file_diff"] = as_git
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("tab", "down", "down", "down", "c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press(*"No", "enter")
        await until(pilot, lambda: "1 comment " in top(screen))
        tree.texts["parser.py"] = PARSER.replace("print(2)", "print(3)")
        screen.load()
        await until(pilot, lambda: "1 comment, 1 without lines" in top(screen))
        told = [note.message for note in app._notifications]
        assert told == ["The lines of a comment are gone: parser.py:2. It is kept; e shows it."]
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, Comments))
        option = app.screen.query_one(OptionList).get_option_at_index(0)
        assert str(option.prompt) == "parser.py:2  its lines are gone\n  No"
        await pilot.press("s")
        await until(pilot, lambda: tree.client.called("send_chat_message"))
        said = tree.client.called("send_chat_message")[0]["message"]
        assert "`parser.py:2` (these lines have changed since)\n" in said


async def test_what_cannot_be_looked_at_is_not_said_to_be_lost(start: Start) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("tab", "down", "down", "down", "c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press(*"No", "enter")
        await until(pilot, lambda: "1 comment " in top(screen))
        tree.client.refuse("get_file_diff", "The connection is gone.", "backend_unavailable")
        await screen.read()
        assert not screen.lost
        assert "1 comment " in top(screen)


async def test_comments_are_kept_edited_and_sent_as_one_message(start: Start) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("tab", "down", "down", "down", "c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press(*"Why", "enter")
        await until(pilot, lambda: app.screen is screen)
        assert lines(screen)[3].startswith("◆")
        await pilot.press("n", "c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press(*"No", "enter")
        await until(pilot, lambda: "2 comments" in top(screen))

        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        screen = await opened(app, pilot)
        assert "2 comments" in top(screen)

        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, Comments))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press("?", "enter")
        await until(pilot, lambda: isinstance(app.screen, Comments))
        await pilot.press("s")
        await until(pilot, lambda: tree.client.called("send_chat_message"))
        assert tree.client.called("send_chat_message") == [
            {
                "session_id": "s1",
                "message": "Please look at these comments on the changes:\n\n"
                "`parser.py:2`\n```diff\n+print(2)\n```\nWhy?\n\n"
                "`parser.py:21`\n```diff\n+    return 1\n```\nNo",
            }
        ]
        await until(pilot, lambda: "comment" not in top(screen))


async def test_a_comment_can_be_taken_back_and_is_kept_where_sending_fails(start: Start) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        for _ in range(2):
            await pilot.press("tab", "c")
            await until(pilot, lambda: isinstance(app.screen, EditComment))
            await pilot.press(*"No", "enter")
            await until(pilot, lambda: app.screen is screen)
            await pilot.press("tab")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, Comments))
        await pilot.press("delete")
        await until(pilot, lambda: "1 comment " in top(screen))
        tree.client.refuse("send_chat_message", "The disk is full.")
        await until(pilot, lambda: isinstance(app.screen, Comments))
        await pilot.press("s")
        await until(pilot, lambda: "The disk is full." in [n.message for n in app._notifications])
        assert "1 comment " in top(screen)


async def test_of_several_sessions_one_is_chosen(start: Start) -> None:
    tree = Tree(sessions=[a_session(), a_session(id="s2", name="Rename the store")])
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("tab", "c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press(*"No", "enter")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, Comments))
        await pilot.press("s")
        await until(
            pilot, lambda: bool(app.screen.query("OptionList")) and app.screen is not screen
        )
        await pilot.press("down", "enter")
        await until(pilot, lambda: tree.client.called("send_chat_message"))
        assert tree.client.called("send_chat_message")[0]["session_id"] == "s2"


async def test_a_hundred_thousand_lines_are_drawn_only_where_they_are_seen(start: Start) -> None:
    tree = Tree()
    added = "".join(f"+line = {n}\n" for n in range(100_000))
    tree.texts["parser.py"] = (
        f"diff --git a/parser.py b/parser.py\n--- /dev/null\n+++ b/parser.py\n"
        f"@@ -0,0 +1,100000 @@\n{added}"
    )
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("tab", "end")
        assert lines(screen)[-1].endswith("100000 + line = 99999")
        painter = screen.view._painter
        assert painter._block.cache_info().currsize <= 4
        await pilot.press("pageup", "home")
        assert lines(screen)[1].split() == ["1", "+", "line", "=", "0"]


async def test_foreign_text_is_shown_and_changes_nothing(start: Start) -> None:
    tree = Tree()
    tree.files["unstaged"] = [a_file("[@click=app.exit]x[/]")]
    tree.texts["[@click=app.exit]x[/]"] = PARSER.replace("print(2)", "[red]\x1b[31m\u202ex")
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        assert "[@click=app.exit]x[/]" in screen.files.render_line(0).text
        assert "[red]\ufffd[31m\ufffdx" in lines(screen)[3]


async def test_what_cannot_be_read_is_a_sentence_in_place(start: Start) -> None:
    tree = Tree()
    tree.client.refuse("list_changed_files", "git is not installed.")
    async with start(tree.client) as (app, pilot):
        app.main.action_open_session("s1")
        await pilot.press("ctrl+g")
        await until(
            pilot,
            lambda: (
                isinstance(app.screen, Diff) and app.screen.view.said == "git is not installed."
            ),
        )
        assert isinstance(app.screen, Diff)
        assert "git is not installed." in app.screen.view.render_line(1).text


async def test_a_merge_that_stopped_is_told_with_its_conflicts_until_it_is_committed(
    start: Start,
) -> None:
    tree = Tree()
    tree.operation = "merge"
    tree.files["unstaged"] = [a_file("parser.py", status="conflicted")]
    tree.texts["parser.py"] = CONFLICT
    tree.client.answers["write_conflict_task"] = lambda given: ConflictTask(
        message="Files:\n- parser.py", files=["parser.py"]
    )
    async with start(tree.client, size=(80, 24)) as (app, pilot):
        screen = await opened(app, pilot)
        foot = screen.query_one(KeyHints)
        assert "merge stopped: 1 conflict" in top(screen)
        assert foot.text.startswith("enter open  o resolve  b abort")
        await pilot.press("o")
        await until(pilot, lambda: tree.client.called("send_chat_message"))
        assert "- parser.py" in tree.client.called("send_chat_message")[0]["message"]
        tree.files = {"unstaged": [], "staged": [a_file("parser.py")], "branch": []}
        screen.load()
        await until(pilot, lambda: "merge waits for its commit" in top(screen))
        assert foot.text.startswith("b abort")
        tree.client.answers["abort_merge"] = lambda given: "merge"
        await pilot.press("b")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        assert app.screen.box_title == "Abort the merge"  # type: ignore[attr-defined]
        await pilot.press("enter", "y")
        await until(pilot, lambda: tree.client.called("abort_merge") == [{"worktree_id": "w1"}])
        tree.operation = None
        screen.load()
        await until(pilot, lambda: "merge" not in top(screen) and "abort" not in foot.text)
        await pilot.press("b")
        told = "Neither a merge nor a rebase has stopped here."
        await until(pilot, lambda: told in [note.message for note in app._notifications])


async def test_on_a_narrow_screen_one_pane_stands_at_a_time(start: Start) -> None:
    tree = Tree()
    async with start(tree.client, size=(80, 24)) as (app, pilot):
        screen = await opened(app, pilot)
        assert (screen.files.display, screen.view.display) == (True, False)
        await pilot.press("enter")
        await until(pilot, lambda: screen.view.has_focus)
        assert (screen.files.display, screen.view.display) == (False, True)
        await pilot.press("escape")
        await until(pilot, lambda: screen.files.has_focus)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


async def test_a_worktree_that_goes_closes_it(start: Start) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        await opened(app, pilot)
        tree.client.feed(e.WorktreeDeleted(worktree_id="w1", project_id="p1"))
        await until(pilot, lambda: app.screen is app.main)


async def test_the_palette_offers_what_the_screen_can_do(start: Start) -> None:
    tree = Tree()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not screen)
        await pilot.press(*"columns")
        await until(pilot, lambda: bool(app.screen.query_one("CommandList").option_count))  # type: ignore[attr-defined]
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen and screen.view.is_split)
        screen.action_do("diff_stage_all")
        await until(pilot, lambda: tree.client.called("stage_changes") == [{"worktree_id": "w1"}])


async def test_a_slow_answer_for_another_file_is_not_shown(start: Start) -> None:
    tree = Tree()
    gate = asyncio.Event()

    async def slow(given: dict[str, Any]) -> FileDiff:
        if given["path"] == "parser.py":
            await gate.wait()
        return tree._diff(given)

    tree.client.answers["get_file_diff"] = slow
    async with start(tree.client) as (app, pilot):
        app.main.action_open_session("s1")
        await pilot.press("ctrl+g")
        await until(pilot, lambda: bool(tree.client.called("get_file_diff")))
        await pilot.press("down")
        gate.set()
        assert isinstance(app.screen, Diff)
        screen = app.screen
        await until(pilot, lambda: "A binary file" in lines(screen)[0])


async def test_an_edit_in_the_conversation_leads_to_its_file_on_whatever_side(start: Start) -> None:
    tree = Tree()
    tree.files["branch"] = [a_file("other"), a_file("src/mended.py")]
    tree.texts["src/mended.py"] = PARSER
    async with start(tree.client) as (app, pilot):
        app.main.action_open_session("s1")
        target = Target("/trees/brave-otter/src/mended.py", in_diff=True)
        app.main.link.start(app.main.link.open_one([target]))  # type: ignore[union-attr]
        await until(pilot, lambda: isinstance(app.screen, Diff) and bool(app.screen.file_diff))
        assert isinstance(app.screen, Diff)
        assert (app.screen.side, app.screen.path) == ("branch", "src/mended.py")


async def test_comments_outlive_the_program_until_they_are_sent(tmp_path: Path) -> None:
    app = SpinneyApp(lambda: Tree().client, data=tmp_path, environ={})
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.main.link is not None and bool(app.main.state.sessions))
        screen = await opened(app, pilot)
        await pilot.press("tab", "c")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press(*"Why", "enter")
        await until(pilot, lambda: "1 comment " in top(screen))
        await until(pilot, lambda: bool(list(tmp_path.glob("terminal/drafts/comments-w1.json"))))
    tree = Tree()
    other = SpinneyApp(lambda: tree.client, data=tmp_path, environ={})
    async with other.run_test() as pilot:
        await until(pilot, lambda: other.main.link is not None and bool(other.main.state.sessions))
        screen = await opened(other, pilot)
        assert "1 comment " in top(screen)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(other.screen, Comments))
        await pilot.press("s")
        await until(pilot, lambda: bool(tree.client.called("send_chat_message")))
        await until(pilot, lambda: not list(tmp_path.glob("terminal/drafts/comments-*")))


async def test_events_that_come_faster_than_git_answers_do_not_pile_up(start: Start) -> None:
    tree = Tree()
    gate = asyncio.Event()
    async with start(tree.client) as (app, pilot):
        screen = await opened(app, pilot)
        before = len(tree.client.called("list_changed_files"))

        async def slow(given: dict[str, Any]) -> Changes:
            await gate.wait()
            return tree._list(given)

        tree.client.answers["list_changed_files"] = slow
        done = e.TaskCompleted(task="setup", ok=True, detail="", worktree_id="w1")
        for _ in range(3):
            tree.client.feed(done)
            await until(pilot, lambda: screen._is_stale or screen._reading.locked())
            await until(pilot, lambda: screen._reading.locked())
        assert len(tree.client.called("list_changed_files")) == before + 1
        gate.set()
        await until(pilot, lambda: len(tree.client.called("list_changed_files")) == before + 2)
