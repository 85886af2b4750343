"""A text that comes in pieces and may end in a plan, which is shown as one and not as text."""

from typing import Literal

from model.backends.plan_markers import PLAN_START


class PlanText:
    """One block while it is streamed."""

    def __init__(self, kind: Literal["text", "thinking"], *, looks_for_plan: bool) -> None:
        self.kind: Literal["text", "thinking"] = kind
        self._looks = looks_for_plan and kind == "text"
        self._held = ""
        self._in_plan = False

    def add(self, piece: str) -> str:
        """What of the block can be shown now; what may begin a plan is held back."""
        if not self._looks:
            return piece
        if self._in_plan:
            return ""
        text = self._held + piece
        before, start, _ = text.partition(PLAN_START)
        if start:
            self._in_plan = True
            self._held = ""
            return before.rstrip()
        kept = _beginning_of_mark(text)
        self._held = text[len(text) - kept :]
        return text[: len(text) - kept]


def _beginning_of_mark(text: str) -> int:
    """How many characters at the end may be the beginning of the mark, with space before it."""
    longest = min(len(PLAN_START) - 1, len(text))
    lengths = (length for length in range(longest, 0, -1) if PLAN_START.startswith(text[-length:]))
    before = text[: len(text) - next(lengths, 0)]
    return len(text) - len(before.rstrip())
