"""Converts the `session/update` messages of an ACP agent to events. Performs no I/O."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from model.backends import agent_events
from model.backends.acp.tools import ToolCall, ToolCalls, content_text
from model.backends.json_values import Json, as_number, as_object, as_objects, as_text
from model.domain.usage import Usage


class AcpStream:
    """The state of a conversation's current turn."""

    def __init__(self, worktree: Path, *, is_new: bool = True) -> None:
        """`is_new` says that the conversation begins with the process."""
        self.context_tokens: int | None = None
        self.context_window: int | None = None
        self._tools = ToolCalls(worktree)
        self._numbers = itertools.count(1)
        self._open: tuple[str, str] | None = None
        """Kind and message id of the text that further chunks continue."""
        self._block = ""
        self._plan = ""
        self._total_cost: float | None = 0.0 if is_new else None
        """In dollars, of the whole conversation, as last reported."""
        self._cost_before: float | None = None

    @property
    def turn_cost(self) -> float | None:
        """The turn's cost in dollars; `None` if the agent did not report it."""
        if self._total_cost is None or self._cost_before is None:
            return None
        cost = self._total_cost - self._cost_before
        return cost if cost > 0 else None

    def begin_turn(self) -> None:
        """Start a new turn."""
        self._tools.clear()
        self._open = None
        self._plan = f"plan {next(self._numbers)}"
        self._cost_before = self._total_cost

    def events(self, update: Json) -> Iterator[agent_events.AgentEvent]:
        """Convert an update to events."""
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                yield from self._text("text", update)
            case "agent_thought_chunk":
                yield from self._text("thinking", update)
            case "tool_call" | "tool_call_update":
                yield from self._tools.events(self.update_call(update))
            case "plan":
                self._open = None
                todos = [_todo(entry) for entry in as_objects(update.get("entries"))]
                yield agent_events.ToolUse(self._plan, "TodoWrite", {"todos": todos})
                yield agent_events.ToolResult(self._plan, "")
            case "usage_update":
                self.context_tokens = _as_count(update.get("used"))
                self.context_window = _as_count(update.get("size"))
                cost = as_object(update.get("cost"))
                if cost.get("currency") == "USD":
                    self._total_cost = as_number(cost.get("amount"))

    def update_call(self, update: Json) -> ToolCall:
        """Apply an update to its tool call, and return the call."""
        self._open = None
        return self._tools.update(update)

    def call_events(self, call: ToolCall) -> Iterator[agent_events.AgentEvent]:
        """The new events of a call after a permission request with more details."""
        return iter(self._tools.events(call))

    def first_use(self, call: ToolCall) -> agent_events.ToolUse:
        """The call as it is shown; the first one if it is several edits."""
        return self._tools.uses(call)[0]

    def _text(
        self, kind: Literal["text", "thinking"], update: Json
    ) -> Iterator[agent_events.AgentEvent]:
        text = content_text(as_object(update.get("content")))
        if not text:
            return
        message = kind, as_text(update.get("messageId"))
        if message != self._open:
            self._open = message
            self._block = f"text {next(self._numbers)}"
        yield agent_events.TextDelta(self._block, text, kind)


def parse_usage(result: Json) -> Usage:
    """Parse the token usage in the response to a prompt; not every agent reports it."""
    usage = as_object(result.get("usage"))
    return Usage(
        input_tokens=_as_count(usage.get("inputTokens")) or 0,
        output_tokens=_as_count(usage.get("outputTokens")) or 0,
        cache_creation_input_tokens=_as_count(usage.get("cachedWriteTokens")) or 0,
        cache_read_input_tokens=_as_count(usage.get("cachedReadTokens")) or 0,
    )


def _todo(entry: Json) -> dict[str, str]:
    return {"content": as_text(entry.get("content")), "status": as_text(entry.get("status"))}


def _as_count(value: object) -> int | None:
    """The value if it is a non-negative integer, else `None`."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if is_count else None  # type: ignore[return-value]
