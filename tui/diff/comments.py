"""Comments on a difference: mark lines, write, change, take back, send, and find what is lost."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from model.richtext.diff_comments import Comment, create_comment, format_message, trim_context
from tui.composer.draft import Draft
from tui.diff.comment_dialog import Comments, EditComment
from tui.diff.screen import Diff
from tui.screens.choose_session import session_for

if TYPE_CHECKING:
    from model.richtext.diff_rows import DiffRow


async def mark(screen: Diff) -> None:
    """Mark lines from the cursor on, or none any more."""
    if screen.view.marked:
        screen.view.let_go()
    elif screen.is_in_files or not screen.view.hold():
        screen.desk.say("Go to a line of the difference first (tab).")


async def comment(screen: Diff) -> None:
    """Say something of the lines that are meant, or change what was said of them."""
    if (known := screen.comment_here) is not None and not screen.is_in_files:
        await _change(screen, known)
        return
    rows = _first_hunk(screen) if screen.is_in_files else screen.rows_here()
    if not rows:
        screen.desk.say("There is no line here that could be commented on.")
        return
    blank = create_comment(screen.path, screen.side, rows, "")
    if text := await _written(screen, blank):
        screen.comments.append(replace(blank, text=text))
        screen.view.let_go()
        screen.keep_comments()


def _first_hunk(screen: Diff) -> "Sequence[DiffRow]":
    """What the first hunk of the chosen file changes: what is meant in the list of files."""
    diff, text = screen.file_diff, screen.view.text
    is_shown = diff is not None and diff.path == screen.path and text.heading_indices
    return trim_context(text.hunk_rows(0)) if is_shown else []


async def comments(screen: Diff) -> None:
    """Look through the comments, change them, send them."""
    at = 0
    while found := screen.comments:
        chosen = await screen.desk.ask(Comments(tuple(found), screen.lost, at))
        if chosen is None:
            return
        what, at = chosen
        if what == "send":
            await _send(screen)
            return
        if what == "edit":
            await _change(screen, found[at])
        else:
            del found[at]
            screen.keep_comments()
    screen.desk.say("No comment waits to be sent; c on a line makes one.")


async def _change(screen: Diff, known: Comment) -> None:
    text = await _written(screen, known)
    if text is None:
        return
    # Its lines may have moved meanwhile; if somebody sent it, this is another comment.
    found = (n for n, each in enumerate(screen.comments) if known.is_same(each))
    at = next(found, len(screen.comments))
    now = screen.comments[at] if at < len(screen.comments) else known
    screen.comments[at : at + 1] = [replace(now, text=text)] if text else []
    screen.keep_comments()


async def _written(screen: Diff, comment: Comment) -> str | None:
    """What a person says of the lines; what was begun and left is there the next time."""
    drafts, key = screen.desk.chat.drafts, f"comment {screen.worktree.id} {comment.location}"
    dialog = EditComment(comment, drafts.of(key).text or comment.text)
    text = await screen.desk.ask(dialog)
    is_begun = text is None and dialog.text != comment.text
    drafts.keep(key, Draft(dialog.text if is_begun else ""))
    screen.desk.chat.keep_draft()
    return text


async def _send(screen: Diff) -> None:
    """All comments as one message; they are forgotten once it is taken."""
    found = tuple(screen.comments)
    session = await session_for(screen.desk, screen.worktree)
    if session is None:
        return
    await screen.desk.outbox.send(session.id, format_message(found, screen.lost))
    screen.comments[:] = [
        comment for comment in screen.comments if not any(map(comment.is_same, found))
    ]
    screen.keep_comments()
    screen.desk.say(f"Sent to '{session.name}'.")
