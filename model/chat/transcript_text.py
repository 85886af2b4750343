"""A conversation as plain text, for an agent that summarizes it."""

from collections.abc import Sequence
from typing import Final

from model.base.text import clean_line
from model.domain.messages import Message, PlanBlock, ToolUseBlock

_MAX_CHARACTERS: Final = 24_000
"""Characters of the transcript, counted from its end."""


def format_transcript(messages: Sequence[Message]) -> str:
    """Format messages, tool calls and errors as text; a long transcript keeps its end."""
    return "\n\n".join(_format_message(message) for message in messages)[-_MAX_CHARACTERS:]


def _format_message(message: Message) -> str:
    lines = [f"{message.role}: {message.text}"]
    for block in message.content:
        match block:
            case ToolUseBlock(name=name, input=tool_input):
                detail = tool_input.get("file_path") or tool_input.get("command") or ""
                lines.append(clean_line(f"[{name}] {detail}")[:200])
            case PlanBlock(text=text):
                lines.append(f"[plan] {text}")
    if message.error is not None:
        lines.append(f"[failed] {message.error.error}")
    return "\n".join(lines)
