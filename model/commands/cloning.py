"""Commands that clone a repository and add it as a project."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from model.base.errors import SpinneyError
from model.commands.projects import add_project
from model.commands.registry import PATH, command
from model.domain.resources import Project, Resource
from model.git import cloning
from model.projects.tree import folder_in

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


class CloneProgress(Resource):
    """How far the clone into a directory is."""

    running: bool
    words: str = ""
    """Git's newest word: `Receiving objects: 40% (4/10)`."""


@command
async def clone_project(
    workspace: "Workspace", url: str, path: Annotated[str, PATH], parent_id: str | None = None
) -> Project:
    """Clone a repository into a directory that is not there yet (or empty), and add it.

    Answers when that is done; `get_clone_progress` tells how far it is, `cancel_clone` ends it.
    What fails or is cancelled leaves nothing behind.
    """
    target = Path(path)
    if not target.is_absolute():
        raise SpinneyError("Invalid field 'path': must be an absolute path")
    if parent_id is not None:
        folder_in(workspace.store.state, parent_id)
    if path in workspace.clones:
        raise SpinneyError(f"A repository is being cloned into {path} already.", "conflict")
    url = cloning.check_url(url)
    workspace.clones[path] = ""

    def told(words: str) -> None:
        workspace.clones[path] = words

    try:
        work = cloning.clone(url, target, told)
        await workspace.slow_work.run(path, "clone", work)
    finally:
        del workspace.clones[path]
    return await add_project.function(workspace, path, parent_id)


@command
async def get_clone_progress(workspace: "Workspace", path: Annotated[str, PATH]) -> CloneProgress:
    """How far the clone into this directory is."""
    return CloneProgress(running=path in workspace.clones, words=workspace.clones.get(path, ""))


@command
async def cancel_clone(workspace: "Workspace", path: Annotated[str, PATH]) -> None:
    """End the clone into this directory; when none runs, that is no error."""
    await workspace.slow_work.cancel(path)
