"""Implements `model.api.cloning`."""

from pathlib import Path
from typing import TYPE_CHECKING

from model.api import cloning as api
from model.base.errors import SpinneyError
from model.commands.projects import add_project
from model.commands.registry import implements
from model.domain.projects import Project
from model.git import cloning
from model.projects.tree import require_folder

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.clone_project)
async def clone_project(
    workspace: "Workspace", url: str, path: str, parent_id: str | None = None
) -> Project:
    target = _resolve(path)
    if parent_id is not None:
        require_folder(workspace.store.state, parent_id)
    if path in workspace.clone_progress:
        raise SpinneyError(f"A repository is already being cloned into {path}.", "conflict")
    url = cloning.check_url(url)
    workspace.clone_progress[path] = ""

    def report(progress: str) -> None:
        workspace.clone_progress[path] = progress

    try:
        work = cloning.clone(url, target, report)
        await workspace.cancellable_tasks.run(path, "clone", work)
    finally:
        del workspace.clone_progress[path]
    return await add_project(workspace, str(target), parent_id)


def _resolve(path: str) -> Path:
    """The directory to clone into; a page does not know what `~` is on this machine."""
    try:
        target = Path(path).expanduser()
    except RuntimeError:
        target = Path(path)
    if not target.is_absolute():
        raise SpinneyError(f"'{path}' is no absolute path. Begin it with / or ~/.")
    return target


@implements(api.get_clone_progress)
async def get_clone_progress(workspace: "Workspace", path: str) -> api.CloneProgress:
    return api.CloneProgress(
        running=path in workspace.clone_progress, words=workspace.clone_progress.get(path, "")
    )


@implements(api.cancel_clone)
async def cancel_clone(workspace: "Workspace", path: str) -> None:
    await workspace.cancellable_tasks.cancel(path)
