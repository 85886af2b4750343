"""The rows of blocks that fold: thinking, long messages of the user, results, unreadable blocks.

Functions that take a level return whether there is more to show as well.
"""

from typing import Final

from rich.segment import Segment

from model.domain.messages import TextBlock, ThinkingBlock, ToolResultBlock, UnreadableBlock
from tui.draw.line_parts import (
    SHOW_ALL_HINT,
    indent,
    limit_rows,
    one_line,
    wrap_output,
    wrap_prose,
)
from tui.draw.wrap import Line
from tui.transcript.message_edges import format_thinking
from tui.transcript.parts import ALL, CLOSED, PREVIEW_ROWS, RenderContext

MAX_MESSAGE_ROWS: Final = 12
"""Rows of a long user message that are shown while it is collapsed."""


def long_text_rows(block: TextBlock, context: RenderContext, level: int) -> tuple[list[Line], bool]:
    """A long user message: its beginning while it is collapsed, else all of it."""
    width = context.body_width
    text = block.text if level != CLOSED else block.text[: MAX_MESSAGE_ROWS * width]
    lines = wrap_output(text, width, context.palette.text)
    if level != CLOSED:
        return lines, False
    more = f"… {block.text.count(chr(10)) + 1:,} lines in all {SHOW_ALL_HINT}"
    return [*lines[:MAX_MESSAGE_ROWS], [Segment(more, context.palette.faint)]], True


def thinking_rows(
    block: ThinkingBlock, context: RenderContext, level: int, *, is_running: bool
) -> tuple[list[Line], bool]:
    """How long the agent thought; what it thought, unless collapsed."""
    if block.seconds is None and is_running:
        label = "thinking …"
        sign = context.glyphs.running if level == CLOSED else context.glyphs.open
    else:
        label = format_thinking(block.seconds)
        sign = context.glyphs.closed if level == CLOSED else context.glyphs.open
    head = [Segment(f"{sign} {label}", context.palette.faint)]
    if level == CLOSED:
        return [head], False
    body = wrap_prose(block.text, context.body_width - 2, context.palette.muted)
    return [head, *indent(body, 2)], False


def result_rows(
    block: ToolResultBlock, context: RenderContext, level: int
) -> tuple[list[Line], bool]:
    """A result whose tool use is in an earlier message."""
    width = context.body_width
    style = context.styles.error if block.is_error else context.palette.muted
    sign = context.glyphs.closed if level == CLOSED else context.glyphs.open
    head = [Segment(f"{sign} ", context.palette.faint), Segment("result", context.styles.accent)]
    if level == CLOSED:
        return [[*head, Segment(f"  {one_line(block.content, width - 10)}", style)]], False
    output = wrap_output(block.content, width - 2, style)
    limit = len(output) if level == ALL else PREVIEW_ROWS
    output, has_more = limit_rows(output, limit, context.palette.faint)
    return [head, *indent(output, 2)], has_more


def unreadable_rows(block: UnreadableBlock, context: RenderContext) -> list[Line]:
    """A notice about the damaged block, and the remains of its text."""
    width = context.body_width
    remains = wrap_output(block.text, width - 2, context.palette.muted) if block.text else []
    label = one_line(f"[unreadable] {block.notice}", width)
    return [[Segment(label, context.styles.error)], *indent(remains, 2)]
