"""The rows around a message's blocks: author and time, how it ended and what to do next."""

import time
from typing import Final

from rich.segment import Segment

from model.domain.resources import Message, PlanBlock, QuestionBlock
from tui.draw.line_parts import one_line, wrap_prose
from tui.draw.wrap import Line
from tui.transcript.parts import LayoutInput, RenderContext

_NEXT_STEPS: Final = {
    "authentication_error": "Sign in with the agent's program, then send a message to continue.",
    "backend_unavailable": "Run 'Check which agents are installed' in the command palette.",
    "rate_limit_error": "Wait a while, then send a message to continue.",
}

_STOP_NOTICES: Final = {
    "stopped": "stopped by you",
    "interrupted": "interrupted: Spinney was quit. Send a message to continue.",
}

_NEXT_STEP_PHRASES: Final = (
    *("Send a message", "end the message", "end it again", "send again", "Try again", "Run: "),
    "start Spinney again",
)
"""Phrases of errors that already say what to do."""


def header_line(shown: LayoutInput) -> Line:
    """The author, the time, and for agents the model and mode."""
    message, context = shown.message, shown.context
    faint = context.palette.faint
    time_segment = Segment(f"  {_format_time(message.timestamp)}", faint)
    if message.role == "user":
        return [Segment(" "), Segment("you", context.styles.accent), time_segment]
    backend = message.backend or ""
    notice: list[str] = []
    if message.model:
        notice.append(context.catalog.label(backend, message.model))
    if message.execution_mode:
        notice.append(message.execution_mode)
    name = one_line(context.catalog.label(backend) or "agent", context.body_width // 2)
    details = "".join(f" {context.glyphs.dot} {word}" for word in notice)
    available = context.body_width - len(name) - len(time_segment.text)
    return [
        *(Segment(" "), Segment(name, context.styles.strong), time_segment),
        Segment(one_line(details, available) and " " + one_line(details, available), faint),
    ]


def ending_rows(message: Message, context: RenderContext) -> list[Line]:
    """Why a message failed and what to do, or that it was stopped; empty if it completed."""
    if message.error is not None:
        sign = Segment(f"{context.glyphs.failed} ", context.styles.error)
        width = context.body_width - 2
        rows = wrap_prose(message.error.error, width, context.styles.error)
        rows = [[Segment("  ") if at else sign, *row] for at, row in enumerate(rows)]
        step = _NEXT_STEPS.get(message.error.error_type, "Send a message to continue.")
        if not any(notice in message.error.error for notice in _NEXT_STEP_PHRASES):
            steps = wrap_prose(step, width, context.palette.muted)
            rows += [[Segment("  "), *row] for row in steps]
        return rows
    # A plan or a question keeps waiting while Spinney is not running.
    is_waiting = message.content and isinstance(message.content[-1], PlanBlock | QuestionBlock)
    if is_waiting and message.stop_reason == "interrupted":
        return []
    if notice := _STOP_NOTICES.get(message.stop_reason or ""):
        rows = wrap_prose(notice, context.body_width - 2, context.styles.warning)
        sign = Segment(f"{context.glyphs.stopped} ", context.styles.warning)
        return [[Segment("  ") if at else sign, *row] for at, row in enumerate(rows)]
    return []


def format_thinking(seconds: float | None) -> str:
    """The thinking time in words."""
    if seconds is None:
        return "thought"
    total = max(round(seconds), 1)
    minutes, rest = divmod(total, 60)
    return f"thought for {minutes} min {rest} s" if minutes else f"thought for {rest} s"


def _format_time(timestamp: float) -> str:
    """The time of day, with the date unless it is today."""
    try:
        local_time = time.localtime(timestamp)
    except (OverflowError, ValueError, OSError):
        return ""
    is_today = local_time[:3] == time.localtime()[:3]
    return time.strftime("%H:%M" if is_today else "%d %b %H:%M", local_time)
