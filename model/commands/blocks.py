"""Implements `model.api.blocks`."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from model.api import blocks as api
from model.api.sessions import PAGE_SIZE
from model.commands.registry import implements
from model.commands.sessions import get_messages
from model.domain.messages import Message, PlanBlock, TextBlock
from model.domain.tool_uses import list_edits
from model.richtext.blocks import as_json
from model.richtext.markdown import MarkdownStream, parse_markdown
from model.richtext.turn_changes import FileChange, summarize_edits

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

_INLINE_LIMIT: Final = 10_000
"""Characters that are rendered on the event loop; longer pages are rendered in a thread."""


@implements(api.get_message_blocks)
async def get_message_blocks(
    workspace: "Workspace", session_id: str, limit: int = PAGE_SIZE, offset: int = 0
) -> api.MessageBlocksPage:
    page = await get_messages(workspace, session_id, limit, offset)
    rendered: dict[str, tuple[Message, dict[str, Any]]] = {}
    kept = (message for message in reversed(page.messages) if not message.rewound)
    newest = next(kept, None) if not offset else None
    changes: list[FileChange] = []
    if newest is not None and newest.status == "completed" and list_edits(newest.content):
        changes = await asyncio.to_thread(summarize_edits, newest.content)
    if changes or sum(map(_length, page.messages)) > _INLINE_LIMIT:
        rendered = await asyncio.to_thread(_render_all, page.messages)
        # Events were published meanwhile; a response must not be older than they are.
        page = await get_messages(workspace, session_id, limit, offset)
    messages = []
    for message in page.messages:
        source, fields = rendered.get(message.id, (None, {}))
        messages.append(fields if source == message else _with_blocks(message))
        if newest is not None and message.id == newest.id:
            messages[-1]["changes"] = [asdict(change) for change in changes]
    return api.MessageBlocksPage(messages=messages, total=page.total)


def _length(message: Message) -> int:
    return sum(
        len(block.text) for block in message.content if isinstance(block, TextBlock | PlanBlock)
    )


def _render_all(messages: Sequence[Message]) -> dict[str, tuple[Message, dict[str, Any]]]:
    return {message.id: (message, _with_blocks(message)) for message in messages}


def _with_blocks(message: Message) -> dict[str, Any]:
    fields = message.model_dump(mode="json")
    if message.role == "user":
        return fields
    for block, dumped in zip(message.content, fields["content"], strict=True):
        if isinstance(block, TextBlock | PlanBlock):
            dumped["blocks"] = _blocks(block.text, is_open=message.status == "processing")
    return fields


def _blocks(text: str, *, is_open: bool) -> list[dict[str, Any]]:
    if not is_open:
        return [as_json(block) for block in parse_markdown(text)]
    stream = MarkdownStream()
    stream.append(text)
    return [as_json(block) for block in stream.blocks]
