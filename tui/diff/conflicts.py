"""Actions on conflicts: take a side of a file, and continue what the conflicts stopped."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from model.api.changes import continue_operation, resolve_conflict
from model.api.git import cancel_git
from tui.diff.screen import Diff, DiffActionFunction
from tui.screens.go_ahead import GoAhead
from tui.screens.secrets_found import after_secrets

if TYPE_CHECKING:
    from model.api.git import CommitResult
    from model.domain.changes import ConflictChoice

_TOOK: Final = {"ours": "ours", "theirs": "theirs", "both": "both sides"}


async def ours(screen: Diff) -> None:
    """Take our side of the file."""
    await _resolve(screen, "ours")


async def theirs(screen: Diff) -> None:
    """Take their side of the file."""
    await _resolve(screen, "theirs")


async def both(screen: Diff) -> None:
    """Take the lines of both sides, ours first."""
    await _resolve(screen, "both")


async def _resolve(screen: Diff, choice: "ConflictChoice") -> None:
    file, desk = screen.files.file, screen.desk
    if file is None or file.status != "conflicted":
        desk.say("This file has no conflict.")
        return
    try:
        await desk.client.call(
            resolve_conflict, worktree_id=screen.worktree.id, path=file.path, choice=choice
        )
        screen.undoing = None
    finally:
        await screen.read_all()
    sentence = f"Took {_TOOK[choice]} in '{file.path}'. {desk.key_of('diff_undo')} undoes it."
    changes = screen.sides.get("unstaged")
    if changes is not None and not any(each.status == "conflicted" for each in changes.files):
        key = desk.key_of("diff_continue")
        sentence += f" No conflict is left: {key} continues the {changes.operation or 'merge'}."
    desk.say(sentence)


async def continue_(screen: Diff) -> None:
    """Continue the merge or rebase, once no file has a conflict."""
    desk, operation = screen.desk, screen.operation
    if operation is None:
        desk.say("No merge or rebase is in progress.")
        return
    from tui.screens.working import Progress

    sentence = (
        "All conflicts are resolved. Commit the merge with the message that git has prepared?"
        if operation == "merge"
        else f"All conflicts so far are resolved. Continue the {operation}?"
    )
    if not await desk.ask(GoAhead(f"Continue the {operation}", sentence, "continue")):
        return

    worktree = screen.worktree

    async def run(allowed: list[str] | None) -> "CommitResult":
        desk.pending.reported.add(("commit", worktree.id))
        return await desk.client.call(
            continue_operation, worktree_id=worktree.id, allowed_secrets=allowed
        )

    async def work() -> "CommitResult":
        about = worktree.project_id
        return await after_secrets(desk, about, "commit", run, worktree_id=worktree.id)

    async def cancel() -> None:
        await desk.client.call(cancel_git, worktree_id=screen.worktree.id)

    title = f"Continue the {operation}"
    try:
        result = await desk.ask(Progress(title, f"Continuing the {operation} …", work, cancel))
    finally:
        screen.load()
    if result is not None:
        desk.say(f"The {operation} is complete: {result.commit_sha[:10]}.")


CONFLICTS: Mapping[str, DiffActionFunction] = {
    "diff_ours": ours,
    "diff_theirs": theirs,
    "diff_both": both,
    "diff_continue": continue_,
}
"""The actions on conflicts by their ids."""
