"""Claude Code's lines as events: text, tools and the end of a turn. Writes nothing, reads no file.

What the program asks and answers (`control_*`) is `claude.py`'s. Streamed text is provisional: the
`assistant` lines are the truth, and a request that breaks is repeated under another message id.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from model.backends import base
from model.backends.claude import commands as claude_commands
from model.backends.claude import errors as claude_errors
from model.backends.claude import hooks, policy
from model.backends.claude.json_values import Line, as_object, as_objects
from model.domain.resources import AgentCommand, ExecutionMode, Usage

_SEEN_LIMIT: Final = 20_000
_FILLERS: Final = {"No response requested.", "(no content)"}
"""What the program itself says where nothing was said."""

Kind = Literal["text", "thinking"]


@dataclass(slots=True)
class _StreamedMessage:
    """A message of the provider while it comes in."""

    id: str
    open_blocks: dict[str, Kind] = field(default_factory=dict)
    """Streamed blocks whose final text has not come, in their order."""
    open_tools: list[str] = field(default_factory=list)
    """Tools that were announced and whose input has not come."""


class ClaudeStream:
    """What is known of the conversation, line by line."""

    def __init__(self, mode: ExecutionMode, is_plan: Callable[[Mapping[str, Any]], bool]) -> None:
        """`is_plan` tells whether an edit's input means the program's own file for the plan."""
        self.mode = mode
        self._is_plan = is_plan
        self.session_id = ""
        self.last_text = ""
        """The last text of the turn; the plan, where a plan tool's call holds none."""
        self._message: _StreamedMessage | None = None
        self._whole = 0
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._hidden_tools: set[str] = set()
        self._error_word = ""
        self._retry_delay: float | None = None
        self._model = ""
        self._servers: tuple[str, ...] = ()
        self._commands: tuple[AgentCommand, ...] = ()
        self._context = Usage()
        self._hooks = hooks.Hooks()

    def begin_turn(self) -> None:
        """Forget what belonged to the turn before."""
        self.last_text = ""
        self._error_word = ""
        self._retry_delay = None

    def introduced(self, told: Line) -> Iterator[base.AgentEvent]:
        """What the program tells of itself before its first turn."""
        yield from self._commands_known(claude_commands.listed(told))

    def events(self, line: Line) -> Iterator[base.AgentEvent]:
        """What a line tells; nothing for lines of kinds that we do not know."""
        match line.get("type"):
            case "system":
                yield from self._system(line)
            case "stream_event" if line.get("parent_tool_use_id") is None:
                yield from self._streamed(as_object(line.get("event")))
            case "assistant" if self._is_new(line):
                yield from self._assistant(line)
            case "user" if self._is_new(line):
                yield from self._tool_results(line)
            case "conversation_reset":
                yield from self._identified(line)
            case "rate_limit_event":
                self._rate_limited(as_object(line.get("rate_limit_info")))
            case "result":
                # What was streamed stays: a stopped answer is an answer as far as it went.
                yield from self._tools_cut_off()
                self._message = None
                yield self._ending(line)

    @property
    def lacks_model(self) -> bool:
        """Whether the provider said that it does not know the model."""
        return self._error_word == "model_not_found"

    def begins_answer(self, line: Line) -> bool:
        """Whether the main conversation's answer starts with this line, asked for or not."""
        if line.get("parent_tool_use_id") is not None:
            return False
        kind = line.get("type")
        if kind == "stream_event":
            return as_object(line.get("event")).get("type") == "message_start"
        return kind == "assistant" and str(line.get("uuid")) not in self._seen

    def begins_work(self, line: Line) -> bool:
        """Whether the program now begins with a message, or asks its provider."""
        if line.get("type") != "system":
            return False
        return line.get("subtype") == "init" or line.get("status") == "requesting"

    def _is_new(self, line: Line) -> bool:
        """After compacting, old messages are printed again."""
        mark = line.get("uuid")
        if not isinstance(mark, str):
            return True
        if mark in self._seen:
            return False
        self._seen[mark] = None
        if len(self._seen) > _SEEN_LIMIT:
            self._seen.popitem(last=False)
        return True

    # The program's own notes -------------------------------------------------------------------

    def _system(self, line: Line) -> Iterator[base.AgentEvent]:
        match line.get("subtype"):
            case "init":
                yield from self._identified(line)
                yield from self._model_reported(str(line.get("model") or ""))
                yield from self._mode_reported(line)
                yield from self._mcp_servers(line)
                names = line.get("slash_commands")
                yield from self._commands_known(claude_commands.renewed(self._commands, names))
            case "status":
                yield from self._mode_reported(line)
                if line.get("status") == "compacting":
                    yield base.Notice("Shortening the conversation…")
            case "api_retry":
                self._retry_delay = claude_errors.retry_delay(line)
                if claude_errors.gave_up(line) is None:
                    yield base.Notice(claude_errors.retry_notice(line))
            case "compact_boundary":
                yield base.SHORTENED
            case "hook_response" if (note := self._hooks.note(line)) is not None:
                yield note
            case "informational" if (note := hooks.held_back(line)) is not None:
                yield note
            case "model_fallback" | "model_refusal_no_fallback" | "informational":
                if isinstance(line.get("content"), str):
                    yield base.Notice(line["content"])

    def _identified(self, line: Line) -> Iterator[base.AgentEvent]:
        session_id = line.get("session_id")
        if isinstance(session_id, str) and session_id and session_id != self.session_id:
            self.session_id = session_id
            self._context = Usage()
            yield base.ConversationIdentified(session_id)

    def _mode_reported(self, line: Line) -> Iterator[base.AgentEvent]:
        reported = line.get("permissionMode")
        if isinstance(reported, str):
            mode = policy.mode_after(reported, self.mode)
            if mode != self.mode:
                self.mode = mode
                yield base.ModeChanged(mode)

    def _model_reported(self, model: str) -> Iterator[base.AgentEvent]:
        if model and model != self._model:
            self._model = model
            yield base.ModelAnswers(model)

    def _mcp_servers(self, line: Line) -> Iterator[base.AgentEvent]:
        listed = as_objects(line.get("mcp_servers"))
        known = {str(each["name"]) for each in listed if "name" in each}
        names = tuple(sorted(known))
        if names and names != self._servers:
            self._servers = names
            yield base.McpServersSeen(names)

    def _commands_known(self, commands: tuple[AgentCommand, ...]) -> Iterator[base.AgentEvent]:
        if commands != self._commands:
            self._commands = commands
            yield base.CommandsKnown(commands)

    def _rate_limited(self, told: Line) -> None:
        """The limit of a person's subscription, which ends at a time of day."""
        reset = told.get("resetsAt")
        if told.get("status") == "rejected" and isinstance(reset, int | float):
            self._retry_delay = max(0.0, reset - time.time())

    # Streaming ---------------------------------------------------------------------------------

    def _streamed(self, event: Line) -> Iterator[base.AgentEvent]:
        match event.get("type"):
            case "message_start":
                yield from self._dropped()
                message = as_object(event.get("message"))
                self._message = _StreamedMessage(str(message.get("id", "")))
                self._whole = 0
                self._context = _usage(message.get("usage"))
            case "content_block_start" if self._message is not None:
                block = as_object(event.get("content_block"))
                if block.get("type") == "tool_use" and not self._may_be_plan(block):
                    yield from self._tool_announced(self._message, block)
            case "content_block_delta" if self._message is not None:
                yield from self._delta(self._message, event)
            case "message_stop":
                self._message = None

    def _may_be_plan(self, block: Line) -> bool:
        """Only its input tells whether an edit in plan mode is for the plan's own file."""
        return self.mode == "plan" and str(block.get("name")) in policy.EDIT_TOOLS

    def _tool_announced(self, message: _StreamedMessage, block: Line) -> Iterator[base.AgentEvent]:
        if isinstance(block.get("id"), str):
            message.open_tools.append(block["id"])
            yield from self._tool_used(block, None)

    def _delta(self, message: _StreamedMessage, event: Line) -> Iterator[base.AgentEvent]:
        delta = as_object(event.get("delta"))
        kind: Kind
        match delta.get("type"):
            case "text_delta":
                kind, text = "text", delta.get("text")
            case "thinking_delta":
                kind, text = "thinking", delta.get("thinking")
            case _:
                return
        if isinstance(text, str) and text:
            block = f"{message.id}:{event.get('index')}"
            message.open_blocks[block] = kind
            yield base.TextDelta(block, text, kind)

    def _dropped(self) -> Iterator[base.AgentEvent]:
        """What was streamed of a message that another one replaces."""
        yield from self._tools_cut_off()
        message, self._message = self._message, None
        if message is not None:
            yield from map(base.BlockDropped, message.open_blocks)

    def _tools_cut_off(self) -> Iterator[base.AgentEvent]:
        announced = self._message.open_tools if self._message is not None else []
        for tool in announced:
            if tool not in self._hidden_tools:
                yield base.ToolResult(tool, "Cut off before it was called.", is_error=True)

    # Finished blocks ---------------------------------------------------------------------------

    def _assistant(self, line: Line) -> Iterator[base.AgentEvent]:
        message = as_object(line.get("message"))
        parent = line.get("parent_tool_use_id")
        if isinstance(line.get("error"), str):
            # The text explains the error; the end of the turn will tell it.
            self._error_word = line["error"] if parent is None else self._error_word
            return
        message_id = str(message.get("id", ""))
        if parent is None and self._message is not None and self._message.id != message_id:
            yield from self._dropped()
        for block in _blocks(message):
            match block.get("type"):
                case "tool_use":
                    yield from self._tool_used(block, parent)
                case "text" if parent is None:
                    yield from self._text_ended(message_id, "text", block.get("text"))
                case "thinking" if parent is None:
                    yield from self._text_ended(message_id, "thinking", block.get("thinking"))

    def _text_ended(self, message_id: str, kind: Kind, text: object) -> Iterator[base.AgentEvent]:
        if not isinstance(text, str) or not text or text in _FILLERS:
            return
        if kind == "text":
            self.last_text = text
        streamed = self._message.open_blocks if self._message is not None else {}
        block = next((key for key, each in streamed.items() if each == kind), None)
        if block is None:
            self._whole += 1
            block = f"{message_id}:whole-{self._whole}"
        streamed.pop(block, None)
        yield base.TextFinal(block, text, kind)

    def _tool_used(self, block: Line, parent: object) -> Iterator[base.AgentEvent]:
        tool, name, told = block.get("id"), block.get("name"), block.get("input")
        if not isinstance(tool, str) or not isinstance(name, str):
            return
        told = as_object(told)
        is_edit = name in policy.EDIT_TOOLS
        if name in policy.SHOWN_OTHERWISE or (is_edit and self._is_plan(told)):
            self._hidden_tools.add(tool)
            return
        if told and self._message is not None and tool in self._message.open_tools:
            self._message.open_tools.remove(tool)
        yield base.ToolUse(tool, name, told, parent if isinstance(parent, str) else None)

    def _tool_results(self, line: Line) -> Iterator[base.AgentEvent]:
        for block in _blocks(as_object(line.get("message"))):
            tool = block.get("tool_use_id")
            if block.get("type") == "tool_result" and isinstance(tool, str):
                if self._message is not None and tool in self._message.open_tools:
                    self._message.open_tools.remove(tool)
                if tool not in self._hidden_tools:
                    content = _result_text(block.get("content"))
                    yield base.ToolResult(tool, content, bool(block.get("is_error")))

    # The end of a turn -------------------------------------------------------------------------

    def _ending(self, line: Line) -> base.TurnFinished | base.TurnFailed:
        usage = _usage(line.get("usage"))
        context = self._context
        fill = (
            context.input_tokens
            + context.cache_creation_input_tokens
            + context.cache_read_input_tokens
        )
        reason = str(line.get("terminal_reason") or "")
        if reason.startswith("aborted"):
            # The count of a cut answer is zero; what was read for it is known from its start.
            return base.TurnFinished(
                "stopped", usage if usage != Usage() else context, fill or None
            )
        if line.get("is_error") and line.get("subtype") != "error_max_turns":
            return self._failure(line, usage)
        stop_reason = "max_turns" if line.get("is_error") else line.get("stop_reason")
        window = self._window(line.get("modelUsage"))
        return base.TurnFinished(str(stop_reason or "end_turn"), usage, fill or None, window)

    def _failure(self, line: Line, usage: Usage) -> base.TurnFailed:
        told = line.get("errors")
        errors = [str(error) for error in told] if isinstance(told, list) else []
        said = [error for error in errors if not error.startswith("[ede_diagnostic]")]
        text = str(line.get("result") or (said[0] if said else ""))
        status = line.get("api_error_status")
        status = status if isinstance(status, int) else None
        error, kind = claude_errors.described(self._error_word, text, status)
        limited = kind == "rate_limit_error"
        return base.TurnFailed(error, kind, usage, self._retry_delay if limited else None)

    def _window(self, models: object) -> int | None:
        if not isinstance(models, dict):
            return None
        windows = {
            name: each.get("contextWindow")
            for name, each in models.items()
            if isinstance(each, dict)
        }
        known = [window for window in windows.values() if isinstance(window, int) and window > 0]
        own = windows.get(self._model)
        return own if isinstance(own, int) and own > 0 else max(known, default=None)


def _blocks(message: Line) -> list[Line]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else as_objects(content)


def _result_text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = (
        str(block.get("text", "")) if block.get("type") == "text" else f"[{block.get('type')}]"
        for block in as_objects(content)
    )
    return "\n".join(parts)


def _usage(told: object) -> Usage:
    counts = {name: as_object(told).get(name) for name in Usage.model_fields}
    return Usage(**{name: count for name, count in counts.items() if isinstance(count, int)})
