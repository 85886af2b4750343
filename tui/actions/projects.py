"""Actions about projects, and about the agents of this machine."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from model.api import cloning
from model.api.directories import Directory, list_directories
from model.api.projects import add_project as add_project_command
from model.api.projects import get_project_branches, update_project_settings
from model.api.projects import remove_project as remove_project_command
from model.base.errors import SpinneyError
from model.base.text import clean_line
from tui.actions.folders import delete_folder
from tui.desk import Desk
from tui.screens.add_project import AddProject, WantedProject, is_url
from tui.screens.choose import Choice
from tui.screens.cloning import Cloning
from tui.screens.dialog import Confirm
from tui.screens.project_settings import EditProject, ProjectSettings, settings_of
from tui.store.places import Place, is_project

if TYPE_CHECKING:
    from model.domain.resources import Project


async def add_project(desk: Desk) -> None:
    """Ask for a path or a URL until one can be added, or nobody wants to any more."""

    async def complete(path: str) -> Sequence[Directory]:
        return await desk.client.call(list_directories, path=path)

    is_known = is_project(desk.state, desk.offered) is not None
    given = WantedProject("" if is_known else str(desk.offered or ""))
    problem = ""
    while True:
        dialog = AddProject(complete, _where_clones_go(desk), given, problem)
        wanted = await desk.ask(dialog)
        if wanted is None:
            return
        try:
            if not is_url(wanted.path):
                await _add(desk, wanted.path)
            else:
                await _clone(desk, wanted)
            return
        except SpinneyError as error:
            given, problem = wanted, error.message


def _where_clones_go(desk: Desk) -> str:
    """Beside the project that was added last."""
    projects = [p for p in desk.state.projects.values() if not p.is_folder]
    newest = max(projects, key=lambda project: project.added_at, default=None)
    return str(Path(newest.path).parent) if newest is not None else "~"


async def _clone(desk: Desk, wanted: WantedProject) -> None:
    """Clone, which can be cancelled, or left to go on while one does something else."""
    into = _without_tilde(wanted.into)
    call = desk.client.call
    running = asyncio.ensure_future(call(cloning.clone_project, url=wanted.path, path=into))

    async def look() -> str:
        return (await call(cloning.get_clone_progress, path=into)).words

    end = await desk.ask(Cloning(wanted.path, running, look))
    if end == "behind":
        # Work of its own: meanwhile another project can be added.
        desk.start(_clone_behind(desk, wanted.path, running))
        return
    if end is None:
        await call(cloning.cancel_clone, path=into)
    project = await running
    await desk.mirror.until(lambda state: project.id in state.projects)
    desk.open_place(Place("project", project.id))


async def _clone_behind(desk: Desk, url: str, running: "asyncio.Future[Project]") -> None:
    try:
        project = await running
    except SpinneyError as error:
        desk.say(f"{url} was not cloned: {error.message}", bad=True)
        return
    await desk.mirror.until(lambda state: project.id in state.projects)
    desk.say(f"“{project.name}” is cloned.")


async def add_offered(desk: Desk) -> None:
    """Add the repository that Spinney was started in."""
    if desk.offered is not None:
        await _add(desk, str(desk.offered))


async def _add(desk: Desk, path: str) -> None:
    project = await desk.client.call(add_project_command, path=_without_tilde(path))
    await desk.mirror.until(lambda state: project.id in state.projects)
    desk.open_place(Place("project", project.id))


def _without_tilde(path: str) -> str:
    # What else a path leaves open is for the model, which may be on another machine.
    return str(Path(path).expanduser()) if path.startswith("~") else path


async def remove_project(desk: Desk) -> None:
    """Take a project, or an empty folder, out of the list."""
    project = desk.project
    if project is None:
        desk.say("Open or point at a project first.")
        return
    if project.is_folder:
        await delete_folder(desk, project)
        return
    sentence = (
        f"Show “{project.name}” no more? Its sessions and their messages go; "
        "no file and no branch is deleted."
    )
    if await desk.ask(Confirm("Remove the project", sentence, "remove")):
        await desk.client.call(remove_project_command, project_id=project.id)


async def project_settings(desk: Desk) -> None:
    """Change what holds for this project alone."""
    project = desk.project
    if project is None or project.is_folder:
        desk.say("Open or point at a project first.")
        return
    agents = [Choice(row.name, row.label, row.program) for row in desk.agents.catalog.backends]
    preferences = desk.state.preferences
    profiles = [Choice(p.name, clean_line(p.name)) for p in preferences.custom_cli_profiles]
    known = dict.fromkeys([*project.known_mcp_servers, *preferences.known_mcp_servers])
    before = given = settings_of(project)
    problem = ""

    async def branches() -> Sequence[Choice]:
        found = await desk.client.call(get_project_branches, project_id=project.id)
        return [Choice(branch.name, branch.name) for branch in found]

    while True:
        dialog = EditProject(project, agents, profiles, branches, list(known), given, problem)
        wanted = await desk.ask(dialog)
        if wanted is None or wanted == before:
            return
        try:
            await _save_settings(desk, project.id, before, wanted)
            return
        except SpinneyError as error:
            given, problem = wanted, error.message


async def _save_settings(
    desk: Desk, project_id: str, before: ProjectSettings, wanted: ProjectSettings
) -> None:
    """Only what is different, so that nobody else's change is undone."""

    def changed(now: str, was: str) -> str | None:
        return now if now != was else None

    await desk.client.call(
        update_project_settings,
        project_id=project_id,
        default_backend=changed(wanted.backend, before.backend),
        default_provider=changed(wanted.provider, before.provider),
        default_branch=changed(wanted.branch, before.branch),
        worktrees_dir=changed(wanted.directory, before.directory),
        custom_system_prompt=changed(wanted.prompt, before.prompt),
    )
    if wanted.servers != before.servers:
        servers = None if wanted.servers is None else list(wanted.servers)
        await desk.client.call(
            update_project_settings, project_id=project_id, enabled_mcp_servers=servers
        )
