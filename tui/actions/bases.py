"""The branch that a worktree lands in: another one, and onto it once its base has landed."""

from typing import TYPE_CHECKING

from model.api.landing import preview_landing
from model.api.projects import get_project_branches
from model.api.worktrees import set_worktree_base
from model.base.text import clean_line
from tui.actions.worktrees import pointed_worktree
from tui.desk import Desk
from tui.screens.choose import Choice, Choose
from tui.screens.go_ahead import GoAhead

if TYPE_CHECKING:
    from model.domain.worktrees import Worktree


async def change_base(desk: Desk) -> None:
    """Ask for another base branch, and whether the worktree's commits are moved onto it."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    found = await desk.client.call(get_project_branches, project_id=worktree.project_id)
    choices = [Choice(one.name, one.name) for one in found if one.name != worktree.branch]
    present = worktree.base_branch or desk.state.projects[worktree.project_id].default_branch
    base = await desk.ask(Choose(f"Base of {clean_line(worktree.name)}", choices, present))
    if base is None or base == present:
        return
    ways = [
        Choice("move", "move its commits onto it", "rebase; nothing may be uncommitted"),
        Choice("keep", "leave its commits where they are"),
    ]
    way = await desk.ask(Choose(f"From {clean_line(present)} to {clean_line(base)}", ways, "move"))
    if way is not None:
        await _set(desk, worktree, base, move_commits=way == "move")


async def move_onto_new_base(desk: Desk, worktree: "Worktree") -> None:
    """Move a worktree onto the branch in which its base has landed, after a question."""
    preview = await desk.client.call(preview_landing, worktree_id=worktree.id)
    if not preview.new_base:
        desk.say("Its base has not landed.")
        return
    new, old = clean_line(preview.new_base), clean_line(preview.base)
    sentence = (
        f"Move the commits that '{clean_line(worktree.name)}' has on top of {old} onto {new}?"
    )
    if await desk.ask(GoAhead(f"Move it onto {new}", sentence, "move")):
        await _set(desk, worktree, preview.new_base, move_commits=True)


async def _set(desk: Desk, worktree: "Worktree", base: str, *, move_commits: bool) -> None:
    await desk.client.call(
        set_worktree_base, worktree_id=worktree.id, base_branch=base, move_commits=move_commits
    )
    moved = ", and its commits are on top of it" if move_commits else ""
    desk.say(f"'{clean_line(worktree.name)}' lands in {clean_line(base)} now{moved}.")
