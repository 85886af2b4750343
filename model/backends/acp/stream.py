"""What an ACP agent tells in its `session/update`s, as events. It reads and writes nothing."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from model.backends import base
from model.backends.acp.json_values import Told, as_count, as_object, as_objects, as_text
from model.backends.acp.tools import ToolCall, ToolCalls, text_of
from model.domain.resources import Usage


class AcpStream:
    """What one conversation has told so far in its turn."""

    def __init__(self, worktree: Path) -> None:
        self.context_tokens: int | None = None
        self.context_window: int | None = None
        self._tools = ToolCalls(worktree)
        self._numbers = itertools.count(1)
        self._open: tuple[str, str] | None = None
        """Kind and message of the text that further chunks go on with."""
        self._block = ""
        self._plan = ""

    def begin_turn(self) -> None:
        """What comes belongs to a new turn."""
        self._tools.forget()
        self._open = None
        self._plan = f"plan {next(self._numbers)}"

    def events(self, update: Told) -> Iterator[base.AgentEvent]:
        """What an update tells."""
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                yield from self._text("text", update)
            case "agent_thought_chunk":
                yield from self._text("thinking", update)
            case "tool_call" | "tool_call_update":
                yield from self._tools.events(self.call(update))
            case "plan":
                self._open = None
                todos = [_todo(entry) for entry in as_objects(update.get("entries"))]
                yield base.ToolUse(self._plan, "TodoWrite", {"todos": todos})
                yield base.ToolResult(self._plan, "")
            case "usage_update":
                self.context_tokens = as_count(update.get("used"))
                self.context_window = as_count(update.get("size"))

    def call(self, told: Told) -> ToolCall:
        """The tool call that this is a piece of."""
        self._open = None
        return self._tools.learn(told)

    def told(self, call: ToolCall) -> Iterator[base.AgentEvent]:
        """What is new about a call that a request for permission told more of."""
        return iter(self._tools.events(call))

    def shown(self, call: ToolCall) -> base.ToolUse:
        """The call as people see it; of several edits the first."""
        return self._tools.uses(call)[0]

    def _text(self, kind: Literal["text", "thinking"], update: Told) -> Iterator[base.AgentEvent]:
        text = text_of(as_object(update.get("content")))
        if not text:
            return
        message = kind, as_text(update.get("messageId"))
        if message != self._open:
            self._open = message
            self._block = f"text {next(self._numbers)}"
        yield base.TextDelta(self._block, text, kind)


def usage_of(result: Told) -> Usage:
    """The tokens that the answer to a prompt tells; not every agent does."""
    told = as_object(result.get("usage"))
    return Usage(
        input_tokens=as_count(told.get("inputTokens")) or 0,
        output_tokens=as_count(told.get("outputTokens")) or 0,
        cache_creation_input_tokens=as_count(told.get("cachedWriteTokens")) or 0,
        cache_read_input_tokens=as_count(told.get("cachedReadTokens")) or 0,
    )


def _todo(entry: Told) -> dict[str, str]:
    return {"content": as_text(entry.get("content")), "status": as_text(entry.get("status"))}
