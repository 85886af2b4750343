"""A conversation as plain text, for an agent that sums it up."""

from collections.abc import Sequence
from typing import Final

from model.base.text import clean_line
from model.domain.resources import Message, PlanBlock, ToolUseBlock

_MOST: Final = 24_000
"""Characters that are read, the newest."""


def transcript_text(messages: Sequence[Message]) -> str:
    """The conversation as text: what was said and done; the newest of a long one."""
    return "\n\n".join(_in_words(message) for message in messages)[-_MOST:]


def _in_words(message: Message) -> str:
    lines = [f"{message.role}: {message.text}"]
    for block in message.content:
        match block:
            case ToolUseBlock(name=name, input=given):
                what = given.get("file_path") or given.get("command") or ""
                lines.append(clean_line(f"[{name}] {what}")[:200])
            case PlanBlock(text=text):
                lines.append(f"[plan] {text}")
    if message.error is not None:
        lines.append(f"[failed] {message.error.error}")
    return "\n".join(lines)
