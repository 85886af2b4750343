"""Comments on lines of the diff screen: marking, writing, moving with their lines, sending."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.widgets import OptionList

from model.api.changes import FileDiff
from model.base.errors import SpinneyError
from model.domain.messages import SentMessage
from tests.tui.builders import a_session
from tests.tui.conftest import Start
from tests.tui.diff_tree import PARSER, FakeWorktree, lines, open_diff, top_text
from tests.tui.reading import notifications
from tests.tui.shell.test_repeated_keys import post_keys
from tests.tui.waiting import until
from tui.diff.comment_dialog import Comments, EditComment
from tui.diff.screen import Diff
from tui.shell.app import SpinneyApp


async def begin_comment(app: SpinneyApp, pilot: "Pilot[None]", *keys: str) -> None:
    """Press keys that move in the diff, and start a comment."""
    await pilot.press(*keys, "c")
    await until(pilot, lambda: isinstance(app.screen, EditComment))


async def list_comments(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    """Open the list of comments from the diff."""
    await pilot.press("E")
    await until(pilot, lambda: isinstance(app.screen, Comments))


async def mark_by_arrows(pilot: "Pilot[None]", screen: Diff) -> None:
    await pilot.press("down", "down", "shift+down", "shift+down")


async def mark_by_the_mark_key(pilot: "Pilot[None]", screen: Diff) -> None:
    await pilot.press("down", "down", "V", "down", "down")


async def mark_by_the_mouse(pilot: "Pilot[None]", screen: Diff) -> None:
    await pilot.mouse_down(screen.view, Offset(20, 2))
    await pilot.hover(screen.view, Offset(20, 4))
    await pilot.mouse_up(screen.view, Offset(20, 4))


@pytest.mark.parametrize(
    "mark",
    [mark_by_arrows, mark_by_the_mark_key, mark_by_the_mouse],
    ids=lambda m: m.__name__,
)
async def test_several_lines_are_marked_and_commented_on_as_a_range(
    start: Start, mark: Callable[["Pilot[None]", Diff], Awaitable[None]]
) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await mark(pilot, screen)
        await until(pilot, lambda: "3 lines marked" in top_text(screen))
        assert [line[0] for line in lines(screen)[:6]] == [" ", " ", "▌", "▌", "▌", " "]
        await begin_comment(app, pilot)
        assert app.screen.box_title == "Comment on parser.py:2-3"  # type: ignore[attr-defined]
        await pilot.press(*"Both", "enter")
        await until(pilot, lambda: "1 comment " in top_text(screen))
        assert "marked" not in top_text(screen)
        assert [line[0] for line in lines(screen)[:6]] == [" ", " ", "◆", "◆", "◆", " "]
        await list_comments(app, pilot)
        await pilot.press("s")
        await until(pilot, lambda: tree.client.called("send_chat_message"))
        assert tree.client.called("send_chat_message")[0]["message"] == (
            "Please look at these comments on the changes:\n\n"
            "`parser.py:2-3`\n```diff\n-print(1)\n+print(2)\n # end\n```\nBoth"
        )


async def test_marks_end_with_the_hunk_and_escape_clears_them_before_it_closes_the_screen(
    start: Start,
) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("shift+pagedown")  # from the heading: all lines of the hunk
        await until(pilot, lambda: "4 lines marked" in top_text(screen))
        await pilot.press("escape")
        await until(pilot, lambda: "marked" not in top_text(screen))
        assert app.screen is screen
        await pilot.press("shift+up", "up")  # without shift the cursor moves alone
        assert "marked" not in top_text(screen)


async def test_in_two_columns_both_versions_are_marked(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client, size=(200, 50)) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("down", "down", "V")

        def marked() -> list[str]:
            return [row.text for row in screen.view.marked_rows]

        await until(pilot, lambda: marked() == ["print(1)", "print(2)"])
        await pilot.press("t")
        await until(pilot, lambda: marked() == ["print(2)"])


async def test_a_comment_is_edited_and_removed_at_its_line(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await begin_comment(app, pilot, "down")
        await pilot.press(*"Why", "enter")
        await until(pilot, lambda: "1 comment " in top_text(screen))
        await begin_comment(app, pilot)
        await pilot.press("?", "enter")
        await until(pilot, lambda: [each.text for each in screen.comments] == ["Why?"])
        await begin_comment(app, pilot)
        await pilot.press(*["backspace"] * 4, "enter")
        await until(pilot, lambda: app.screen is screen)
        assert "comment" not in top_text(screen)
        assert lines(screen)[1].startswith("▌")


async def test_an_unfinished_comment_is_kept(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await begin_comment(app, pilot, "down")
        await pilot.press(*"Hal", "escape")
        await until(pilot, lambda: app.screen is screen)
        assert not screen.comments
        await begin_comment(app, pilot)
        await pilot.press("f", "enter")
        await until(pilot, lambda: [each.text for each in screen.comments] == ["Half"])
        await begin_comment(app, pilot, "down", "down")
        assert app.screen.text == ""  # type: ignore[attr-defined]


async def test_a_comment_moves_with_its_lines(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await begin_comment(app, pilot, "]", "down", "down")
        await pilot.press(*"No", "enter")
        await until(pilot, lambda: [each.location for each in screen.comments] == ["parser.py:21"])
        tree.texts["parser.py"] = PARSER.replace("+20,3", "+27,3")
        screen.load()
        await until(pilot, lambda: [each.location for each in screen.comments] == ["parser.py:28"])
        # Its lines are staged: this side no longer has them, but the comment is not outdated.
        tree.files = {**tree.files, "staged": tree.files["unstaged"][:1], "unstaged": []}
        await pilot.press("v")
        await until(pilot, lambda: screen.side == "staged" and "◆" in "\n".join(lines(screen)))
        assert not screen.lost


async def test_a_comment_that_moves_while_it_is_edited_or_sent_is_neither_lost_nor_doubled(
    start: Start,
) -> None:
    tree = FakeWorktree()
    gate = asyncio.Event()

    async def slow(given: dict[str, Any]) -> SentMessage:
        await gate.wait()
        return SentMessage(message_id="m", status="processing")

    tree.client.answers["send_chat_message"] = slow
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await begin_comment(app, pilot, "]", "down", "down")
        await pilot.press(*"No", "enter")
        await until(pilot, lambda: bool(screen.comments))
        await begin_comment(app, pilot)
        tree.texts["parser.py"] = PARSER.replace("+20,3", "+27,3")
        await screen.read()
        await pilot.press("!", "enter")
        await until(pilot, lambda: app.screen is screen)
        assert [(each.location, each.text) for each in screen.comments] == [("parser.py:28", "No!")]
        await list_comments(app, pilot)
        await pilot.press("s")
        await until(pilot, lambda: tree.client.called("send_chat_message"))
        tree.texts["parser.py"] = PARSER
        await screen.read()
        gate.set()
        await until(pilot, lambda: not screen.comments)


async def test_a_comment_whose_lines_are_gone_is_reported_as_outdated(start: Start) -> None:
    tree = FakeWorktree()
    ask = tree.client.answers["get_file_diff"]

    def diff_like_git(given: dict[str, Any]) -> FileDiff:
        if all(file.path != given["path"] for file in tree.files[given["side"]]):
            raise SpinneyError("has no such changes any more", "conflict")
        return ask(given)  # type: ignore[return-value]

    tree.client.answers["get_file_diff"] = diff_like_git
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await begin_comment(app, pilot, "down", "down", "down")
        await pilot.press(*"No", "enter")
        await until(pilot, lambda: "1 comment " in top_text(screen))
        tree.texts["parser.py"] = PARSER.replace("print(2)", "print(3)")
        screen.load()
        await until(pilot, lambda: "1 comment, 1 outdated" in top_text(screen))
        notices = notifications(app)
        assert notices == ["Outdated comments, whose lines are gone: parser.py:2. E shows them."]
        await list_comments(app, pilot)
        option = app.screen.query_one(OptionList).get_option_at_index(0)
        assert str(option.prompt) == "parser.py:2  outdated\n  No"
        await pilot.press("s")
        await until(pilot, lambda: tree.client.called("send_chat_message"))
        said = tree.client.called("send_chat_message")[0]["message"]
        assert "`parser.py:2` (these lines have changed since)\n" in said


async def test_an_error_while_loading_does_not_make_a_comment_outdated(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await begin_comment(app, pilot, "down", "down", "down")
        await pilot.press(*"No", "enter")
        await until(pilot, lambda: "1 comment " in top_text(screen))
        tree.client.refuse("get_file_diff", "The connection is gone.", "backend_unavailable")
        await screen.read()
        assert not screen.lost
        assert "1 comment " in top_text(screen)


async def test_comments_are_kept_edited_and_sent_as_one_message(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await begin_comment(app, pilot, "down", "down", "down")
        await pilot.press(*"Why", "enter")
        await until(pilot, lambda: app.screen is screen)
        assert lines(screen)[3].startswith("◆")
        await begin_comment(app, pilot, "]")
        await pilot.press(*"No", "enter")
        await until(pilot, lambda: "2 comments" in top_text(screen))

        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        screen = await open_diff(app, pilot)
        assert "2 comments" in top_text(screen)

        await list_comments(app, pilot)
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
        await until(pilot, lambda: "comment" not in top_text(screen))


async def test_a_comment_can_be_deleted_and_is_kept_if_sending_fails(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        for _ in range(2):
            await begin_comment(app, pilot)
            await pilot.press(*"No", "enter")
            await until(pilot, lambda: app.screen is screen)
        await list_comments(app, pilot)
        await pilot.press("delete")
        await until(pilot, lambda: "1 comment " in top_text(screen))
        tree.client.refuse("send_chat_message", "The disk is full.")
        await until(pilot, lambda: isinstance(app.screen, Comments))
        await pilot.press("s")
        await until(pilot, lambda: "The disk is full." in notifications(app))
        assert "1 comment " in top_text(screen)


async def test_one_of_several_sessions_is_chosen_from_a_list(start: Start) -> None:
    tree = FakeWorktree(sessions=[a_session(), a_session(id="s2", name="Rename the store")])
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await begin_comment(app, pilot)
        await pilot.press(*"No", "enter")
        await until(pilot, lambda: app.screen is screen)
        await list_comments(app, pilot)
        await pilot.press("s")
        await until(
            pilot, lambda: bool(app.screen.query("OptionList")) and app.screen is not screen
        )
        await pilot.press("down", "enter")
        await until(pilot, lambda: tree.client.called("send_chat_message"))
        assert tree.client.called("send_chat_message")[0]["session_id"] == "s2"


async def test_comments_survive_a_restart_until_they_are_sent(tmp_path: Path) -> None:
    app = SpinneyApp(lambda: FakeWorktree().client, data=tmp_path, environ={})
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.main.is_connected and bool(app.main.state.sessions))
        screen = await open_diff(app, pilot)
        await begin_comment(app, pilot)
        await pilot.press(*"Why", "enter")
        await until(pilot, lambda: "1 comment " in top_text(screen))
        await until(pilot, lambda: bool(list(tmp_path.glob("terminal/drafts/comments-w1.json"))))
    tree = FakeWorktree()
    other = SpinneyApp(lambda: tree.client, data=tmp_path, environ={})
    async with other.run_test() as pilot:
        await until(pilot, lambda: other.main.is_connected and bool(other.main.state.sessions))
        screen = await open_diff(other, pilot)
        assert "1 comment " in top_text(screen)
        await list_comments(other, pilot)
        await pilot.press("s")
        await until(pilot, lambda: bool(tree.client.called("send_chat_message")))
        await until(pilot, lambda: not list(tmp_path.glob("terminal/drafts/comments-*")))


async def test_a_comment_stands_under_its_line_and_can_be_removed_there(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await begin_comment(app, pilot, "down", "down", "down")
        post_keys(app, *"Why two?", "enter")
        await until(pilot, lambda: "1 comment " in top_text(screen))
        assert [line.strip() for line in lines(screen)[3:6]] == [
            "◆      2 + print(2)",
            "▌ you  Why two?",
            "3   3   # end",
        ]
        await pilot.press("down", "down", "down")
        assert screen.view.hunk == 1  # the note is one stop of the cursor
        await pilot.press("up", "up", "enter")
        await until(pilot, lambda: isinstance(app.screen, EditComment))
        await pilot.press("!", "enter")
        await until(pilot, lambda: "▌ you  Why two?!" in "\n".join(lines(screen)))
        await pilot.press("delete")
        await until(pilot, lambda: not screen.comments and screen.view.note_here is None)
        await pilot.press("z")
        await until(pilot, lambda: [each.text for each in screen.comments] == ["Why two?!"])
        assert not tree.client.called("undo_discard")


async def test_a_comment_is_written_and_sent_from_the_conversation_in_five_keys(
    start: Start,
) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        app.main.open_session("s1")
        await pilot.press("ctrl+g")
        await until(pilot, lambda: isinstance(app.screen, Diff) and app.screen.is_painted)
        post_keys(app, "c", *"Why?", "enter")
        await until(pilot, lambda: isinstance(app.screen, Diff) and bool(app.screen.comments))
        await pilot.press("S")
        await until(pilot, lambda: tree.client.called("send_chat_message"))
        message = tree.client.called("send_chat_message")[0]["message"]
        assert message.endswith("-print(1)\n+print(2)\n```\nWhy?")


async def test_notes_keep_the_cursor_on_its_line_while_the_file_changes(start: Start) -> None:
    tree = FakeWorktree()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await begin_comment(app, pilot, "down", "down", "down")
        await pilot.press(*"One", "enter")
        await until(pilot, lambda: "1 comment " in top_text(screen))
        await begin_comment(app, pilot, "]", "down", "down")
        before = screen.view.cursor_row
        tree.texts["parser.py"] = PARSER.replace("+print(2)\n", "+print(2)\n+print(3)\n").replace(
            "+20,3", "+21,3"
        )
        await screen.read()
        await pilot.press(*"Two", "enter")
        await until(pilot, lambda: "2 comments " in top_text(screen))
        assert [each.location for each in screen.comments] == ["parser.py:2", "parser.py:22"]
        assert screen.view.line is not None and screen.view.line.text == "    return 1"
        assert screen.view.cursor_row == before + 1
