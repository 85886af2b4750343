"""Actions about worktrees."""

from typing import TYPE_CHECKING

from model.commands import git as git_commands
from model.commands import worktrees as commands
from model.commands.sessions import create_session
from model.errors import SpinneyError
from tui.places import Place
from tui.screens.dialog import Confirm
from tui.screens.new_worktree import NewWorktree, WantedWorktree

if TYPE_CHECKING:
    from model.resources import Project, Worktree
    from tui.screens.main import MainScreen

CREATION_LIMIT = 600.0
"""Seconds that making a worktree may take: large repositories check out for minutes."""


async def new_worktree(screen: "MainScreen") -> None:
    """Ask what is wanted, make it, and begin its first session."""
    project = screen.project or next(
        (p for p in screen.state.projects.values() if not p.is_folder), None
    )
    if project is None or project.is_folder:
        screen.say("Add a project first: press ctrl+p and choose “Add a project”.")
        return
    wanted, problem = screen.link.unmade if screen.link else (WantedWorktree(), "")
    while True:
        given = await screen.app.push_screen_wait(
            NewWorktree(project.name, project.default_branch, wanted, problem)
        )
        if given is None:
            return
        try:
            worktree = await _announced(screen, project, given)
            break
        except SpinneyError as error:
            wanted, problem = given, error.message
    await _begin(screen, worktree, given)


async def _announced(
    screen: "MainScreen", project: "Project", wanted: WantedWorktree
) -> "Worktree":
    worktree = await screen.client.call(
        commands.create_worktree,
        project_id=project.id,
        base_branch=wanted.base or None,
        custom_name=wanted.name or None,
    )
    await screen.mirror.until(lambda state: worktree.id in state.worktrees)
    return worktree


async def _begin(screen: "MainScreen", worktree: "Worktree", wanted: WantedWorktree) -> None:
    """A session at once; its first message as soon as the worktree is there."""
    link = screen.link
    assert link is not None
    screen.open_place(Place("worktree", worktree.id))
    state = await screen.mirror.until(
        lambda state: (
            worktree.id not in state.worktrees or state.worktrees[worktree.id].status != "creating"
        ),
        within=CREATION_LIMIT,
    )
    if worktree.id not in state.worktrees:
        # Its event tells why. What was filled in is there again when one tries once more.
        link.unmade = (wanted, f"“{worktree.name}” could not be made; change something.")
        return
    link.unmade = (WantedWorktree(), "")
    session = await screen.client.call(create_session, worktree_id=worktree.id)
    await screen.mirror.until(lambda state: session.id in state.sessions)
    # Somebody may have gone elsewhere while a large checkout went on; they are left there.
    if screen.place == Place("worktree", worktree.id):
        screen.action_open_session(session.id)
    if wanted.message:
        await link.send(session.id, wanted.message)


async def archive_worktree(screen: "MainScreen") -> None:
    """Put the worktree away."""
    worktree = screen.worktree
    if worktree is None:
        screen.say("Open or point at a worktree first.")
        return
    await screen.client.call(commands.archive_worktree, worktree_id=worktree.id)
    screen.say(f"“{worktree.name}” is archived; its files stay.")


async def remove_worktree(screen: "MainScreen") -> None:
    """Remove the worktree; what would be lost is named before anything is."""
    worktree = screen.worktree
    if worktree is None:
        screen.say("Open or point at a worktree first.")
        return
    archives = screen.state.preferences.removal_behavior == "archive"
    what = (
        "It goes to the archive; its files stay."
        if archives
        else "Its directory, its branch and its sessions are deleted."
    )
    sentence = f"Remove the worktree “{worktree.name}”?\n{what}"
    if not await screen.app.push_screen_wait(Confirm("Remove the worktree", sentence, "remove")):
        return
    try:
        await screen.client.call(commands.remove_worktree, worktree_id=worktree.id)
    except SpinneyError as error:
        if error.error_type != "conflict" or _is_busy(screen, worktree):
            raise
        dialog = Confirm("This would be lost", error.message, "remove it anyway", enter=False)
        if not await screen.app.push_screen_wait(dialog):
            return
        await screen.client.call(commands.remove_worktree, worktree_id=worktree.id, force=True)
    screen.say(f"“{worktree.name}” is removed.")


def _is_busy(screen: "MainScreen", worktree: "Worktree") -> bool:
    """Whether a session at work is why it was refused; force would not help."""
    sessions = screen.state.sessions_of(worktree.id)
    return any(session.status in ("running", "waiting") for session in sessions)


async def refresh_git(screen: "MainScreen") -> None:
    """Ask git about all worktrees of the project."""
    if screen.project is not None:
        await screen.client.call(git_commands.fetch_worktrees_status, project_id=screen.project.id)


async def copy_path(screen: "MainScreen") -> None:
    """Copy where the worktree is."""
    if screen.worktree is None:
        screen.say("Open or point at a worktree first.")
        return
    screen.spinney.copy(screen.worktree.path)
