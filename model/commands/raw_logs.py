"""Implements `model.api.raw_logs`."""

from typing import TYPE_CHECKING, Final

from model.api import raw_logs as api
from model.base.errors import SpinneyError
from model.chat.chats import session_in
from model.commands.registry import implements
from model.domain.output import RawLog

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

LEAST: Final = 1024

_BEYOND_ALL: Final = 2**62


@implements(api.get_raw_log)
async def get_raw_log(
    workspace: "Workspace",
    session_id: str,
    before: int | None = None,
    after: int | None = None,
    limit: int = api.PAGE,
) -> RawLog:
    session_in(workspace.store.state, session_id)
    if before is not None and after is not None:
        raise SpinneyError("Invalid field 'after': give it or 'before', not both")
    for name, place in (("before", before), ("after", after)):
        if place is not None and not 0 <= place <= _BEYOND_ALL:
            raise SpinneyError(f"Invalid field '{name}': must not be negative or without bounds")
    if not LEAST <= limit <= api.PAGE:
        raise SpinneyError(f"Invalid field 'limit': must be from {LEAST} to {api.PAGE}")
    return await workspace.raw_logs.read(session_id, before, after, limit)
