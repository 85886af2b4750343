"""Commands about this installation: what is there and what is missing."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from model.commands.registry import command
from model.errors import project_gone
from model.resources import Resource

if TYPE_CHECKING:
    from model.workspace import Workspace


class BackendReport(Resource):
    """What was found of one agent program."""

    name: str
    label: str
    program: str | None
    version: str | None
    signed_in: bool | None
    problem: str | None


@command
async def check_backends(workspace: "Workspace") -> list[BackendReport]:
    """Look for every agent program; asks no provider."""

    async def check(name: str) -> BackendReport:
        found = await workspace.backends[name].probe()
        return BackendReport(
            name=name,
            label=workspace.catalog.label(name),
            program=found.program,
            version=found.version,
            signed_in=found.signed_in,
            problem=found.problem,
        )

    return list(await asyncio.gather(*(check(name) for name in workspace.backends)))


@command
async def get_problems(workspace: "Workspace") -> list[str]:
    """Sentences about what was found wrong at start or since, and of projects that are gone."""
    paths = [project.path for project in workspace.store.state.projects.values() if project.path]
    gone = await asyncio.to_thread(lambda: [path for path in paths if not Path(path).is_dir()])
    return [*workspace.problems, *(project_gone(path).message for path in gone)]
