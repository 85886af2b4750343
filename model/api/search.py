"""Search in messages."""

from typing import Literal

from model.api.command import command
from model.domain.resource import Resource
from model.domain.sessions import Session

DEFAULT_LIMIT = 50


class SearchHit(Resource):
    """A message that contains the words."""

    session: Session
    message_id: str
    role: Literal["user", "assistant"]
    timestamp: float
    snippet: str
    """The text around the words."""


@command
async def search_messages(
    query: str, project_id: str | None = None, limit: int = DEFAULT_LIMIT
) -> list[SearchHit]:
    """Find the newest messages that contain all words of `query`; the last one also matches as a
    prefix.

    Includes archived sessions. The query has no special syntax. `limit` is 1 to 500.
    """
