"""Commands about this installation: what is there and what is missing."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import Field

from model import __version__
from model.agents.catalog import BackendRow
from model.backends.probing import probe_all
from model.base.errors import SpinneyError, project_gone
from model.commands.registry import command
from model.domain.resources import Resource
from model.git.run import git_version
from model.preferences import profiles
from model.preferences.schema import CliProfile
from model.runtime.doctor import Finding, examine_machine
from model.worktrees.lookup import project_in

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace
    from model.state import State

LIST_PATIENCE: Final = 20.0
"""Seconds that somebody who wants to choose waits for an agent's program."""


class BackendReport(Resource):
    """What was found of one agent program."""

    name: str
    label: str
    program: str | None
    """Absolute path; null where it is not installed."""
    version: str | None
    supported: bool | None
    """Whether Spinney drives this version; null where that is not known."""
    signed_in: bool | None
    """Null where only its provider knows."""
    problem: str | None
    """What is wrong, with the command that mends it; null where it can be used."""
    fix: str | None
    """That command alone; null where no single command mends it."""


class AgentModel(Resource):
    """A model that an agent offers by name; it may know others."""

    name: str
    """What sessions and preferences call it."""
    passed: str
    """What the agent's program is told; empty for its own choice."""
    label: str
    description: str = ""
    efforts: list[str] = Field(default_factory=list)
    """How hard it can be told to work, as far as its program tells."""
    default_effort: str = ""
    answers_as: str = ""
    """Its full name, where the other is a short one."""
    is_default: bool = False
    """Whether it stands for the program's own choice, which may be the person's."""
    is_offered: bool = True
    """Whether to show it where people choose; a preset gives way to what it stands for."""


class AgentKind(Resource):
    """An agent that can be chosen for sessions."""

    name: str
    label: str
    program: str
    """The command that is looked for; empty where it comes with Spinney."""
    models: list[AgentModel]


class Installation(Resource):
    """A Spinney and the machine that it runs on, but for the agents."""

    version: str
    log: str
    """Absolute path of the file in which it writes down what happened."""
    findings: list[Finding]
    """git, gh and its folders; each that is not in order with what mends it."""


@command
async def list_agents(workspace: "Workspace") -> list[AgentKind]:
    """Every agent that can be chosen, with its models as they are known; looks at no program.

    The event `models:updated` tells when an agent's program had others.
    """
    return [
        AgentKind(name=row.name, label=row.label, program=row.program, models=_models(row))
        for row in workspace.catalog.backend_rows(demo=workspace.demo)
    ]


@command
async def list_models(
    workspace: "Workspace", backend: str, ask: bool = True, project_id: str | None = None
) -> list[AgentModel]:
    """The models of an agent: those that its program told, else the built-in ones.

    With `project_id`, those that it has with the provider profile that holds in this project. With
    `ask`, a program that was never heard is started and waited for, which takes seconds; one
    whose list may be old is asked behind the scenes. Nothing is asked of a provider.
    """
    if workspace.catalog.backend(backend) is None:
        raise SpinneyError(f"Invalid field 'backend': there is no agent '{backend}'")
    profile = _profile_in(workspace.store.state, project_id) if project_id is not None else None
    if ask and workspace.models.is_known(backend, profile):
        workspace.run_in_background(workspace.models.ask(backend, profile))
    elif ask:
        await workspace.models.ask(backend, profile, LIST_PATIENCE)
    row = workspace.models.catalog_of(backend, profile.name if profile else "").backend(backend)
    return _models(row) if row else []


def _profile_in(state: "State", project_id: str) -> CliProfile | None:
    name = profiles.name_for(state.preferences, project_in(state, project_id))
    return next((each for each in state.preferences.custom_cli_profiles if each.name == name), None)


def _models(row: BackendRow) -> list[AgentModel]:
    return [AgentModel(**{**asdict(model), "efforts": list(model.efforts)}) for model in row.models]


@command
async def list_backends(workspace: "Workspace") -> list[BackendReport]:
    """Every agent that can be chosen, with what was found of its program; asks no provider."""
    rows = workspace.catalog.backend_rows(demo=workspace.demo)
    return [
        BackendReport(
            name=row.name,
            label=row.label,
            program=found.program,
            version=found.version,
            supported=True if found.problem is None else found.supported,
            signed_in=found.signed_in,
            problem=found.problem,
            fix=found.fix,
        )
        for row, found in await probe_all(rows, workspace.backends)
    ]


@command
async def get_installation(workspace: "Workspace") -> Installation:
    """What `spinney doctor` says of this machine; `list_backends` looks at the agents."""
    directories = workspace.directories
    return Installation(
        version=__version__,
        log=str(directories.log),
        findings=await examine_machine(directories),
    )


@command
async def get_problems(workspace: "Workspace") -> list[str]:
    """Sentences about what was found wrong at start or since, of projects that are gone, and of git
    where it does not serve.
    """
    paths = [project.path for project in workspace.store.state.projects.values() if project.path]
    gone = await asyncio.to_thread(lambda: [path for path in paths if not Path(path).is_dir()])
    no_git = await _no_git() if paths else []
    return [*workspace.problems, *no_git, *(project_gone(path).message for path in gone)]


async def _no_git() -> list[str]:
    try:
        await git_version()
    except SpinneyError as error:
        return [error.message]
    return []
