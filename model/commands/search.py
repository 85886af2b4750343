"""Searching what was said, in all conversations or in those of one project."""

from typing import TYPE_CHECKING, Literal

from model.base.errors import SpinneyError
from model.commands.registry import command
from model.domain.resources import Resource, Session
from model.worktrees import project_in

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

HITS = 50
HITS_LIMIT = 500


class SearchHit(Resource):
    """A message that holds the words."""

    session: Session
    message_id: str
    role: Literal["user", "assistant"]
    timestamp: float
    snippet: str
    """What stands around the words."""


@command
async def search_messages(
    workspace: "Workspace", query: str, project_id: str | None = None, limit: int = HITS
) -> list[SearchHit]:
    """The newest messages that hold all words of `query`, the last also as a word's beginning.

    Archived sessions are searched too. Nothing in the query is syntax.
    """
    if not 0 < limit <= HITS_LIMIT:
        raise SpinneyError(f"Invalid field 'limit': must be from 1 to {HITS_LIMIT}")
    state = workspace.store.state
    within = None
    if project_id is not None:
        worktrees = state.worktrees_of(project_in(state, project_id).id, archived=True)
        within = [s.id for w in worktrees for s in state.sessions_of(w.id, archived=True)]
    found = await workspace.store.search(query, within, limit)
    sessions = workspace.store.state.sessions
    return [
        SearchHit(
            session=sessions[hit.session_id],
            message_id=hit.message_id,
            role="user" if hit.role == "user" else "assistant",
            timestamp=hit.timestamp,
            snippet=hit.snippet,
        )
        for hit in found
        if hit.session_id in sessions
    ]
