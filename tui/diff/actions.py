"""What the keys of the diff screen do: stage, unstage, discard, bring back, look elsewhere."""

from collections.abc import Mapping
from typing import Any

from model.api.changes import discard_changes, stage_changes, undo_discard, unstage_changes
from model.base.errors import SpinneyError
from tui.diff.comments import comment, comments, mark
from tui.diff.screen import Diff, DiffAction
from tui.diff.state import SIDES


async def stage(screen: Diff) -> None:
    """Stage the file, or the hunk under the cursor."""
    if screen.side != "unstaged":
        screen.desk.say("Only what is not staged can be staged; v leads there.")
    elif screen.path:
        await _change(screen, stage_changes)


async def unstage(screen: Diff) -> None:
    """Take the file, or the hunk under the cursor, out of the next commit."""
    if screen.side != "staged":
        screen.desk.say("Only what is staged can be taken out; v leads there.")
    elif screen.path:
        await _change(screen, unstage_changes)


async def stage_all(screen: Diff) -> None:
    """Stage everything, or take everything out."""
    if screen.side == "branch":
        screen.desk.say("This is committed already.")
        return
    command = stage_changes if screen.side == "unstaged" else unstage_changes
    try:
        await screen.desk.client.call(command, worktree_id=screen.worktree.id)
    finally:
        await screen.read()


async def discard(screen: Diff) -> None:
    """Take back the file's changes, or the hunk's; they are kept for an undo."""
    if screen.side == "staged":
        screen.desk.say("Unstage it first (u); then it can be discarded.")
    elif screen.side == "branch":
        screen.desk.say("This is committed already; a session can revert it.")
    elif screen.path:
        path, is_hunk = screen.path, screen.hunk is not None
        if await _change(screen, discard_changes):
            what = "A hunk of" if is_hunk else "What was changed in"
            key = screen.desk.key_of("diff_undo")
            screen.desk.say(f"{what} '{path}' is discarded; {key} brings it back.")


async def undo(screen: Diff) -> None:
    """Bring back what was discarded last."""
    try:
        done = await screen.desk.client.call(undo_discard, worktree_id=screen.worktree.id)
    finally:
        await screen.read()
    screen.files.go_to(done.path)
    screen.desk.say(f"'{done.path}' is as it was before the discard.")


async def _change(screen: Diff, command: Any) -> bool:
    """Run it for what is meant, as it was seen; the list is read anew whatever comes of it."""
    seen = (
        screen.file_diff.digest
        if screen.file_diff and screen.file_diff.path == screen.path
        else None
    )
    hunk = screen.hunk
    if hunk == "":
        screen.desk.say("This hunk is shown in part only; stage or discard the whole file.")
        return False
    try:
        await screen.desk.client.call(
            command, worktree_id=screen.worktree.id, path=screen.path, hunk=hunk, seen=seen
        )
    except SpinneyError as error:
        screen.desk.say(error.message, bad=True)
        return False
    finally:
        await screen.read()
    return True


async def next_side(screen: Diff) -> None:
    """Not staged, staged, against the base, and round again."""
    screen.action_look_at(SIDES[(SIDES.index(screen.side) + 1) % len(SIDES)])


async def layout(screen: Diff) -> None:
    """One column or two."""
    screen.change_layout()


async def next_hunk(screen: Diff) -> None:
    """The next hunk; after the last one, the next file."""
    if not screen.view.next_hunk(+1):
        screen.files.action_move(+1)


async def previous_hunk(screen: Diff) -> None:
    """The hunk before; before the first one, the file before."""
    if not screen.view.next_hunk(-1):
        screen.files.action_move(-1)


async def refresh(screen: Diff) -> None:
    """Look anew."""
    await screen.read()


DIFF: Mapping[str, DiffAction] = {
    f"diff_{function.__name__}": function
    for function in (
        stage, unstage, stage_all, discard, undo, next_side, layout, next_hunk, previous_hunk,
        refresh, mark, comment, comments,
    )
}  # fmt: skip
