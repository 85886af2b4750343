"""Actions of the diff screen: stage, unstage, discard, undo, switch sides, navigate."""

from collections.abc import Mapping
from typing import Any

from model.api.changes import discard_changes, stage_changes, undo_discard, unstage_changes
from model.base.errors import SpinneyError
from tui.diff import verdicts
from tui.diff.comments import comment, comments, mark, send
from tui.diff.findings import dismiss, findings, fix, next_finding, review
from tui.diff.screen import Diff, DiffActionFunction
from tui.diff.state import SIDES


async def stage(screen: Diff) -> None:
    """Stage the file, or the hunk under the cursor."""
    if screen.side != "unstaged":
        screen.desk.say("Only unstaged changes can be staged. Press v to switch to them.")
    elif screen.path:
        await _change(screen, stage_changes)


async def unstage(screen: Diff) -> None:
    """Unstage the file, or the hunk under the cursor."""
    if screen.side != "staged":
        screen.desk.say("Only staged changes can be unstaged. Press v to switch to them.")
    elif screen.path:
        await _change(screen, unstage_changes)


async def stage_all(screen: Diff) -> None:
    """Stage everything, or unstage everything on the staged side."""
    if screen.side == "branch":
        screen.desk.say("These changes are already committed.")
        return
    command = stage_changes if screen.side == "unstaged" else unstage_changes
    try:
        await screen.desk.client.call(command, worktree_id=screen.worktree.id)
    finally:
        await screen.read_all()


async def discard(screen: Diff) -> None:
    """Discard the changes of the file or the hunk; they can be restored."""
    if screen.side == "staged":
        screen.desk.say("Unstage it first (u), then discard it.")
    elif screen.side == "branch":
        screen.desk.say("These changes are already committed. A session can revert them.")
    elif screen.path:
        path, is_hunk = screen.path, screen.hunk is not None
        if await _change(screen, discard_changes):
            screen.undoing = None
            what = "a hunk of" if is_hunk else "the changes to"
            key = screen.desk.key_of("diff_undo")
            screen.desk.say(f"Discarded {what} '{path}'. {key} restores them.")


async def undo(screen: Diff) -> None:
    """Undo what was done last: a comment removed, a conflict resolved, changes discarded."""
    undoing, screen.undoing = screen.undoing, None
    if undoing is not None:
        await undoing()
        return
    try:
        restored = await screen.desk.client.call(undo_discard, worktree_id=screen.worktree.id)
        screen.action_show_side(SIDES[0])  # there it is
    finally:
        await screen.read_all()
    screen.files.go_to(restored.path)
    path = restored.path
    is_back = f"The conflict in '{path}' is back." if restored.conflicted else f"Restored '{path}'."
    screen.desk.say(is_back)


async def _change(screen: Diff, command: Any) -> bool:
    """Run a command for the file or hunk as displayed, then reload; return whether it worked."""
    seen = (
        screen.file_diff.digest
        if screen.file_diff and screen.file_diff.path == screen.path
        else None
    )
    hunk = screen.hunk
    if hunk == "":
        screen.desk.say("This hunk is only partly shown. Stage or discard the whole file.")
        return False
    try:
        await screen.desk.client.call(
            command, worktree_id=screen.worktree.id, path=screen.path, hunk=hunk, seen=seen
        )
    except SpinneyError as error:
        screen.desk.say(error.message, bad=True)
        return False
    finally:
        await screen.read_all()
    return True


async def next_side(screen: Diff) -> None:
    """Switch to the next side: unstaged, staged, branch."""
    screen.action_show_side(SIDES[(SIDES.index(screen.side) + 1) % len(SIDES)])


async def layout(screen: Diff) -> None:
    """Switch between one and two columns."""
    screen.change_layout()


async def next_hunk(screen: Diff) -> None:
    """Go to the next hunk; after the last one, to the next file."""
    screen.next_hunk(+1)


async def previous_hunk(screen: Diff) -> None:
    """Go to the previous hunk; before the first one, to the previous file."""
    screen.next_hunk(-1)


async def refresh(screen: Diff) -> None:
    """Reload the changes of all sides."""
    screen.load()


DIFF: Mapping[str, DiffActionFunction] = {
    f"diff_{function.__name__}": function
    for function in (
        stage, unstage, stage_all, discard, undo, next_side, layout, next_hunk, previous_hunk,
        refresh, mark, comment, comments, send, review, next_finding, fix, dismiss,
        findings,
    )
} | {
    "diff_accept": verdicts.accept,
    "diff_reject": verdicts.reject,
    "diff_undo_verdict": verdicts.undo,
    "diff_send_verdicts": verdicts.send,
}  # fmt: skip
