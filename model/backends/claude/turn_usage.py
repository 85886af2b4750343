"""Tokens and cost of a turn of Claude Code, from the line that ends it."""

from collections.abc import Mapping
from typing import Final

from model.backends.json_values import Json, as_number, as_object
from model.domain.usage import Usage

_COUNTS: Final = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_creation_input_tokens": "cacheCreationInputTokens",
    "cache_read_input_tokens": "cacheReadInputTokens",
}


class TurnUsageReader:
    """Reads the ends of the turns of one process.

    `usage` has the tokens of the main conversation, and none of a stopped or shortened one.
    `model_usage_since_last_result` (2.1.330) has all, with those of sub-agents, and the cost.
    Before it there is only `total_cost_usd`, the sum over the conversation: with a resumed one it
    may begin with that of the earlier processes, so the first turn's cost is unknown then.
    """

    def __init__(self, *, is_new: bool) -> None:
        """`is_new` says that the conversation begins with the process."""
        self._total: float | None = 0.0 if is_new else None
        self._answers = Usage()
        self._current = Usage()
        self._sub_agents: set[str] = set()

    @property
    def so_far(self) -> Usage:
        """The tokens of the running turn's answers, as far as they were reported."""
        return self._answers + self._current

    def begin_turn(self) -> None:
        """Forget the answers of the previous turn."""
        self._answers = self._current = Usage()
        self._sub_agents.clear()

    def note_answer(self, event: Json) -> bool:
        """Note the tokens in the start or the end of an answer; returns whether it had any."""
        match event.get("type"):
            case "message_start":
                self._answers += self._current
                self._current = parse_usage(as_object(event.get("message")).get("usage"))
            case "message_delta":
                self._current = parse_usage(event.get("usage"))
            case _:
                return False
        return True

    def note_sub_agent(self, message: Json) -> bool:
        """Note the tokens of a sub-agent's answer, which each of its lines reports."""
        if (message_id := str(message.get("id"))) in self._sub_agents:
            return False
        self._sub_agents.add(message_id)
        usage = parse_usage(message.get("usage"))
        self._answers += usage
        return usage.total > 0

    def read(self, line: Json) -> tuple[Usage, float | None]:
        """Return the tokens and the cost in dollars, `None` if it is unknown."""
        total, before = as_number(line.get("total_cost_usd")), self._total
        self._total = total
        if isinstance(line.get("model_usage_since_last_result"), dict):
            models = [*map(as_object, line["model_usage_since_last_result"].values())]
            usage = sum((_read_counts(model, _COUNTS) for model in models), Usage())
            cost = sum(as_number(model.get("costUSD")) or 0.0 for model in models)
        else:
            usage = parse_usage(line.get("usage"))
            cost = 0.0 if total is None or before is None else max(0.0, total - before)
        # Without a price, models are counted as free.
        return usage, cost if cost > 0 or not usage.total else None


def parse_usage(payload: object) -> Usage:
    """Parse the tokens of an answer, in the provider's form."""
    return _read_counts(as_object(payload), {name: name for name in Usage.model_fields})


def _read_counts(payload: Json, names: Mapping[str, str]) -> Usage:
    counts = {field: payload.get(name) for field, name in names.items()}
    return Usage(**{field: count for field, count in counts.items() if isinstance(count, int)})
