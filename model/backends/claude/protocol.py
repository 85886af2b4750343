"""Converts Claude Code's lines to events: text, tools and the end of a turn. Does no I/O.

Control messages (`control_*`) are handled in `backend.py`. Streamed text is provisional: the
`assistant` lines are authoritative, and a failed request is repeated under another message id.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from model.backends import agent_events
from model.backends.claude import commands as claude_commands
from model.backends.claude import errors as claude_errors
from model.backends.claude import hooks, limits, policy
from model.backends.claude.turn_usage import TurnUsageReader, parse_usage
from model.backends.json_values import Json, as_number, as_object, as_objects
from model.domain.agent_commands import AgentCommand
from model.domain.modes import ExecutionMode
from model.domain.usage import Usage

_SEEN_LIMIT: Final = 20_000
_FILLERS: Final = {"No response requested.", "(no content)"}
"""Placeholder texts of the program for an empty answer."""

Kind = Literal["text", "thinking"]


@dataclass(slots=True)
class _StreamedMessage:
    """A message of the provider that is being streamed."""

    id: str
    open_blocks: dict[str, Kind] = field(default_factory=dict)
    """Streamed blocks whose final text has not arrived, in order."""
    open_tools: list[str] = field(default_factory=list)
    """Announced tools whose input has not arrived."""


class ClaudeStream:
    """The state of the conversation, updated line by line."""

    def __init__(
        self,
        mode: ExecutionMode,
        is_plan: Callable[[Mapping[str, Any]], bool],
        *,
        is_new: bool = True,
    ) -> None:
        """`is_plan` returns whether an edit's input refers to the program's own plan file.

        `is_new` says that the conversation begins with the process.
        """
        self.mode = mode
        self._usage = TurnUsageReader(is_new=is_new)
        self._is_plan = is_plan
        self.session_id = ""
        self.last_text = ""
        """The last text of the turn; used as the plan if the plan tool's call contains none."""
        self._message: _StreamedMessage | None = None
        self._unstreamed = 0
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._hidden_tools: set[str] = set()
        self._mark = ""
        """The id of the turn's last line of the main conversation."""
        self._error_code = ""
        self._retry_delay: float | None = None
        self._model = ""
        self._servers: tuple[str, ...] = ()
        self._commands: tuple[AgentCommand, ...] = ()
        self._context = Usage()
        self._hooks = hooks.HookReporter()

    def begin_turn(self) -> None:
        """Reset the state of the previous turn."""
        self.last_text = ""
        self._mark = ""
        self._error_code = ""
        self._retry_delay = None
        self._usage.begin_turn()

    def handle_initialize(self, response: Json) -> Iterator[agent_events.AgentEvent]:
        """Events from the response to `initialize`, before the first turn."""
        yield from self._report_commands(claude_commands.parse_commands(response))

    def events(self, line: Json) -> Iterator[agent_events.AgentEvent]:
        """The events for a line; none for unknown kinds of lines."""
        match line.get("type"):
            case "system":
                yield from self._system_event(line)
            case "stream_event" if line.get("parent_tool_use_id") is None:
                yield from self._stream_event(as_object(line.get("event")))
            case "assistant" if self._is_new(line):
                yield from self._assistant_message(line)
            case "user" if self._is_new(line):
                yield from self._tool_results(line)
            case "conversation_reset":
                yield from self._report_conversation(line)
            case "rate_limit_event":
                yield from self._report_limits(as_object(line.get("rate_limit_info")))
            case "result":
                # Streamed text stays: a stopped answer counts as far as it got.
                yield from self._cut_off_tools()
                self._message = None
                if self._mark:
                    yield agent_events.TurnMarked(self._mark)
                yield self._end_turn(line)

    @property
    def is_model_unknown(self) -> bool:
        """Whether the provider reported that it does not have the model."""
        return self._error_code == "model_not_found"

    def begins_answer(self, line: Json) -> bool:
        """Whether the main conversation's answer starts with this line, prompted or not."""
        if line.get("parent_tool_use_id") is not None:
            return False
        kind = line.get("type")
        if kind == "stream_event":
            return as_object(line.get("event")).get("type") == "message_start"
        return kind == "assistant" and str(line.get("uuid")) not in self._seen

    def begins_work(self, line: Json) -> bool:
        """Whether the program now starts on a message, or sends a request to its provider."""
        if line.get("type") != "system":
            return False
        return line.get("subtype") == "init" or line.get("status") == "requesting"

    def _is_new(self, line: Json) -> bool:
        """Whether the line is new: after compaction, old messages are printed again."""
        uuid = line.get("uuid")
        if not isinstance(uuid, str):
            return True
        if uuid in self._seen:
            return False
        self._seen[uuid] = None
        if len(self._seen) > _SEEN_LIMIT:
            self._seen.popitem(last=False)
        return True

    # System lines --------------------------------------------------------------------------------

    def _system_event(self, line: Json) -> Iterator[agent_events.AgentEvent]:
        match line.get("subtype"):
            case "init":
                yield from self._report_conversation(line)
                yield from self._report_model(str(line.get("model") or ""))
                yield from self._report_mode(line)
                yield from self._report_mcp_servers(line)
                names = line.get("slash_commands")
                yield from self._report_commands(
                    claude_commands.update_commands(self._commands, names)
                )
            case "status":
                yield from self._report_mode(line)
                if line.get("status") == "compacting":
                    yield agent_events.Notice("Shortening the conversation…")
            case "api_retry":
                self._retry_delay = claude_errors.get_retry_delay(line)
                if claude_errors.check_retry(line) is None:
                    yield agent_events.Notice(claude_errors.format_retry_notice(line))
            case "compact_boundary":
                yield agent_events.COMPACTION_NOTE
            case "hook_response" if (note := self._hooks.describe_result(line)) is not None:
                yield note
            case "informational" if (note := hooks.describe_blocked_message(line)) is not None:
                yield note
            case "model_fallback" | "model_refusal_no_fallback" | "informational":
                if isinstance(line.get("content"), str):
                    yield agent_events.Notice(line["content"])

    def _report_conversation(self, line: Json) -> Iterator[agent_events.AgentEvent]:
        session_id = line.get("session_id")
        if isinstance(session_id, str) and session_id and session_id != self.session_id:
            self.session_id = session_id
            self._context = Usage()
            yield agent_events.ConversationIdentified(session_id)

    def _report_mode(self, line: Json) -> Iterator[agent_events.AgentEvent]:
        reported = line.get("permissionMode")
        if isinstance(reported, str):
            mode = policy.resolve_mode(reported, self.mode)
            if mode != self.mode:
                self.mode = mode
                yield agent_events.ModeChanged(mode)

    def _report_model(self, model: str) -> Iterator[agent_events.AgentEvent]:
        if model and model != self._model:
            self._model = model
            yield agent_events.ModelReported(model)

    def _report_mcp_servers(self, line: Json) -> Iterator[agent_events.AgentEvent]:
        listed = as_objects(line.get("mcp_servers"))
        known = {str(each["name"]) for each in listed if "name" in each}
        names = tuple(sorted(known))
        if names and names != self._servers:
            self._servers = names
            yield agent_events.McpServersListed(names)

    def _report_commands(
        self, commands: tuple[AgentCommand, ...]
    ) -> Iterator[agent_events.AgentEvent]:
        if commands != self._commands:
            self._commands = commands
            yield agent_events.CommandsListed(commands)

    def _report_limits(self, limit: Json) -> Iterator[agent_events.AgentEvent]:
        """Report the limits of the user's subscription, and remember when a reached one resets."""
        resets_at = as_number(limit.get("resetsAt"))
        if limit.get("status") == "rejected" and resets_at is not None:
            self._retry_delay = max(0.0, resets_at - time.time())
        if windows := limits.parse_windows(limit):
            yield agent_events.LimitsReported(windows)

    # Streaming ---------------------------------------------------------------------------------

    def _stream_event(self, event: Json) -> Iterator[agent_events.AgentEvent]:
        if self._usage.note_answer(event):
            yield agent_events.UsageReported(self._usage.so_far)
        match event.get("type"):
            case "message_start":
                yield from self._drop_message()
                message = as_object(event.get("message"))
                self._message = _StreamedMessage(str(message.get("id", "")))
                self._unstreamed = 0
                self._context = parse_usage(message.get("usage"))
            case "content_block_start" if self._message is not None:
                block = as_object(event.get("content_block"))
                if block.get("type") == "tool_use" and not self._may_be_plan(block):
                    yield from self._announce_tool(self._message, block)
            case "content_block_delta" if self._message is not None:
                yield from self._delta(self._message, event)
            case "message_stop":
                self._message = None

    def _may_be_plan(self, block: Json) -> bool:
        """Whether this may edit the plan file in plan mode; only its input can confirm that."""
        return self.mode == "plan" and str(block.get("name")) in policy.EDIT_TOOLS

    def _announce_tool(
        self, message: _StreamedMessage, block: Json
    ) -> Iterator[agent_events.AgentEvent]:
        if isinstance(block.get("id"), str):
            message.open_tools.append(block["id"])
            yield from self._report_tool(block, None)

    def _delta(self, message: _StreamedMessage, event: Json) -> Iterator[agent_events.AgentEvent]:
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
            yield agent_events.TextDelta(block, text, kind)

    def _drop_message(self) -> Iterator[agent_events.AgentEvent]:
        """Drop the streamed part of a message that is replaced by another one."""
        yield from self._cut_off_tools()
        message, self._message = self._message, None
        if message is not None:
            yield from map(agent_events.BlockDropped, message.open_blocks)

    def _cut_off_tools(self) -> Iterator[agent_events.AgentEvent]:
        announced = self._message.open_tools if self._message is not None else []
        for tool in announced:
            if tool not in self._hidden_tools:
                yield agent_events.ToolResult(tool, "Cut off before it was called.", is_error=True)

    # Finished blocks ---------------------------------------------------------------------------

    def _assistant_message(self, line: Json) -> Iterator[agent_events.AgentEvent]:
        message = as_object(line.get("message"))
        parent = line.get("parent_tool_use_id")
        if parent is None and isinstance(line.get("uuid"), str):
            self._mark = line["uuid"]
        if isinstance(line.get("error"), str):
            # The text explains the error; the end of the turn reports it.
            self._error_code = line["error"] if parent is None else self._error_code
            return
        if parent is not None and self._usage.note_sub_agent(message):
            yield agent_events.UsageReported(self._usage.so_far)
        message_id = str(message.get("id", ""))
        if parent is None and self._message is not None and self._message.id != message_id:
            yield from self._drop_message()
        for block in _blocks(message):
            match block.get("type"):
                case "tool_use":
                    yield from self._report_tool(block, parent)
                case "text" if parent is None:
                    yield from self._finish_text(message_id, "text", block.get("text"))
                case "thinking" if parent is None:
                    yield from self._finish_text(message_id, "thinking", block.get("thinking"))

    def _finish_text(
        self, message_id: str, kind: Kind, text: object
    ) -> Iterator[agent_events.AgentEvent]:
        if not isinstance(text, str) or not text or text in _FILLERS:
            return
        if kind == "text":
            self.last_text = text
        streamed = self._message.open_blocks if self._message is not None else {}
        block = next((key for key, each in streamed.items() if each == kind), None)
        if block is None:
            self._unstreamed += 1
            block = f"{message_id}:whole-{self._unstreamed}"
        streamed.pop(block, None)
        yield agent_events.TextFinal(block, text, kind)

    def _report_tool(self, block: Json, parent: object) -> Iterator[agent_events.AgentEvent]:
        tool, name, tool_input = block.get("id"), block.get("name"), block.get("input")
        if not isinstance(tool, str) or not isinstance(name, str):
            return
        tool_input = as_object(tool_input)
        is_edit = name in policy.EDIT_TOOLS
        if name in policy.HIDDEN_TOOLS or (is_edit and self._is_plan(tool_input)):
            self._hidden_tools.add(tool)
            return
        if tool_input and self._message is not None and tool in self._message.open_tools:
            self._message.open_tools.remove(tool)
        yield agent_events.ToolUse(
            tool, name, tool_input, parent if isinstance(parent, str) else None
        )

    def _tool_results(self, line: Json) -> Iterator[agent_events.AgentEvent]:
        for block in _blocks(as_object(line.get("message"))):
            tool = block.get("tool_use_id")
            if block.get("type") == "tool_result" and isinstance(tool, str):
                if self._message is not None and tool in self._message.open_tools:
                    self._message.open_tools.remove(tool)
                if tool not in self._hidden_tools:
                    content = _result_text(block.get("content"))
                    yield agent_events.ToolResult(tool, content, bool(block.get("is_error")))

    # The end of a turn -------------------------------------------------------------------------

    def _end_turn(self, line: Json) -> agent_events.TurnFinished | agent_events.TurnFailed:
        usage, cost = self._usage.read(line)
        context = self._context
        context_tokens = (
            context.input_tokens
            + context.cache_creation_input_tokens
            + context.cache_read_input_tokens
        )
        reason = str(line.get("terminal_reason") or "")
        if reason.startswith("aborted"):
            # An interrupted answer reports zero tokens; those read for it are known from its start.
            return agent_events.TurnFinished(
                "stopped",
                usage if usage != Usage() else self._usage.so_far,
                context_tokens or None,
                cost_usd=cost if usage != Usage() else None,
            )
        if line.get("is_error") and line.get("subtype") != "error_max_turns":
            return self._build_failure(line, usage, cost)
        stop_reason = "max_turns" if line.get("is_error") else line.get("stop_reason")
        window = self._find_context_window(line.get("modelUsage"))
        return agent_events.TurnFinished(
            str(stop_reason or "end_turn"), usage, context_tokens or None, window, cost
        )

    def _build_failure(
        self, line: Json, usage: Usage, cost: float | None
    ) -> agent_events.TurnFailed:
        payload = line.get("errors")
        errors = [str(error) for error in payload] if isinstance(payload, list) else []
        messages = [error for error in errors if not error.startswith("[ede_diagnostic]")]
        text = str(line.get("result") or (messages[0] if messages else ""))
        status = line.get("api_error_status")
        status = status if isinstance(status, int) else None
        error, error_type = claude_errors.describe_error(self._error_code, text, status)
        limited = error_type == "rate_limit_error"
        return agent_events.TurnFailed(
            error,
            error_type,
            usage,
            self._retry_delay if limited else None,
            claude_errors.find_limit(self._error_code, text, status),
            cost_usd=cost,
        )

    def _find_context_window(self, models: object) -> int | None:
        listed = as_object(models).items()
        windows = {name: as_object(each).get("contextWindow") for name, each in listed}
        known = [window for window in windows.values() if isinstance(window, int) and window > 0]
        current = windows.get(self._model)
        return current if isinstance(current, int) and current > 0 else max(known, default=None)


def _blocks(message: Json) -> list[Json]:
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
