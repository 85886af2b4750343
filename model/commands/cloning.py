"""Implements `model.api.cloning`."""

from pathlib import Path
from typing import TYPE_CHECKING

from model.api import cloning as api
from model.base.errors import SpinneyError
from model.commands.projects import add_project
from model.commands.registry import implements
from model.domain.resources import Project
from model.git import cloning
from model.projects.tree import folder_in

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.clone_project)
async def clone_project(
    workspace: "Workspace", url: str, path: str, parent_id: str | None = None
) -> Project:
    target = Path(path)
    if not target.is_absolute():
        raise SpinneyError("Invalid field 'path': must be an absolute path")
    if parent_id is not None:
        folder_in(workspace.store.state, parent_id)
    if path in workspace.clones:
        raise SpinneyError(f"A repository is already being cloned into {path}.", "conflict")
    url = cloning.check_url(url)
    workspace.clones[path] = ""

    def report(progress: str) -> None:
        workspace.clones[path] = progress

    try:
        work = cloning.clone(url, target, report)
        await workspace.slow_work.run(path, "clone", work)
    finally:
        del workspace.clones[path]
    return await add_project(workspace, path, parent_id)


@implements(api.get_clone_progress)
async def get_clone_progress(workspace: "Workspace", path: str) -> api.CloneProgress:
    return api.CloneProgress(running=path in workspace.clones, words=workspace.clones.get(path, ""))


@implements(api.cancel_clone)
async def cancel_clone(workspace: "Workspace", path: str) -> None:
    await workspace.slow_work.cancel(path)
