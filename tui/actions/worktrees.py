"""Actions on worktrees: create, rename, label, recreate, refresh."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from model.api import git as git_commands
from model.api import hosting
from model.api import worktrees as commands
from model.api.projects import get_project_branches
from model.base.errors import SpinneyError
from model.domain.worktrees import Label
from tui.actions.open_work import open_work
from tui.desk import Desk
from tui.screens.choose import Choice, Choose
from tui.screens.dialog import AskText, Confirm
from tui.screens.new_worktree import (
    NewWorktree,
    Offers,
    UnmadeWorktree,
    WantedWorktree,
    issue_context,
    pull_request_context,
)
from tui.screens.pick import Load
from tui.store.places import Place
from tui.store.task_choices import TaskChoices

if TYPE_CHECKING:
    from model.agents.catalog import Catalog
    from model.domain.projects import Project
    from model.domain.worktrees import Worktree

CREATION_LIMIT: Final = 1200.0
"""Seconds that creating a worktree may take: a fetch, and minutes for a large checkout."""

_LABEL_COLORS: Final = {
    "#e5534b": "red",
    "#e0823d": "orange",
    "#d4a72c": "yellow",
    "#57ab5a": "green",
    "#39c5cf": "cyan",
    "#539bf5": "blue",
    "#b083f0": "purple",
    "#768390": "gray",
}
"""Label colors that are readable on dark and light backgrounds."""


async def new_worktree(desk: Desk) -> None:
    """Ask for the details, create a worktree and start its first session."""
    project = desk.project
    if project is None or project.is_folder:
        project = next((p for p in desk.state.projects.values() if not p.is_folder), None)
    if project is None:
        desk.say("Add a project first: press ctrl+p and choose 'Add a project'.")
        return
    unmade = desk.drafts.get(UnmadeWorktree, project.id)
    wanted, problem = unmade.wanted, unmade.problem
    if wanted == WantedWorktree():
        used = _last_choices(desk, project)
        wanted = WantedWorktree(backend=used.backend, model=used.model, mode=used.mode)
    while True:
        dialog = NewWorktree(
            project.name, project.default_branch, _offers(desk, project), wanted, problem
        )
        given = await desk.ask(dialog)
        if given is None:
            is_begun = dialog.left.message or dialog.left.name or problem
            kept = UnmadeWorktree(dialog.left, problem) if is_begun else UnmadeWorktree()
            desk.drafts.set(kept, project.id)
            if dialog.wants_other_work:
                await open_work(desk)
            return
        try:
            worktree = await _request_worktree(desk, project, given)
            break
        except SpinneyError as error:
            wanted, problem = given, error.message
    desk.task_choices.pop(project.id, None)
    desk.task_choices[project.id] = TaskChoices(given.backend, given.model, given.mode)
    if given.message:
        desk.chat.drafts.add_sent(project.id, given.message)
    desk.chat.start_sending(worktree.id, given.message)
    desk.open_place(Place("worktree", worktree.id))
    # The rest is separate work, so that another worktree can be requested while git creates this.
    desk.start(_start_session(desk, worktree, given))


def _last_choices(desk: Desk, project: "Project") -> TaskChoices:
    """What was chosen for the project's last task; for its first one the mode of the last one."""
    used = desk.task_choices.get(project.id)
    if used is not None or not desk.task_choices:
        return used or TaskChoices()
    return TaskChoices(mode=list(desk.task_choices.values())[-1].mode)


def _offers(desk: Desk, project: "Project") -> Offers:

    async def branches() -> Sequence[Choice]:
        found = await desk.client.call(get_project_branches, project_id=project.id)
        return [Choice(b.name, b.name, "checked out" if b.current else "") for b in found]

    async def issues(search: str = "") -> Sequence[Choice]:
        found = await desk.client.call(hosting.list_issues, project_id=project.id, search=search)
        return [Choice(f"{issue.number}\n", f"#{issue.number} {issue.title}") for issue in found]

    async def pull_requests(search: str = "") -> Sequence[Choice]:
        found = await desk.client.call(
            hosting.list_pull_requests, project_id=project.id, search=search
        )
        return [
            Choice(
                f"{request.number}\n{request.head_ref_name}\n{request.base_ref_name}",
                f"#{request.number} {request.title}",
                f"{request.head_ref_name} → {request.base_ref_name}",
            )
            for request in found
        ]

    catalog = desk.agents.catalog
    agents = [Choice(row.name, row.label, row.program) for row in catalog.backends]
    default = Choice("", f"default ({catalog.label(_default_agent(desk, project, catalog))})")

    def models(backend: str) -> Load:
        async def load() -> Sequence[Choice]:
            name = backend or _default_agent(desk, project, catalog)
            found = await desk.agents.with_models(name, project.id)
            return [Choice(model.name, model.label) for model in found.models(name)]

        return load

    included = partial(desk.client.call, commands.get_included_files, project_id=project.id)
    return Offers(
        branches, issues, pull_requests, issues, pull_requests, [default, *agents], models, included
    )


def _default_agent(desk: Desk, project: "Project", catalog: "Catalog") -> str:
    """Return the agent that is used if none is chosen."""
    preferred = "demo" if desk.demo else desk.state.preferences.default_backend
    named = (project.default_backend, preferred)
    known = (name for name in named if name and catalog.backend(name) is not None)
    return next(known, "backend_a")


async def _request_worktree(desk: Desk, project: "Project", wanted: WantedWorktree) -> "Worktree":
    worktree = await desk.client.call(
        commands.create_worktree,
        project_id=project.id,
        base_branch=wanted.base or None,
        branch=wanted.branch or None,
        custom_name=wanted.name or None,
        issue_context=issue_context(wanted.issue),
        pr_context=pull_request_context(wanted.pull_request, project.default_branch),
    )
    await desk.mirror.wait_for(lambda state: worktree.id in state.worktrees)
    return worktree


async def _start_session(desk: Desk, worktree: "Worktree", wanted: WantedWorktree) -> None:
    """Create a session and send the first message once the worktree exists.

    Until then the message is saved as a draft of the worktree, so that it survives a crash.
    """
    chat, session_id = desk.chat, ""
    try:
        create = partial(_create_session, desk, worktree, wanted)
        session_id = await desk.outbox.start_session(worktree.id, create)
        if session_id and wanted.message:
            await desk.outbox.send(session_id, wanted.message)
    except (SpinneyError, TimeoutError):
        chat.return_message(worktree.id, wanted.message, to=session_id)
        raise
    chat.confirm_sent(worktree.id, wanted.message)


async def _wait_for_creation(desk: Desk, worktree: "Worktree", wanted: WantedWorktree) -> bool:
    """Return whether the creation succeeded; if not, keep the dialog's input for the next try."""
    state = await desk.mirror.wait_for(
        lambda state: (
            worktree.id not in state.worktrees or state.worktrees[worktree.id].status != "creating"
        ),
        timeout=CREATION_LIMIT,
    )
    if worktree.id in state.worktrees:
        desk.drafts.drop(UnmadeWorktree, worktree.project_id)
        return True
    reason = desk.pending.failed_worktrees.pop(worktree.id, "unknown error.")
    problem = f"Could not create '{worktree.name}': {reason}"
    desk.drafts.set(UnmadeWorktree(wanted, problem), worktree.project_id)
    return False


async def _create_session(desk: Desk, worktree: "Worktree", wanted: WantedWorktree) -> str:
    """Create the session once the worktree exists; '' if its creation failed."""
    if not await _wait_for_creation(desk, worktree, wanted):
        return ""
    return await desk.outbox.create_session(
        worktree.id,
        backend=wanted.backend or None,
        model=wanted.model or None,
        execution_mode=wanted.mode,
    )


async def cancel_git(desk: Desk) -> None:
    """Cancel what git does in the worktree."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    if worktree.status == "creating":
        sentence = f"Stop creating '{worktree.name}'? Everything created so far is removed."
        dialog = Confirm("Cancel creation", sentence, "stop", cancel="continue")
        if not await desk.ask(dialog):
            return
    await desk.client.call(git_commands.cancel_git, worktree_id=worktree.id)


async def open_base(desk: Desk) -> None:
    """Open the project's own directory for sessions."""
    project = desk.project
    if project is None or project.is_folder:
        desk.say("Select a project first.")
        return
    worktree = await desk.client.call(commands.open_base_worktree, project_id=project.id)
    await desk.mirror.wait_for(lambda state: worktree.id in state.worktrees)
    desk.open_place(Place("worktree", worktree.id))


async def rename_worktree(desk: Desk) -> None:
    """Rename the worktree and its branch; ask again if the name is rejected."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    name, problem = worktree.name, ""
    while True:
        given = await desk.ask(
            AskText("Rename the worktree and its branch", name, sentence=problem)
        )
        if given is None or given == worktree.name:
            return
        try:
            await desk.client.call(
                commands.rename_worktree, worktree_id=worktree.id, new_name=given
            )
            return
        except SpinneyError as error:
            name, problem = given, error.message


async def label_worktree(desk: Desk) -> None:
    """Set the worktree's colored label; an empty name removes it."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    label, problem = worktree.label, "A short text shown next to its name, such as 'review'."
    name = label.name if label else ""
    while True:
        dialog = AskText("Label", name, sentence=problem, empty="remove the label")
        given = await desk.ask(dialog)
        if given is None:
            return
        try:
            await _label(desk, worktree, given)
            return
        except SpinneyError as error:
            name, problem = given, error.message


async def _label(desk: Desk, worktree: "Worktree", name: str) -> None:
    label = None
    if name:
        choices = [Choice(color, f"██ {hue}", color=color) for color, hue in _LABEL_COLORS.items()]
        present = worktree.label.color if worktree.label else ""
        color = await desk.ask(Choose("Color of the label", choices, present))
        if color is None:
            return
        label = Label(name=name, color=color)
    await desk.client.call(commands.update_worktree_label, worktree_id=worktree.id, label=label)


async def recreate_worktree(desk: Desk) -> None:
    """Check the branch out again if its directory no longer exists."""
    worktree = pointed_worktree(desk)
    if worktree is None:
        return
    if worktree.status != "missing":
        desk.say(f"The directory of '{worktree.name}' exists.")
        return
    desk.say(f"Checking out {worktree.branch} again …")
    await desk.client.call(commands.recreate_worktree, worktree_id=worktree.id)


async def refresh_git(desk: Desk) -> None:
    """Refresh the git status of all worktrees of the project."""
    if desk.project is not None:
        await desk.client.call(git_commands.fetch_worktrees_status, project_id=desk.project.id)


async def copy_path(desk: Desk) -> None:
    """Copy the worktree's path."""
    worktree = pointed_worktree(desk)
    if worktree is not None:
        desk.host.copy(worktree.path)


def pointed_worktree(desk: Desk) -> "Worktree | None":
    """Return the worktree that actions apply to; notify if there is none."""
    if desk.worktree is None:
        desk.say("Select a worktree first.")
    return desk.worktree
