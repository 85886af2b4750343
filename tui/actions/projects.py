"""Actions on projects: add, clone, remove, settings."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from model.api import cloning
from model.api.directories import Directory, list_directories
from model.api.hosting import list_tracker_teams
from model.api.projects import add_project as add_project_command
from model.api.projects import get_project_branches, update_project_settings
from model.api.projects import remove_project as remove_project_command
from model.api.recovery import list_recovery_points
from model.api.secrets import forget_allowed_secret
from model.api.usage import get_usage, set_budget
from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from tui.actions.folders import delete_folder
from tui.actions.recovery import describe_recovery, restore_sessions
from tui.actions.usage import parse_dollars
from tui.desk import Desk
from tui.screens.add_project import AddProject, WantedProject, is_url
from tui.screens.choose import Choice
from tui.screens.cloning import Cloning
from tui.screens.dialog import Confirm
from tui.screens.project_settings import EditProject, ProjectSettings, settings_of
from tui.screens.usage_lines import describe_total
from tui.store.places import Place, find_project_id

if TYPE_CHECKING:
    from model.domain.hosting import MergeMethod
    from model.domain.projects import Project


async def add_project(desk: Desk) -> None:
    """Ask for a path or a URL until one can be added or the user cancels."""

    async def complete(path: str) -> Sequence[Directory]:
        return await desk.client.call(list_directories, path=path)

    is_known = find_project_id(desk.state, desk.offered) is not None
    given = WantedProject("" if is_known else str(desk.offered or ""))
    problem = ""
    while True:
        dialog = AddProject(complete, _default_clone_folder(desk), given, problem)
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


def _default_clone_folder(desk: Desk) -> str:
    """Return the parent folder of the project that was added last."""
    projects = [p for p in desk.state.projects.values() if not p.is_folder]
    newest = max(projects, key=lambda project: project.added_at, default=None)
    return str(Path(newest.path).parent) if newest is not None else "~"


async def _clone(desk: Desk, wanted: WantedProject) -> None:
    """Clone a repository; the user can cancel, or continue in the background."""
    into = _expand_home(wanted.into)
    call = desk.client.call
    running = asyncio.ensure_future(call(cloning.clone_project, url=wanted.path, path=into))

    async def read_progress() -> str:
        return (await call(cloning.get_clone_progress, path=into)).words

    end = await desk.ask(Cloning(wanted.path, running, read_progress))
    if end == "behind":
        # Start it as separate work, so that another project can be added meanwhile.
        desk.start(_clone_in_background(desk, wanted.path, running))
        return
    if end is None:
        await call(cloning.cancel_clone, path=into)
    project = await running
    await desk.mirror.wait_for(lambda state: project.id in state.projects)
    desk.open_place(Place("project", project.id))


async def _clone_in_background(desk: Desk, url: str, running: "asyncio.Future[Project]") -> None:
    try:
        project = await running
    except SpinneyError as error:
        desk.say(f"Could not clone {url}: {error.message}", bad=True)
        return
    await desk.mirror.wait_for(lambda state: project.id in state.projects)
    desk.say(f"Cloned '{project.name}'.")


async def add_offered(desk: Desk) -> None:
    """Add the repository that Spinney was started in."""
    if desk.offered is not None:
        await _add(desk, str(desk.offered))


async def _add(desk: Desk, path: str) -> None:
    project = await desk.client.call(add_project_command, path=_expand_home(path))
    await desk.mirror.wait_for(lambda state: project.id in state.projects)
    desk.open_place(Place("project", project.id))
    await _offer_sessions(desk, project)


async def _offer_sessions(desk: Desk, project: "Project") -> None:
    """Offer the sessions that a project had when it was removed from Spinney."""
    points = await desk.client.call(list_recovery_points, project_id=project.id)
    point = next((each for each in points if each.kind == "remove project"), None)
    if point is None:
        return
    sentence = (
        f"'{clean_line(project.name)}' was in Spinney before. Restore its worktrees and "
        f"{count(point.sessions, 'session')}?"
    )
    if await desk.ask(Confirm("Restore the sessions", sentence, "restore", harmless=True)):
        await restore_sessions(desk, point)


def _expand_home(path: str) -> str:
    # The model, which may be on another machine, resolves everything else.
    return str(Path(path).expanduser()) if path.startswith("~") else path


async def remove_project(desk: Desk) -> None:
    """Remove a project, or an empty folder, from the list after confirmation."""
    project = desk.project
    if project is None:
        desk.say("Select a project first.")
        return
    if project.is_folder:
        await delete_folder(desk, project)
        return
    sentence = f"Remove '{clean_line(project.name)}' from Spinney? Its files and branches are kept."
    worktrees = {each.id for each in desk.state.worktrees_of(project.id, archived=True)}
    if any(session.worktree_id in worktrees for session in desk.state.sessions.values()):
        sentence += f"\n{describe_recovery(desk, 'its worktrees and sessions')}"
    if await desk.ask(Confirm("Remove the project", sentence, "remove")):
        await desk.client.call(remove_project_command, project_id=project.id)


async def project_settings(desk: Desk) -> None:
    """Edit the settings of this project."""
    project = desk.project
    if project is None or project.is_folder:
        desk.say("Select a project first.")
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

    async def teams() -> Sequence[Choice]:
        found = await desk.client.call(list_tracker_teams, project_id=project.id)
        return [Choice(team.id, f"{team.key} {team.name}") for team in found]

    async def used_today() -> str:
        report = await desk.client.call(get_usage, by="day", project_id=project.id)
        today = next((row for row in report.rows if row.key == report.today), None)
        return describe_total(today) if today else "nothing"

    while True:
        dialog = EditProject(
            project, agents, profiles, branches, teams, list(known), used_today, given, problem
        )
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
    """Save only the differences, so that changes by other clients are kept."""

    def if_changed(now: str, was: str) -> str | None:
        return now if now != was else None

    if wanted.budget != before.budget:
        usd = parse_dollars(wanted.budget)
        await desk.client.call(set_budget, usd=usd, project_id=project_id)
    await desk.client.call(
        update_project_settings,
        project_id=project_id,
        default_backend=if_changed(wanted.backend, before.backend),
        default_provider=if_changed(wanted.provider, before.provider),
        default_branch=if_changed(wanted.branch, before.branch),
        worktrees_dir=if_changed(wanted.directory, before.directory),
        custom_system_prompt=if_changed(wanted.prompt, before.prompt),
        landing_method=cast("MergeMethod | None", if_changed(wanted.method, before.method)),
        branch_template=if_changed(wanted.template, before.template),
        tracker_team_id=if_changed(wanted.tracker_team, before.tracker_team),
        tracker_api_key={"": None, "-": ""}.get(wanted.tracker_key, wanted.tracker_key),
    )
    for fingerprint in set(before.allowed_secrets) - set(wanted.allowed_secrets):
        await desk.client.call(
            forget_allowed_secret, project_id=project_id, fingerprint=fingerprint
        )
    if wanted.servers != before.servers:
        servers = None if wanted.servers is None else list(wanted.servers)
        await desk.client.call(
            update_project_settings, project_id=project_id, enabled_mcp_servers=servers
        )
