"""The action that adopts worktrees created outside Spinney."""

from model.api import worktrees as commands
from tui.desk import Desk
from tui.screens.choose import Choice, Choose
from tui.store.places import Place


async def adopt_worktree(desk: Desk) -> None:
    """Choose a worktree that git knows and Spinney does not, adopt it and open it."""
    project = desk.project
    if project is None or project.is_folder:
        desk.say("Select a project first.")
        return
    found = await desk.client.call(commands.list_outside_worktrees, project_id=project.id)
    if not found:
        desk.say(f"Every worktree of '{project.name}' is already in Spinney.")
        return
    choices = [Choice(one.path, one.path, one.branch or "no branch") for one in found]
    path = await desk.ask(Choose("Adopt which worktree?", choices))
    if path is None:
        return
    adopted = await desk.client.call(commands.adopt_worktree, project_id=project.id, path=path)
    await desk.mirror.wait_for(lambda state: adopted.id in state.worktrees)
    desk.open_place(Place("worktree", adopted.id))
