"""Actions about commits and stashes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.api.stashes import apply_stash, drop_stash, list_stashes, restore_stash, stash_changes
from model.base.plural import count
from model.base.text import clean_line
from tui.actions.git import offer_push
from tui.actions.worktrees import pointed_worktree
from tui.desk import Desk

if TYPE_CHECKING:
    from model.api.stashes import Stash
    from model.domain.worktrees import Worktree
    from tui.diff.stash_dialog import What


@dataclass(frozen=True, slots=True)
class StashDraft:
    """A stash's message that was written and not used yet."""

    message: str = ""


async def log(desk: Desk) -> None:
    """Show the commits of the worktree's branch on a full screen."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    from tui.diff.log_actions import LOG
    from tui.diff.log_screen import Log

    async def push(screen: Log) -> None:
        await offer_push(screen.desk)

    desk.show(Log(desk, worktree, {**LOG, "log_push": push}))


async def stash(desk: Desk) -> None:
    """List the stashes: put changes aside, bring them back, drop them."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    from tui.diff.stash_dialog import Stashes

    at, dropped = 0, list[str]()
    while True:
        stashes = await desk.client.call(list_stashes, worktree_id=worktree.id)
        chosen = await desk.ask(Stashes(stashes, can_undo=bool(dropped), at=at))
        if chosen is None:
            return
        what, at = chosen
        match what:
            case "create":
                await _create(desk, worktree)
            case "undo":
                stash_id = dropped.pop()
                await desk.client.call(restore_stash, worktree_id=worktree.id, stash_id=stash_id)
            case "drop":
                await desk.client.call(drop_stash, worktree_id=worktree.id, stash_id=stashes[at].id)
                dropped.append(stashes[at].id)
            case _:
                await _apply(desk, worktree, stashes[at], what)
                return


async def _create(desk: Desk, worktree: "Worktree") -> None:
    from tui.screens.dialog import AskText

    dialog = AskText(
        "Stash all changes",
        desk.drafts.get(StashDraft, worktree.id).message,
        sentence="All uncommitted changes are put aside, new files included.",
        placeholder="What they are (optional)",
        empty="without a message",
        verb="stash",
    )
    message = await desk.ask(dialog)
    desk.drafts.set(StashDraft("" if message is not None else dialog.text), worktree.id)
    if message is not None:
        created = await desk.client.call(stash_changes, worktree_id=worktree.id, message=message)
        desk.say(f"Stashed {count(created.files, 'file')}.")


async def _apply(desk: Desk, worktree: "Worktree", stash: "Stash", what: "What") -> None:
    result = await desk.client.call(
        apply_stash, worktree_id=worktree.id, stash_id=stash.id, drop=what == "pop"
    )
    name = clean_line(stash.message)
    if result.success:
        kept = "" if what == "pop" else " It is still on the list."
        desk.say(f"Brought back: {name}.{kept}")
        return
    desk.say(
        f"Some changes of '{name}' conflict with those that are here. The files with conflicts are "
        "first in the list of changes; the stash is kept.",
        bad=True,
    )
