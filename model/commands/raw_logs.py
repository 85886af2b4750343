"""Implements `model.api.raw_logs`."""

from typing import TYPE_CHECKING, Final

from model.api import raw_logs as api
from model.base.errors import SpinneyError
from model.chat.lookup import session_in
from model.commands.registry import implements
from model.domain.output import RawLog

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_MIN_LIMIT: Final = 1024

_MAX_OFFSET: Final = 2**62


@implements(api.get_raw_log)
async def get_raw_log(
    workspace: "Workspace",
    session_id: str,
    before: int | None = None,
    after: int | None = None,
    limit: int = api.PAGE_SIZE,
) -> RawLog:
    session_in(workspace.store.state, session_id)
    if before is not None and after is not None:
        raise SpinneyError("Invalid field 'after': cannot be combined with 'before'")
    for name, offset in (("before", before), ("after", after)):
        if offset is not None and not 0 <= offset <= _MAX_OFFSET:
            raise SpinneyError(f"Invalid field '{name}': must be from 0 to {_MAX_OFFSET}")
    if not _MIN_LIMIT <= limit <= api.PAGE_SIZE:
        raise SpinneyError(f"Invalid field 'limit': must be from {_MIN_LIMIT} to {api.PAGE_SIZE}")
    return await workspace.raw_logs.read(session_id, before, after, limit)
