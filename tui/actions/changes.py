"""Opens the diff screen, with its actions that are made of others: git, the editor."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from model.api.lines import explain_line
from tui.actions import git, history, reviewing
from tui.actions.editor import open_file
from tui.actions.origin import show_origin
from tui.actions.pull_requests import pull_request
from tui.actions.worktrees import pointed_worktree
from tui.desk import ActionFunction, Desk

if TYPE_CHECKING:
    from tui.diff.screen import Diff, DiffActionFunction


async def open_diff(desk: Desk, path: str | None = None) -> None:
    """Show the worktree's changes on a full screen."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    from tui.diff.actions import DIFF
    from tui.diff.conflicts import CONFLICTS
    from tui.diff.screen import Diff

    desk.show(Diff(desk, worktree, {**DIFF, **CONFLICTS, **ON_DIFF_SCREEN}, path))


async def pull_base(screen: "Diff") -> None:
    """Say what of the base is missing; bring it in on enter."""
    await git.update_worktree(screen.desk, screen.worktree)


async def edit(screen: "Diff") -> None:
    """Open the editor at the line under the cursor."""
    await screen.wait_until_read()
    if not screen.path:
        screen.desk.say("There is no file here to open.")
        return
    line = 1 if screen.is_in_files and not screen.view.text.rows else screen.view.file_line
    await open_file(screen.desk, screen.path, line)


async def why(screen: "Diff") -> None:
    """Explain the line under the cursor: the turn that wrote it, with its prompt and plan."""
    await screen.wait_until_read()
    row = screen.view.line
    if not screen.path or row is None or row.sign == "-":
        screen.desk.say("Move to a line that is in the file now, then ask why it is there.")
        return
    origin = await screen.desk.client.call(
        explain_line, worktree_id=screen.worktree.id, path=screen.path, line=screen.view.file_line
    )
    await show_origin(screen.desk, origin)


def _on_desk(action: ActionFunction) -> "DiffActionFunction":
    async def act(screen: "Diff") -> None:
        await action(screen.desk)

    return act


def _and_reload(action: "DiffActionFunction") -> "DiffActionFunction":
    """Wrap an action that changes the worktree: the screen reloads afterwards."""

    async def act(screen: "Diff") -> None:
        try:
            await action(screen)
        finally:
            if screen.is_attached:
                screen.load()

    return act


ON_DIFF_SCREEN: "Mapping[str, DiffActionFunction]" = {
    "diff_push": _and_reload(_on_desk(git.offer_push)),
    "diff_pull_base": _and_reload(pull_base),
    "diff_edit": _and_reload(edit),
    "diff_why": why,
    "diff_log": _on_desk(history.log),
    "diff_compare": _on_desk(reviewing.compare),
    "diff_stash": _and_reload(_on_desk(history.stash)),
    **{
        f"diff_{action.__name__}": _and_reload(_on_desk(action))
        for action in (git.commit, pull_request, git.resolve_conflicts, git.abort_merge)
    },
}
"""Actions that the diff screen offers for its worktree, by their ids."""
