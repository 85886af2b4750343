"""The action that takes up worktrees which were made outside Spinney."""

from typing import TYPE_CHECKING

from model.commands import worktrees as commands
from tui.screens.choose import Choice, Choose
from tui.store.places import Place

if TYPE_CHECKING:
    from tui.shell.main_screen import MainScreen


async def adopt_worktree(screen: "MainScreen") -> None:
    """Choose one of those that git knows and Spinney does not, and open it."""
    project = screen.project
    if project is None or project.is_folder:
        screen.say("Open or point at a project first.")
        return
    found = await screen.client.call(commands.list_outside_worktrees, project_id=project.id)
    if not found:
        screen.say(f"Every worktree of “{project.name}” is here already.")
        return
    choices = [Choice(one.path, one.path, one.branch or "no branch") for one in found]
    path = await screen.app.push_screen_wait(Choose("Adopt which worktree?", choices))
    if path is None:
        return
    adopted = await screen.client.call(commands.adopt_worktree, project_id=project.id, path=path)
    await screen.mirror.until(lambda state: adopted.id in state.worktrees)
    screen.open_place(Place("worktree", adopted.id))
