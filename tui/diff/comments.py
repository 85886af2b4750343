"""Actions on diff comments: mark lines, write, edit, remove, send."""

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
    """Start marking lines at the cursor, or clear the marks."""
    if screen.view.marked:
        screen.view.clear_marks()
    elif screen.is_in_files or not screen.view.start_marking():
        screen.desk.say("Move to a line of the diff first (tab).")


async def comment(screen: Diff) -> None:
    """Comment on the selected lines, or edit their comment."""
    if (existing := screen.comment_here) is not None and not screen.is_in_files:
        await _change(screen, existing)
        return
    rows = _first_hunk(screen) if screen.is_in_files else screen.rows_here()
    if not rows:
        screen.desk.say("There are no lines to comment on here.")
        return
    blank = create_comment(screen.path, screen.side, rows, "")
    if text := await _edit_text(screen, blank):
        screen.comments.append(replace(blank, text=text))
        screen.view.clear_marks()
        screen.keep_comments()


def _first_hunk(screen: Diff) -> "Sequence[DiffRow]":
    """Return the changed lines of the selected file's first hunk."""
    diff, text = screen.file_diff, screen.view.text
    is_shown = diff is not None and diff.path == screen.path and text.heading_indices
    return trim_context(text.hunk_rows(0)) if is_shown else []


async def comments(screen: Diff) -> None:
    """List the comments to edit, remove or send them."""
    at = 0
    while pending := screen.comments:
        chosen = await screen.desk.ask(Comments(tuple(pending), screen.lost, at))
        if chosen is None:
            return
        what, at = chosen
        if what == "send":
            await _send(screen)
            return
        if what == "edit":
            await _change(screen, pending[at])
        else:
            del pending[at]
            screen.keep_comments()
    screen.desk.say("There are no comments to send. Press c on a line to write one.")


async def _change(screen: Diff, existing: Comment) -> None:
    text = await _edit_text(screen, existing)
    if text is None:
        return
    # Its lines may have moved meanwhile; if it was sent, add this as a new comment.
    pending = (n for n, each in enumerate(screen.comments) if existing.is_same(each))
    at = next(pending, len(screen.comments))
    now = screen.comments[at] if at < len(screen.comments) else existing
    screen.comments[at : at + 1] = [replace(now, text=text)] if text else []
    screen.keep_comments()


async def _edit_text(screen: Diff, comment: Comment) -> str | None:
    """Ask for a comment's text; unsaved text is restored the next time."""
    drafts, key = screen.desk.chat.drafts, f"comment {screen.worktree.id} {comment.location}"
    dialog = EditComment(comment, drafts.get(key).text or comment.text)
    text = await screen.desk.ask(dialog)
    is_begun = text is None and dialog.text != comment.text
    drafts.set(key, Draft(dialog.text if is_begun else ""))
    screen.desk.chat.save_draft()
    return text


async def _send(screen: Diff) -> None:
    """Send all comments as one message, and remove them once it was accepted."""
    pending = tuple(screen.comments)
    session = await session_for(screen.desk, screen.worktree)
    if session is None:
        return
    await screen.desk.outbox.send(session.id, format_message(pending, screen.lost))
    screen.comments[:] = [
        comment for comment in screen.comments if not any(map(comment.is_same, pending))
    ]
    screen.keep_comments()
    screen.desk.say(f"Sent to '{session.name}'.")
