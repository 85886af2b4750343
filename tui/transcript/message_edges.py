"""The rows around a message's blocks: author and time, how it ended and what to do next."""

import time
from typing import Final

from rich.segment import Segment

from model.domain.messages import Message, PlanBlock, QuestionBlock
from tui.draw.line_parts import one_line, wrap_prose
from tui.draw.wrap import Line
from tui.terminal import screen_reader
from tui.transcript.parts import LayoutInput, RenderContext

_NEXT_STEPS: Final = {
    "authentication_error": "Sign in with the agent's program, then send a message to continue.",
    "rate_limit_error": "",  # the note above the message box says when it continues
    "backend_unavailable": "Run 'Check which agents are installed' in the command palette.",
}

_STOP_NOTICES: Final = {
    "stopped": "stopped by you",
    "interrupted": "interrupted: Spinney was quit. Send a message to continue.",
}

_READ_DURING_TURN: Final = "read during the turn"

_NEXT_STEP_PHRASES: Final = (
    *("Send a message", "end the message", "end it again", "send again", "Try again", "Run: "),
    "start Spinney again",
)
"""Phrases of errors that already say what to do."""


def header_rows(shown: LayoutInput) -> list[Line]:
    """The date where a day begins, and who writes: in words for screen readers, else an agent,
    its model and mode where one of them changed.
    """
    message, context = shown.message, shown.context
    rows: list[Line] = []
    if shown.around.day:
        across = context.palette.glyphs.horizontal
        rows += [[Segment(f" {across * 2} {shown.around.day} {across * 2}", context.palette.faint)]]
        rows.append([])
    if message.role == "user":
        if screen_reader.is_enabled():
            time_of_day = format_time(message.timestamp)
            rows.append([Segment(f" you  {time_of_day}", context.styles.accent)])
    elif shown.around.introduces or screen_reader.is_enabled():
        rows.append(_agent_line(message, context))
    return rows


def _agent_line(message: Message, context: RenderContext) -> Line:
    backend = message.backend or ""
    details = []
    if message.model:
        details.append(context.catalog.label(backend, message.model))
    if message.execution_mode:
        details.append(message.execution_mode)
    name = one_line(context.catalog.label(backend) or "agent", context.body_width // 2)
    text = "".join(f" {context.glyphs.dot} {word}" for word in details)
    text = one_line(text, max(1, context.body_width - len(name)))
    return [
        *(Segment("   "), Segment(name, context.palette.muted)),
        Segment(f" {text}" if text else "", context.palette.faint),
    ]


def format_day(message: Message, before: Message | None) -> str:
    """The date of a message if it is another day's than that of the message before.

    The first message has it unless it is of today.
    """
    day, today = _local_day(message.timestamp), _local_day(time.time())
    if before is not None and _local_day(before.timestamp) == day:
        return ""
    if day is None or (before is None and day == today):
        return ""
    year = "" if today is not None and day[0] == today[0] else " %Y"
    return time.strftime(f"%A %d %B{year}", time.localtime(message.timestamp))


def format_time(timestamp: float) -> str:
    """The time of day; empty if it is unusable."""
    try:
        return time.strftime("%H:%M", time.localtime(timestamp))
    except (OverflowError, ValueError, OSError):
        return ""


def _local_day(timestamp: float) -> tuple[int, int, int] | None:
    try:
        day = time.localtime(timestamp)
    except (OverflowError, ValueError, OSError):
        return None
    return day.tm_year, day.tm_mon, day.tm_mday


def ending_rows(message: Message, context: RenderContext) -> list[Line]:
    """Why a message failed and what to do, or that it was stopped; empty if it completed.

    Of a message that was sent into a turn, that it was read there.
    """
    if message.steered:
        return [[Segment(_READ_DURING_TURN, context.palette.faint)]]
    if message.error is not None:
        sign = Segment(f"{context.glyphs.failed} ", context.styles.error)
        width = context.body_width - 2
        rows = wrap_prose(message.error.error, width, context.styles.error)
        rows = [[Segment("  ") if at else sign, *row] for at, row in enumerate(rows)]
        step = _NEXT_STEPS.get(message.error.error_type, "Send a message to continue.")
        if step and not any(notice in message.error.error for notice in _NEXT_STEP_PHRASES):
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
