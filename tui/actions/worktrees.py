"""Actions about worktrees: made, named, labelled, brought back, looked at."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from model.base.errors import SpinneyError
from model.commands import git as git_commands
from model.commands import hosting
from model.commands import worktrees as commands
from model.commands.projects import get_project_branches
from model.commands.sessions import create_session
from model.domain.resources import Label
from tui.screens.choose import Choice, Choose
from tui.screens.dialog import AskText, Confirm
from tui.screens.new_worktree import (
    NewWorktree,
    Offers,
    WantedWorktree,
    issue_context,
    pull_request_context,
)
from tui.store.places import Place

if TYPE_CHECKING:
    from model.agents.catalog import Catalog
    from model.domain.resources import Project, Worktree
    from tui.shell.main_screen import MainScreen

CREATION_LIMIT: Final = 1200.0
"""Seconds that making a worktree may take: a fetch, and a checkout of minutes where it is large."""

_PALETTE: Final = {
    "#e5534b": "red",
    "#e0823d": "orange",
    "#d4a72c": "yellow",
    "#57ab5a": "green",
    "#39c5cf": "cyan",
    "#539bf5": "blue",
    "#b083f0": "purple",
    "#768390": "grey",
}
"""Colours of labels that can be read on dark and on light ground."""


async def new_worktree(screen: "MainScreen") -> None:
    """Ask what is wanted, make it, and begin its first session."""
    project = screen.project
    if project is None or project.is_folder:
        project = next((p for p in screen.state.projects.values() if not p.is_folder), None)
    if project is None:
        screen.say("Add a project first: press ctrl+p and choose “Add a project”.")
        return
    assert screen.link is not None
    wanted, problem = screen.link.unmade
    while True:
        given = await screen.app.push_screen_wait(
            NewWorktree(
                project.name, project.default_branch, _offers(screen, project), wanted, problem
            )
        )
        if given is None:
            return
        try:
            worktree = await _announced(screen, project, given)
            break
        except SpinneyError as error:
            wanted, problem = given, error.message
    # Work of its own: while git makes this one, another can be asked for.
    screen.link.start(_begin(screen, worktree, given))


def _offers(screen: "MainScreen", project: "Project") -> Offers:
    assert screen.link is not None

    async def branches() -> Sequence[Choice]:
        found = await screen.client.call(get_project_branches, project_id=project.id)
        return [Choice(b.name, b.name, "checked out" if b.current else "") for b in found]

    async def issues() -> Sequence[Choice]:
        found = await screen.client.call(hosting.list_issues, project_id=project.id)
        return [Choice(f"{issue.number}\n", f"#{issue.number} {issue.title}") for issue in found]

    async def pull_requests() -> Sequence[Choice]:
        found = await screen.client.call(hosting.list_pull_requests, project_id=project.id)
        return [
            Choice(
                f"{request.number}\n{request.head_ref_name}\n{request.base_ref_name}",
                f"#{request.number} {request.title}",
                f"{request.head_ref_name} → {request.base_ref_name}",
            )
            for request in found
        ]

    catalog = screen.link.catalog
    agents = [Choice(row.name, row.label, row.program) for row in catalog.backends]
    usual = Choice("", f"default ({catalog.label(_usual_agent(screen, project, catalog))})")
    return Offers(branches, issues, pull_requests, [usual, *agents])


def _usual_agent(screen: "MainScreen", project: "Project", catalog: "Catalog") -> str:
    """Who works where nobody is chosen."""
    preferred = "demo" if screen.demo else screen.state.preferences.default_backend
    named = (project.default_backend, preferred)
    known = (name for name in named if name and catalog.backend(name) is not None)
    return next(known, "backend_a")


async def _announced(
    screen: "MainScreen", project: "Project", wanted: WantedWorktree
) -> "Worktree":
    worktree = await screen.client.call(
        commands.create_worktree,
        project_id=project.id,
        base_branch=wanted.base or None,
        custom_name=wanted.name or None,
        issue_context=issue_context(wanted.issue),
        pr_context=pull_request_context(wanted.pull_request, project.default_branch),
    )
    await screen.mirror.until(lambda state: worktree.id in state.worktrees)
    return worktree


async def _begin(screen: "MainScreen", worktree: "Worktree", wanted: WantedWorktree) -> None:
    """A session and its first message as soon as the worktree is there.

    Until then the message is on the disk: whatever ends meanwhile, it is a draft of the worktree.
    """
    chat, session_id = screen.chat, ""
    if wanted.message:
        chat.drafts.sent(worktree.project_id, wanted.message)
    chat.hand_over(worktree.id, wanted.message)
    screen.open_place(Place("worktree", worktree.id))
    try:
        if await _is_made(screen, worktree, wanted):
            session_id = await _first_session(screen, worktree, wanted)
            if wanted.message and screen.link is not None:
                await screen.link.send(session_id, wanted.message)
    except (SpinneyError, TimeoutError):
        chat.give_back(worktree.id, wanted.message, to=session_id)
        raise
    chat.arrived(worktree.id, wanted.message)


async def _is_made(screen: "MainScreen", worktree: "Worktree", wanted: WantedWorktree) -> bool:
    """Wait until it is. Where it cannot be, all that was filled in is there for the next try."""
    link = screen.link
    assert link is not None
    state = await screen.mirror.until(
        lambda state: (
            worktree.id not in state.worktrees or state.worktrees[worktree.id].status != "creating"
        ),
        within=CREATION_LIMIT,
    )
    if worktree.id in state.worktrees:
        link.unmade = (WantedWorktree(), "")
        return True
    why = link.not_made.pop(worktree.id, "change something.")
    link.unmade = (wanted, f"“{worktree.name}” could not be made: {why}")
    return False


async def _first_session(screen: "MainScreen", worktree: "Worktree", wanted: WantedWorktree) -> str:
    session = await screen.client.call(
        create_session,
        worktree_id=worktree.id,
        backend=wanted.backend or None,
        execution_mode=wanted.mode,
    )
    await screen.mirror.until(lambda state: session.id in state.sessions)
    # Somebody may have gone elsewhere while a large checkout went on; they are left there.
    if screen.place == Place("worktree", worktree.id):
        screen.action_open_session(session.id)
    return session.id


async def cancel_git(screen: "MainScreen") -> None:
    """End the creation, commit, pull or push that runs in the worktree."""
    worktree = pointed_worktree(screen)
    if worktree is None:
        return
    if worktree.status == "creating":
        sentence = f"Stop making “{worktree.name}”? Nothing of it stays."
        dialog = Confirm("Cancel the creation", sentence, "stop it", cancel="go on making it")
        if not await screen.app.push_screen_wait(dialog):
            return
    await screen.client.call(git_commands.cancel_git, worktree_id=worktree.id)


async def open_base(screen: "MainScreen") -> None:
    """Sessions in the project's own directory."""
    project = screen.project
    if project is None or project.is_folder:
        screen.say("Open or point at a project first.")
        return
    worktree = await screen.client.call(commands.open_base_worktree, project_id=project.id)
    await screen.mirror.until(lambda state: worktree.id in state.worktrees)
    screen.open_place(Place("worktree", worktree.id))


async def rename_worktree(screen: "MainScreen") -> None:
    """Give the worktree and its branch another name; asked again where that cannot be."""
    worktree = pointed_worktree(screen)
    if worktree is None:
        return
    name, problem = worktree.name, ""
    while True:
        given = await screen.app.push_screen_wait(
            AskText("Rename the worktree and its branch", name, sentence=problem)
        )
        if given is None or given == worktree.name:
            return
        try:
            await screen.client.call(
                commands.rename_worktree, worktree_id=worktree.id, new_name=given
            )
            return
        except SpinneyError as error:
            name, problem = given, error.message


async def label_worktree(screen: "MainScreen") -> None:
    """A coloured word; an empty one takes it away."""
    worktree = pointed_worktree(screen)
    if worktree is None:
        return
    label, problem = worktree.label, "A word that stands by its name, such as “review”."
    name = label.name if label else ""
    while True:
        dialog = AskText("Label", name, sentence=problem, empty="take the label away")
        given = await screen.app.push_screen_wait(dialog)
        if given is None:
            return
        try:
            await _label(screen, worktree, given)
            return
        except SpinneyError as error:
            name, problem = given, error.message


async def _label(screen: "MainScreen", worktree: "Worktree", name: str) -> None:
    label = None
    if name:
        choices = [Choice(color, f"██ {word}", color=color) for color, word in _PALETTE.items()]
        present = worktree.label.color if worktree.label else ""
        color = await screen.app.push_screen_wait(Choose("Colour of the label", choices, present))
        if color is None:
            return
        label = Label(name=name, color=color)
    await screen.client.call(commands.update_worktree_label, worktree_id=worktree.id, label=label)


async def recreate_worktree(screen: "MainScreen") -> None:
    """Check the branch out again whose directory is gone."""
    worktree = pointed_worktree(screen)
    if worktree is None:
        return
    if worktree.status != "missing":
        screen.say(f"The directory of “{worktree.name}” is there.")
        return
    screen.say(f"Checking out {worktree.branch} again …")
    await screen.client.call(commands.recreate_worktree, worktree_id=worktree.id)


async def refresh_git(screen: "MainScreen") -> None:
    """Ask git about all worktrees of the project."""
    if screen.project is not None:
        await screen.client.call(git_commands.fetch_worktrees_status, project_id=screen.project.id)


async def copy_path(screen: "MainScreen") -> None:
    """Copy where the worktree is."""
    worktree = pointed_worktree(screen)
    if worktree is not None:
        screen.spinney.copy(worktree.path)


def pointed_worktree(screen: "MainScreen") -> "Worktree | None":
    """The worktree that actions are about; says so where there is none."""
    if screen.worktree is None:
        screen.say("Open or point at a worktree first.")
    return screen.worktree
