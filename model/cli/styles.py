"""Colors and states in what the command line prints."""

import os
import sys
import time
from typing import Any

from model.base.moments import format_moment

_CODES = {
    "bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36",
}  # fmt: skip
_COLORS = {"running": "blue", "waiting": "yellow", "failed": "red", "paused": "yellow"}


def has_color() -> bool:
    """Whether stdout shows colors: a terminal, unless `NO_COLOR` or `TERM=dumb` is set."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not is_plain


def paint(text: str, style: str) -> str:
    """Return the text with a style, where stdout shows colors."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if text and has_color() else text


def describe_state(row: dict[str, Any]) -> str:
    """Return what a `SessionRow` does, in few words."""
    if row["held"] and row["queued"]:
        return "setup failed" if row["held"] == "failed" else "in setup"
    if row["status"] == "waiting":
        return f"waiting: {row['waiting_for'] or 'you'}"
    if row["status"] == "paused" and row["pause"]:
        until = row["pause"]["until"]
        return f"paused until {format_moment(until, time.time())}" if until else "paused"
    if row["status"] == "idle" and row["last_run_status"] in ("cancelled", "interrupted"):
        return "stopped" if row["last_run_status"] == "cancelled" else "interrupted"
    if row["status"] == "idle":
        return "done" if row["last_run_status"] else "new"
    return str(row["status"])


def paint_state(row: dict[str, Any], width: int = 0) -> str:
    """Return `describe_state`, padded and in its color."""
    text = describe_state(row).ljust(width)
    is_failed = row["held"] == "failed" and row["queued"]
    style = "red" if is_failed else _COLORS.get(row["status"], "dim")
    return paint(text, style)
