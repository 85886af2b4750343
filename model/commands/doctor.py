"""Implements `model.api.doctor`."""

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from model import __version__
from model.agents.catalog import BackendRow
from model.api import doctor as api
from model.backends.probing import probe_all
from model.base.errors import SpinneyError, project_directory_missing
from model.base.plural import count
from model.commands.registry import implements
from model.git.run import git_version
from model.preferences import profiles
from model.preferences.schema import CliProfile
from model.runtime.doctor import examine_machine
from model.worktrees.lookup import require_project

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace
    from model.state import State

_MODELS_TIMEOUT: Final = 20.0
"""Seconds that a client waits for a program's first list; after that `models:updated` brings it."""


@implements(api.list_agents)
async def list_agents(workspace: "Workspace") -> list[api.AgentKind]:
    return [
        api.AgentKind(name=row.name, label=row.label, program=row.program, models=_models(row))
        for row in workspace.catalog.backend_rows(demo=workspace.demo)
    ]


@implements(api.list_models)
async def list_models(
    workspace: "Workspace", backend: str, ask: bool = True, project_id: str | None = None
) -> list[api.AgentModel]:
    if workspace.catalog.backend(backend) is None:
        raise SpinneyError(f"Invalid field 'backend': there is no agent '{backend}'")
    profile = _profile_of(workspace.store.state, project_id) if project_id is not None else None
    if ask and workspace.models.is_known(backend, profile):
        workspace.run_in_background(workspace.models.refresh(backend, profile))
    elif ask:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_MODELS_TIMEOUT):
                await workspace.models.refresh(backend, profile)
    row = workspace.models.get_catalog(backend, profile.name if profile else "").backend(backend)
    return _models(row) if row else []


def _profile_of(state: "State", project_id: str) -> CliProfile | None:
    name = profiles.resolve_name(state.preferences, require_project(state, project_id))
    return next((each for each in state.preferences.custom_cli_profiles if each.name == name), None)


def _models(row: BackendRow) -> list[api.AgentModel]:
    return [
        api.AgentModel(
            name=model.name,
            passed=model.passed,
            label=model.label,
            description=model.description,
            efforts=list(model.efforts),
            default_effort=model.default_effort,
            answers_as=model.full_name,
            is_default=model.is_default,
            is_offered=model.is_offered,
        )
        for model in row.models
    ]


@implements(api.list_backends)
async def list_backends(workspace: "Workspace") -> list[api.BackendReport]:
    rows = workspace.catalog.backend_rows(demo=workspace.demo)
    return [
        api.BackendReport(
            name=row.name,
            label=row.label,
            program=probe.program,
            version=probe.version,
            supported=True if probe.problem is None else probe.supported,
            signed_in=probe.signed_in,
            problem=probe.problem,
            fix=probe.fix,
        )
        for row, probe in await probe_all(rows, workspace.backends)
    ]


@implements(api.get_installation)
async def get_installation(workspace: "Workspace") -> api.Installation:
    directories = workspace.directories
    return api.Installation(
        version=__version__,
        log=str(directories.log),
        findings=await examine_machine(directories),
    )


@implements(api.get_problems)
async def get_problems(workspace: "Workspace") -> list[str]:
    paths = [project.path for project in workspace.store.state.projects.values() if project.path]
    missing = await asyncio.to_thread(lambda: [path for path in paths if not Path(path).is_dir()])
    unusable = await _git_problems() if paths else []
    return [
        *workspace.problems,
        *workspace.notices.list_problems(),
        *await workspace.landing.moves.list_problems(),
        *await workspace.recovery_points.list_problems(),
        *await _list_damaged_messages(workspace),
        *unusable,
        *(project_directory_missing(path).message for path in missing),
    ]


async def _list_damaged_messages(workspace: "Workspace") -> list[str]:
    try:
        counts = await workspace.store.count_unreadable_messages()
    except SpinneyError as error:
        return [error.message]
    sessions = workspace.store.state.sessions
    return [
        f"{count(number, 'message')} of the session '{sessions[session_id].name}' cannot be read"
        " completely, because the database is damaged, and can be seen there as unreadable."
        " An earlier backup may contain what is lost: quit Spinney, then run: spinney doctor"
        " --repair"
        for session_id, number in counts.items()
        if session_id in sessions
    ]


async def _git_problems() -> list[str]:
    try:
        await git_version()
    except SpinneyError as error:
        return [error.message]
    return []
