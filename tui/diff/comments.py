"""Actions on diff comments: mark lines, write, edit, remove, send."""

from dataclasses import replace

from model.richtext.diff_comments import Comment, create_comment, format_message
from tui.composer.draft import Draft
from tui.diff.comment_dialog import Comments, EditComment
from tui.diff.findings import edit
from tui.diff.screen import Diff
from tui.screens.choose_session import session_for


async def mark(screen: Diff) -> None:
    """Start marking lines at the cursor, or clear the marks."""
    if screen.view.marked:
        screen.view.clear_marks()
        return
    screen.view.focus()
    if not screen.view.start_marking():
        screen.desk.say("This file has no lines to select.")


async def comment(screen: Diff) -> None:
    """Comment on what is under the cursor, or edit the comment or finding there.

    That is the marked lines, the line, the changed lines of the hunk at its heading, or in the list
    of files those of the first hunk.
    """
    await screen.wait_until_read()  # the key may come before the diff
    if (finding := screen.finding_here) is not None:
        await edit(screen, finding)
        return
    if (existing := screen.comment_here) is not None:
        await _change(screen, existing)
        return
    rows = screen.rows_here()
    if not rows:
        screen.desk.say("This file has no lines to comment on.")
        return
    blank = create_comment(screen.path, screen.side, rows, "")
    if text := await _edit_text(screen, blank):
        screen.comments.append(replace(blank, text=text))
        screen.view.clear_marks()
        screen.pending.save()


async def send(screen: Diff) -> None:
    """Send all comments to a session, which is asked for if there are several."""
    if screen.comments:
        await _send(screen)
    else:
        key = screen.desk.key_of("diff_comment")
        screen.desk.say(f"There are no comments to send. {key} on a line writes one.")


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
            screen.remove_comment(pending[at])
    key = screen.desk.key_of("diff_comment")
    screen.desk.say(f"There are no comments. {key} on a line writes one.")


async def _change(screen: Diff, existing: Comment) -> None:
    text = await _edit_text(screen, existing)
    if text is None:
        return
    # Its lines may have moved meanwhile; if it was sent, add this as a new comment.
    pending = (n for n, each in enumerate(screen.comments) if existing.is_same(each))
    at = next(pending, len(screen.comments))
    now = screen.comments[at] if at < len(screen.comments) else existing
    screen.comments[at : at + 1] = [replace(now, text=text)] if text else []
    screen.pending.save()


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
    screen.pending.save()
    screen.desk.say(f"Sent to '{session.name}'.")
