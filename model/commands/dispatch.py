"""Runs commands by their wire arguments."""

import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

import model.commands.all  # noqa: F401 - registers the implementations
from model.api.command import Command
from model.commands.registry import IMPLEMENTATIONS

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

R = TypeVar("R")

_log = logging.getLogger(__name__)


async def run(workspace: "Workspace", command: Command[..., R], arguments: Mapping[str, Any]) -> R:
    """Check the wire arguments and run the command. Raises `SpinneyError`."""
    parsed = command.parse(arguments)
    start = time.monotonic()
    try:
        return cast(R, await IMPLEMENTATIONS[command.name](workspace, **parsed))
    finally:
        _log.debug("%s took %.0f ms", command.name, 1000 * (time.monotonic() - start))
