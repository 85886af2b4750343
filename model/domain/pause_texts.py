"""What people read about a paused session, in every interface but the page."""

from typing import TYPE_CHECKING

from model.base.moments import format_moment

if TYPE_CHECKING:
    from model.domain.sessions import Pause


def describe_pause(pause: "Pause", now: float) -> str:
    """Return what happened and when the session continues, in two or three sentences."""
    reason = pause.text if pause.text.endswith((".", "!", "?")) else f"{pause.text}."
    return f"{reason} {describe_resumption(pause, now)}".strip()


def describe_resumption(pause: "Pause", now: float) -> str:
    """Return when the session continues, as a sentence."""
    if pause.until is None:
        ends = ""
        if pause.resets_at is not None and pause.resets_at > now:
            ends = f"The limit ends at {format_moment(pause.resets_at, now)}. "
        return f"{ends}It waits until you continue it."
    if pause.until <= now:
        return "It continues in a moment."
    moment = format_moment(pause.until, now, seconds=pause.until - now < 600)
    if pause.kind in ("overloaded", "network"):
        return f"Attempt {pause.attempts + 1} is at {moment}."
    return f"It continues at {moment}."
