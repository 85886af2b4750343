"""The command about raw logs: what a session's program was sent and said."""

from typing import TYPE_CHECKING, Final

from model.base.errors import SpinneyError
from model.chat.chats import session_in
from model.chat.raw_files import RawLog
from model.commands.registry import command

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

PAGE: Final = 256 * 1024
"""Bytes of one answer: no line is longer."""
LEAST: Final = 1024

_BEYOND_ALL: Final = 2**62


@command
async def get_raw_log(
    workspace: "Workspace",
    session_id: str,
    before: int | None = None,
    after: int | None = None,
    limit: int = PAGE,
) -> RawLog:
    """Read what the session's program was sent and said while `debug_mode_enabled` was on: up to
    `limit` bytes, the last ones, or those `before` or `after` a place.

    Places are bytes of all that was ever written; a piece tells its own as `start` and `end`. Two
    files of 4 MiB are kept for each session, until it is deleted. Lines begin with the time and
    with `→` (to the program), `←` (from it) or `·` (about it); secrets are masked.
    """
    session_in(workspace.store.state, session_id)
    if before is not None and after is not None:
        raise SpinneyError("Invalid field 'after': give it or 'before', not both")
    for name, place in (("before", before), ("after", after)):
        if place is not None and not 0 <= place <= _BEYOND_ALL:
            raise SpinneyError(f"Invalid field '{name}': must not be negative or without bounds")
    if not LEAST <= limit <= PAGE:
        raise SpinneyError(f"Invalid field 'limit': must be from {LEAST} to {PAGE}")
    return await workspace.raw_logs.read(session_id, before, after, limit)
