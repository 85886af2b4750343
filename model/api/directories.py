"""Directories on the machine that Spinney runs on."""

from typing import Annotated, Literal

from model.api.command import PATH, command
from model.domain.resource import Resource


class Directory(Resource):
    """A directory, and the kind of git repository that it contains."""

    path: str
    """Absolute."""
    holds: Literal["repository", "linked worktree", "bare repository", ""] = ""


@command
async def list_directories(path: Annotated[str, PATH]) -> list[Directory]:
    """List the directories whose paths start with `path`, as a shell would complete it; at most
    100.

    `~` is the home directory of the user that Spinney runs as. Hidden directories are listed only
    if their name was started with a `.`. For a directory that cannot be read, the list is empty.
    """
