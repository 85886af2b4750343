"""The directories of the machine that Spinney runs on, for whoever types the name of one."""

from typing import Annotated, Literal

from model.api.command import PATH, command
from model.domain.resources import Resource


class Directory(Resource):
    """A directory, and what of git it is."""

    path: str
    """Absolute."""
    holds: Literal["repository", "linked worktree", "bare repository", ""] = ""


@command
async def list_directories(path: Annotated[str, PATH]) -> list[Directory]:
    """The directories whose paths begin with `path`, as a shell would complete it.

    `~` is the home of whoever runs Spinney. Hidden ones only where a `.` was typed. What cannot be
    read has none.
    """
