"""Commands that clone a repository and add it as a project."""

from typing import Annotated

from model.api.command import PATH, command
from model.domain.resources import Project, Resource


class CloneProgress(Resource):
    """How far the clone into a directory is."""

    running: bool
    words: str = ""
    """Git's newest word: `Receiving objects: 40% (4/10)`."""


@command
async def clone_project(
    url: str, path: Annotated[str, PATH], parent_id: str | None = None
) -> Project:
    """Clone a repository into a directory that is not there yet (or empty), and add it.

    Answers when that is done; `get_clone_progress` tells how far it is, `cancel_clone` ends it.
    What fails or is cancelled leaves nothing behind.
    """


@command
async def get_clone_progress(path: Annotated[str, PATH]) -> CloneProgress:
    """How far the clone into this directory is."""


@command
async def cancel_clone(path: Annotated[str, PATH]) -> None:
    """End the clone into this directory; when none runs, that is no error."""
