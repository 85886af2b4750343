"""Cloning repositories."""

from typing import Annotated

from model.api.command import PATH, command
from model.domain.projects import Project
from model.domain.resource import Resource


class CloneProgress(Resource):
    """The progress of the clone into a directory."""

    running: bool
    words: str = ""
    """Git's latest progress line: `Receiving objects: 40% (4/10)`."""


@command
async def clone_project(
    url: str, path: Annotated[str, PATH], parent_id: str | None = None
) -> Project:
    """Clone a repository into a new or empty directory and add it as a project.

    Returns when the clone is complete; `get_clone_progress` reports its progress, `cancel_clone`
    cancels it. A clone that fails or is canceled leaves nothing behind.
    """


@command
async def get_clone_progress(path: Annotated[str, PATH]) -> CloneProgress:
    """Get the progress of the clone into a directory."""


@command
async def cancel_clone(path: Annotated[str, PATH]) -> None:
    """Cancel the clone into a directory; does nothing if none is running."""
