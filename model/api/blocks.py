"""Messages as block trees, for clients that do not parse Markdown."""

from typing import Any

from pydantic import BaseModel

from model.api.command import command
from model.api.sessions import PAGE_SIZE


class MessageBlocksPage(BaseModel):
    """A page of messages, oldest first; texts and plans of agents have `blocks`, their trees.

    The newest message has `changes` as well: the files that its tools edited, each with `path`,
    `added` and `removed`.
    """

    messages: list[dict[str, Any]]
    total: int = 0


@command
async def get_message_blocks(
    session_id: str, limit: int = PAGE_SIZE, offset: int = 0
) -> MessageBlocksPage:
    """Get a page of messages like `get_messages`, with texts and plans of agents also as block
    trees.
    """
