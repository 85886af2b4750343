"""Searching what was said, in all conversations or in those of one project."""

from typing import Literal

from model.api.command import command
from model.domain.resources import Resource, Session

HITS = 50


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
    query: str, project_id: str | None = None, limit: int = HITS
) -> list[SearchHit]:
    """The newest messages that hold all words of `query`, the last also as a word's beginning.

    Archived sessions are searched too. Nothing in the query is syntax.
    """
