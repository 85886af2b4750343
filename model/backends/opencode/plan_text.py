"""Filters a plan out of streamed text, because it is shown as a plan and not as text."""

from typing import Literal

from model.backends.plan_markers import PLAN_START


class PlanFilter:
    """A text block while it is streamed."""

    def __init__(self, kind: Literal["text", "thinking"], *, looks_for_plan: bool) -> None:
        self.kind: Literal["text", "thinking"] = kind
        self._looks_for_plan = looks_for_plan and kind == "text"
        self._held = ""
        self._in_plan = False

    def add(self, piece: str) -> str:
        """Add a piece and return the text to show; a possible start of a plan is held back."""
        if not self._looks_for_plan:
            return piece
        if self._in_plan:
            return ""
        text = self._held + piece
        before, start, _ = text.partition(PLAN_START)
        if start:
            self._in_plan = True
            self._held = ""
            return before.rstrip()
        kept = _partial_marker_length(text)
        self._held = text[len(text) - kept :]
        return text[: len(text) - kept]


def _partial_marker_length(text: str) -> int:
    """The number of characters at the end that may start the marker, with whitespace before it."""
    longest = min(len(PLAN_START) - 1, len(text))
    lengths = (length for length in range(longest, 0, -1) if PLAN_START.startswith(text[-length:]))
    before = text[: len(text) - next(lengths, 0)]
    return len(text) - len(before.rstrip())
