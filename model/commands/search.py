"""Implements `model.api.search`."""

from typing import TYPE_CHECKING

from model.api import search as api
from model.base.errors import SpinneyError
from model.commands.registry import implements
from model.worktrees import project_in

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_MAX_LIMIT = 500


@implements(api.search_messages)
async def search_messages(
    workspace: "Workspace",
    query: str,
    project_id: str | None = None,
    limit: int = api.DEFAULT_LIMIT,
) -> list[api.SearchHit]:
    if not 0 < limit <= _MAX_LIMIT:
        raise SpinneyError(f"Invalid field 'limit': must be from 1 to {_MAX_LIMIT}")
    state = workspace.store.state
    within = None
    if project_id is not None:
        worktrees = state.worktrees_of(project_in(state, project_id).id, archived=True)
        within = [s.id for w in worktrees for s in state.sessions_of(w.id, archived=True)]
    found = await workspace.store.search(query, within, limit)
    sessions = workspace.store.state.sessions
    return [
        api.SearchHit(
            session=sessions[hit.session_id],
            message_id=hit.message_id,
            role="user" if hit.role == "user" else "assistant",
            timestamp=hit.timestamp,
            snippet=hit.snippet,
        )
        for hit in found
        if hit.session_id in sessions
    ]
