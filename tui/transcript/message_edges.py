"""What stands around a message's blocks: who speaks and when, how it ended and what to do then."""

import time
from typing import Final

from rich.segment import Segment

from model.domain.resources import Message, PlanBlock, QuestionBlock
from tui.draw.line_parts import one_line, prose_rows
from tui.draw.wrap import Line
from tui.transcript.parts import Look, Shown

_NEXT_STEPS: Final = {
    "authentication_error": "Sign in with the agent's own program, then send a message to go on.",
    "backend_unavailable": "“Check which agents are installed”, among the commands, says more.",
    "rate_limit_error": "Wait a while, then send a message to go on.",
}

_ENDED: Final = {
    "stopped": "stopped by you",
    "interrupted": "interrupted: Spinney was quit. Send a message to go on.",
}

_SAYS_STEP: Final = (
    *("Send a message", "end the message", "end it again", "send again", "Try again", "Run: "),
    "start Spinney again",
)
"""What stands in errors that say themselves what to do."""


def header(shown: Shown) -> Line:
    """Who speaks, when, and with what."""
    message, look = shown.message, shown.look
    faint = look.palette.faint
    when = Segment(f"  {_clock(message.timestamp)}", faint)
    if message.role == "user":
        return [Segment(" "), Segment("you", look.tones.accent), when]
    backend = message.backend or ""
    words: list[str] = []
    if message.model:
        words.append(look.catalog.label(backend, message.model))
    if message.execution_mode:
        words.append(message.execution_mode)
    named = one_line(look.catalog.label(backend) or "agent", look.body_width // 2)
    details = "".join(f" {look.signs.dot} {word}" for word in words)
    room = look.body_width - len(named) - len(when.text)
    return [
        *(Segment(" "), Segment(named, look.tones.strong), when),
        Segment(one_line(details, room) and " " + one_line(details, room), faint),
    ]


def ending(message: Message, look: Look) -> list[Line]:
    """Why an answer failed and what to do, or that it was stopped; nothing for a good end."""
    if message.error is not None:
        sign = Segment(f"{look.signs.failed} ", look.tones.error)
        width = look.body_width - 2
        rows = prose_rows(message.error.error, width, look.tones.error)
        rows = [[Segment("  ") if at else sign, *row] for at, row in enumerate(rows)]
        step = _NEXT_STEPS.get(message.error.error_type, "Send a message to go on.")
        if not any(words in message.error.error for words in _SAYS_STEP):
            steps = prose_rows(step, width, look.palette.muted)
            rows += [[Segment("  "), *row] for row in steps]
        return rows
    # What waits for a person goes on waiting while Spinney is away.
    waits = message.content and isinstance(message.content[-1], PlanBlock | QuestionBlock)
    if waits and message.stop_reason == "interrupted":
        return []
    if words := _ENDED.get(message.stop_reason or ""):
        rows = prose_rows(words, look.body_width - 2, look.tones.warning)
        sign = Segment(f"{look.signs.stopped} ", look.tones.warning)
        return [[Segment("  ") if at else sign, *row] for at, row in enumerate(rows)]
    return []


def thought(seconds: float | None) -> str:
    """How long it thought, in words."""
    if seconds is None:
        return "thought"
    whole = max(round(seconds), 1)
    minutes, rest = divmod(whole, 60)
    return f"thought for {minutes} min {rest} s" if minutes else f"thought for {rest} s"


def _clock(timestamp: float) -> str:
    """The time of day, with the day where it is not today."""
    try:
        moment = time.localtime(timestamp)
    except (OverflowError, ValueError, OSError):
        return ""
    is_today = moment[:3] == time.localtime()[:3]
    return time.strftime("%H:%M" if is_today else "%d %b %H:%M", moment)
