"""The action that adopts worktrees created outside Spinney."""

from typing import Final

from model.api import worktrees as commands
from model.base.text import clean_line
from model.domain.worktrees import OutsideWorktree
from tui.desk import Desk
from tui.screens.choose import Choice, Choose
from tui.store.places import Place

_ADOPT: Final = Choice(
    "adopt", "Adopt", "work in it here; its directory and branch stay as they are"
)
_IGNORE: Final = (_ADOPT, Choice("change", "Ignore", "do not offer it again"))
_UNIGNORE: Final = (_ADOPT, Choice("change", "Offer it again"))


async def adopt_worktree(desk: Desk) -> None:
    """Choose a worktree that git knows and Spinney does not; adopt and open it, or ignore it."""
    project = desk.project
    if project is None or project.is_folder:
        desk.say("Select a project first.")
        return
    found = await desk.client.call(
        commands.list_outside_worktrees, project_id=project.id, include_ignored=True
    )
    if not found:
        desk.say(f"Every worktree of '{clean_line(project.name)}' is already in Spinney.")
        return
    found.sort(key=lambda each: each.ignored)
    choices = [Choice(each.path, each.path, _describe(each)) for each in found]
    path = await desk.ask(Choose("Worktrees created outside Spinney", choices))
    chosen = next((each for each in found if each.path == path), None)
    if chosen is None:
        return
    fate = await desk.ask(Choose(clean_line(chosen.path), _UNIGNORE if chosen.ignored else _IGNORE))
    if fate == "adopt":
        adopted = await desk.client.call(
            commands.adopt_worktree, project_id=project.id, path=chosen.path
        )
        await desk.mirror.wait_for(lambda state: adopted.id in state.worktrees)
        desk.open_place(Place("worktree", adopted.id))
    elif fate is not None:
        await desk.client.call(
            commands.ignore_outside_worktree,
            project_id=project.id,
            path=chosen.path,
            ignored=not chosen.ignored,
        )


def _describe(worktree: OutsideWorktree) -> str:
    branch = worktree.branch or "no branch"
    return f"{branch} · ignored" if worktree.ignored else branch
