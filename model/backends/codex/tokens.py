"""Counts the tokens of a session's thread and of its sub-agents' threads."""

from model.backends.json_values import Json, as_object
from model.domain.usage import Usage


class TokenCounts:
    """The totals that the program reports by thread, and what of them belongs to the turn."""

    def __init__(self) -> None:
        self.context_tokens: int | None = None
        self.context_window: int | None = None
        self._totals: dict[str, Usage] = {}
        self._baselines: dict[str, Usage] = {}

    @property
    def turn_usage(self) -> Usage:
        """The tokens used by the turn so far, including sub-agents."""
        used = Usage()
        for thread, total in self._totals.items():
            used += total - self._baselines.get(thread, Usage())
        return used

    def begin_turn(self) -> None:
        """Count from here on."""
        self._baselines = dict(self._totals)

    def has_total(self, thread: str) -> bool:
        """Whether the thread's totals are known."""
        return thread in self._totals

    def set_baseline(self, thread: str) -> None:
        """Exclude the thread's usage so far: a resumed conversation reports its earlier usage."""
        if thread in self._totals:
            self._baselines[thread] = self._totals[thread]

    def update(self, thread: str, usage: Json, *, is_main: bool) -> None:
        """Take the totals that the program reports for a thread."""
        total, last = (_to_usage(as_object(usage.get(name))) for name in ("total", "last"))
        if is_main and thread not in self._totals:
            # A conversation whose last event was a compaction reports no usage on resume (0.169).
            self._baselines[thread] = total - last
        self._totals[thread] = total
        if is_main:
            context_tokens = _as_count(as_object(usage.get("last")).get("totalTokens"))
            self.context_tokens = context_tokens or self.context_tokens
            window = _as_count(usage.get("modelContextWindow"))
            self.context_window = window or self.context_window


def _as_count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _to_usage(counts: Json) -> Usage:
    cached = _as_count(counts.get("cachedInputTokens"))
    written = _as_count(counts.get("cacheWriteInputTokens"))
    return Usage(
        input_tokens=max(0, _as_count(counts.get("inputTokens")) - cached - written),
        output_tokens=_as_count(counts.get("outputTokens")),
        cache_creation_input_tokens=written,
        cache_read_input_tokens=cached,
    )
