"""Conversations as block trees, for a client that parses no Markdown: the page in the browser."""

from typing import Any

from pydantic import BaseModel

from model.api.command import command
from model.api.sessions import PAGE


class MessageBlocksPage(BaseModel):
    """A page of a conversation, oldest first; texts and plans have `blocks`, their trees."""

    messages: list[dict[str, Any]]
    total: int = 0


@command
async def get_message_blocks(
    session_id: str, limit: int = PAGE, offset: int = 0
) -> MessageBlocksPage:
    """As `get_messages`, with every answer's text and plan also as block trees."""
