"""Converts Codex's notifications to events: text, tools, sub-agents, token usage. Does no I/O.

A sub-agent is a thread of its own whose items are interleaved; only its tools are shown, below the
tool that started it. Streamed text is provisional until its item is complete.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from model.backends import agent_events
from model.backends.codex import errors, startup_notices
from model.backends.codex.edits import parse_edits
from model.backends.codex.tokens import TokenCounts
from model.backends.json_values import Json, as_object, as_objects
from model.backends.plan_markers import split_plan
from model.backends.worktree_paths import display_path

STOPPED: Final = "Stopped."
STILL_RUNNING: Final = "Still running when the turn ended."
NOT_ALLOWED: Final = "Not allowed."

_KILLED: Final = -1
"""The exit code of a command that the program killed."""

_SHELLS: Final = ("-c", "-lc", "-lic")
_MAX_UNWRAPPED: Final = 10_000
"""Characters. `shlex.split` takes quadratic time: seconds for a command of 500,000."""

_SPAWNING: Final = {"spawnAgent", "sendInput"}


class CodexStream:
    """The state of a session's thread and those of its sub-agents."""

    def __init__(self, worktree: Path, thread_id: str) -> None:
        self.thread_id = thread_id
        self.plan = ""
        """The plan that the turn proposed."""
        self.tokens = TokenCounts()
        self.children: dict[str, str] = {}
        """The tool calls that started the sub-agents, by thread."""
        self._worktree = worktree
        self._open_blocks: set[str] = set()
        """Streamed blocks that are not complete."""
        self._broken_blocks: set[str] = set()
        """Blocks that a lost connection cut off."""
        self._open_tools: list[str] = []
        """Tool calls without a result."""
        self._raw_reasoning: set[str] = set()
        """Reasoning items streamed as raw text instead of a summary."""
        self._failed_servers: set[str] = set()
        self._warnings: set[str] = set()
        """Warnings already shown; one about a model without metadata is repeated at every turn."""
        self._last_text: dict[str, str] = {}
        self._patches: dict[str, list[Json]] = {}
        """The edits of each patch of the turn."""
        self._tool_names: dict[str, str] = {}
        """Tool names of the turn's calls."""
        self._todo_lists = 0

    def begin_turn(self) -> None:
        """Reset the state of the previous turn."""
        self.tokens.begin_turn()
        self._patches.clear()
        self._tool_names.clear()
        self.begin_part()

    def begin_part(self) -> None:
        """Reset the state of a part: the turn continues as another one of the program."""
        self.plan = ""
        self._last_text.clear()
        self._open_blocks.clear()
        self._broken_blocks.clear()

    @property
    def open_tools(self) -> frozenset[str]:
        """The tool calls without a result."""
        return frozenset(self._open_tools)

    @property
    def proposed_plan(self) -> str:
        """The turn's plan, from a plan item or marked in the last message."""
        _, marked = split_plan(self._last_text.get(self.thread_id, ""))
        return (self.plan or marked).strip()

    def events(self, method: str, params: Json) -> Iterator[agent_events.AgentEvent]:
        """The events for a notification; none for unknown methods."""
        thread = str(params.get("threadId"))
        parent = None if thread == self.thread_id else self.children.get(thread, "")
        match method:
            case "item/started":
                yield from self._item_started(as_object(params.get("item")), parent)
            case "item/completed":
                yield from self._item_completed(as_object(params.get("item")), thread, parent)
            case "turn/completed" if parent:
                turn = as_object(params.get("turn"))
                text = self._last_text.pop(thread, "")
                error = str(as_object(turn.get("error")).get("message") or STOPPED)
                is_done = turn.get("status") == "completed"
                yield from self._result(parent, text or ("" if is_done else error), not is_done)
            case "thread/tokenUsage/updated":
                usage = as_object(params.get("tokenUsage"))
                self.tokens.update(thread, usage, is_main=thread == self.thread_id)
                yield agent_events.UsageReported(self.tokens.turn_usage)
            case "item/commandExecution/outputDelta" if params.get("itemId") in self._open_tools:
                yield agent_events.ToolOutput(str(params["itemId"]), str(params.get("delta") or ""))
            case "item/mcpToolCall/progress" if params.get("itemId") in self._open_tools:
                yield agent_events.ToolOutput(
                    str(params["itemId"]), f"{params.get('message') or ''}\n"
                )
            case "mcpServer/startupStatus/updated" if params.get("status") == "failed":
                # It is retried with the first turn, and may fail with another message.
                if (name := str(params.get("name"))) not in self._failed_servers:
                    self._failed_servers.add(name)
                    yield agent_events.ConversationNote(
                        startup_notices.describe_failed_server(params)
                    )
            case _ if parent is None:
                yield from self._main_thread_events(method, params)

    def _main_thread_events(self, method: str, params: Json) -> Iterator[agent_events.AgentEvent]:
        """The events for a notification about the session's own thread."""
        match method:
            case "item/reasoning/textDelta":
                self._raw_reasoning.add(key := str(params.get("itemId")))
                block = f"{key}:text:{params.get('contentIndex')}"
                yield from self._delta(block, "thinking", params)
            case "model/rerouted":
                models = f"{params.get('toModel')} instead of {params.get('fromModel')}"
                yield agent_events.ConversationNote(
                    f"The provider is using {models} ({params.get('reason')})."
                )
            case "guardianWarning" if isinstance(params.get("message"), str):
                yield agent_events.Notice(startup_notices.shorten(params["message"]))
            case "item/agentMessage/delta":
                yield from self._delta(str(params.get("itemId")), "text", params)
            case "item/reasoning/summaryTextDelta":
                block = f"{params.get('itemId')}:{params.get('summaryIndex')}"
                yield from self._delta(block, "thinking", params)
            case "turn/plan/updated":
                yield from self._todo_list(str(params.get("turnId")), params.get("plan"))
            case "error" if params.get("willRetry"):
                self._broken_blocks |= self._open_blocks
                self._open_blocks.clear()
                yield agent_events.Notice(
                    errors.format_retry_notice(as_object(params.get("error")))
                )
            case "warning" if isinstance(params.get("message"), str):
                if params["message"] not in self._warnings:
                    self._warnings.add(params["message"])
                    yield agent_events.Notice(params["message"])

    def idle_events(
        self, method: str, params: Json, *, is_turn_open: bool
    ) -> list[agent_events.AgentEvent]:
        """The events of a notification that belongs to no turn, or, during one, to an earlier one.

        Notes, and results of open tools. Token totals are updated.
        """
        thread = str(params.get("threadId"))
        # A busy program reports the usage of a resumed thread when its next turn already runs.
        is_baseline = thread == self.thread_id and not self.tokens.has_total(thread)
        open_tools = self.open_tools if is_turn_open else frozenset()
        events = list(self.events(method, params))
        if is_baseline or not is_turn_open:
            self.tokens.set_baseline(thread)
        return [
            event
            for event in events
            if isinstance(event, agent_events.ConversationNote)
            or (isinstance(event, agent_events.ToolResult) and event.tool_use_id in open_tools)
        ]

    def end_open_tools(self, *, is_stopped: bool) -> Iterator[agent_events.AgentEvent]:
        """Results for the tool calls that the program never completed."""
        for tool in list(self._open_tools):
            if is_stopped or tool not in self.children.values():
                yield from self._result(tool, STOPPED if is_stopped else STILL_RUNNING, is_stopped)

    def find_call(self, name: str) -> str | None:
        """The last call of this tool that has no result yet."""
        return next(
            (tool for tool in reversed(self._open_tools) if self._tool_names.get(tool) == name),
            None,
        )

    def get_edits(self, item: str) -> list[Json]:
        """The edits of the patch with this id, one `edit` input per file."""
        return self._patches.get(item, [])

    # Items -------------------------------------------------------------------------------------

    def _item_started(self, item: Json, parent: str | None) -> Iterator[agent_events.AgentEvent]:
        if item.get("type") == "contextCompaction" and parent is None:
            yield agent_events.Notice("Shortening the conversation…")
        for use in self._tool_uses(item, parent):
            if parent is None:
                yield from self._drop_broken()
            self._open_tools.append(use.id)
            self._tool_names[use.id] = use.name
            yield use

    def _item_completed(
        self, item: Json, thread: str, parent: str | None
    ) -> Iterator[agent_events.AgentEvent]:
        key = str(item.get("id"))
        match item.get("type"):
            case "agentMessage":
                text = str(item.get("text") or "")
                self._last_text[thread] = text or self._last_text.get(thread, "")
                if parent is None:
                    yield from self._final(key, "text", text)
            case "reasoning" if parent is None:
                yield from self._finals(f"{key}:", item.get("summary"))
                # Open models stream their raw reasoning, without a summary.
                if key in self._raw_reasoning:
                    yield from self._finals(f"{key}:text:", item.get("content"))
            case "plan" if parent is None:
                self.plan = str(item.get("text") or "")
            case "contextCompaction" if parent is None:
                yield agent_events.COMPACTION_NOTE
            case "subAgentActivity" if item.get("kind") != "started":
                child = str(item.get("agentThreadId"))
                yield from self._result(
                    self.children.get(child, ""), self._get_last_text(child), False
                )
            case "collabAgentToolCall" if item.get("tool") in _SPAWNING:
                yield from self._agent_spawned(item, key)
            case _:
                yield from self._tool_completed(item, parent)

    def _tool_completed(self, item: Json, parent: str | None) -> Iterator[agent_events.AgentEvent]:
        content, is_error = _parse_outcome(item)
        for use in self._tool_uses(item, parent):
            # Some items complete without having started; others have their details only now.
            if use.id not in self._open_tools or item.get("type") in ("fileChange", "webSearch"):
                self._open_tools += [use.id] if use.id not in self._open_tools else []
                yield use
            if item.get("type") != "subAgentActivity":
                yield from self._result(use.id, content, is_error)

    def _tool_uses(self, item: Json, parent: str | None) -> Iterator[agent_events.ToolUse]:
        key = str(item.get("id"))
        match item.get("type"):
            case "commandExecution":
                command = {"command": unwrap_shell(item.get("command"))}
                yield agent_events.ToolUse(key, "bash", command, parent)
            case "fileChange":
                patch = list(parse_edits(item, self._worktree, parent))
                self._patches[key] = [dict(use.input) for use in patch]
                yield from patch
            case "mcpToolCall":
                name = f"mcp__{item.get('server')}__{item.get('tool')}"
                yield agent_events.ToolUse(key, name, as_object(item.get("arguments")), parent)
            case "dynamicToolCall":
                arguments = as_object(item.get("arguments"))
                yield agent_events.ToolUse(key, str(item.get("tool")), arguments, parent)
            case "webSearch":
                query = {"query": str(item.get("query") or "")}
                yield agent_events.ToolUse(key, "WebSearch", query, parent)
            case "imageView":
                path = display_path(str(item.get("path") or ""), self._worktree)
                yield agent_events.ToolUse(key, "read", {"file_path": path}, parent)
            case "subAgentActivity" if item.get("kind") == "started":
                self.children[str(item.get("agentThreadId"))] = key
                name = str(item.get("agentPath") or "").rpartition("/")[2]
                yield agent_events.ToolUse(key, "agent", {"description": name}, parent)
            case "collabAgentToolCall" if item.get("tool") in _SPAWNING:
                arguments = {"prompt": str(item.get("prompt") or "")}
                yield agent_events.ToolUse(key, "agent", arguments, parent)

    def _agent_spawned(self, item: Json, key: str) -> Iterator[agent_events.AgentEvent]:
        threads = item.get("receiverThreadIds")
        for thread in threads if isinstance(threads, list) else ():
            # A thread adopted earlier already has this tool.
            self.children[str(thread)] = key
        if item.get("status") == "failed" or not threads:
            yield from self._result(key, "The sub-agent could not be started.", True)

    def adopt_thread(self, thread: str) -> None:
        """Assign a sub-agent's thread to a tool call before the call has reported its thread."""
        unassigned = [tool for tool in self._open_tools if tool not in self.children.values()]
        self.children.setdefault(thread, unassigned[-1] if unassigned else "")

    def _result(self, tool: str, content: str, is_error: bool) -> Iterator[agent_events.AgentEvent]:
        if tool in self._open_tools:
            self._open_tools.remove(tool)
            yield agent_events.ToolResult(tool, content, is_error)

    def _get_last_text(self, thread: str) -> str:
        return self._last_text.get(thread, "")

    # Text --------------------------------------------------------------------------------------

    def _delta(self, block: str, kind: Any, params: Json) -> Iterator[agent_events.AgentEvent]:
        text = params.get("delta")
        if isinstance(text, str) and text:
            yield from self._drop_broken()
            self._open_blocks.add(block)
            yield agent_events.TextDelta(block, text, kind)

    def _final(self, block: str, kind: Any, text: str) -> Iterator[agent_events.AgentEvent]:
        was_streamed = block in self._open_blocks
        self._open_blocks.discard(block)
        if text.strip():
            yield from self._drop_broken()
            yield agent_events.TextFinal(block, text, kind)
        elif was_streamed:
            yield agent_events.BlockDropped(block)

    def _drop_broken(self) -> Iterator[agent_events.AgentEvent]:
        """Drop the text of a broken attempt once another one responds; otherwise it stays."""
        yield from map(agent_events.BlockDropped, sorted(self._broken_blocks))
        self._broken_blocks.clear()

    def _finals(self, block: str, texts: object) -> Iterator[agent_events.AgentEvent]:
        for index, text in enumerate(texts if isinstance(texts, list) else ()):
            yield from self._final(f"{block}{index}", "thinking", str(text))

    def _todo_list(self, turn: str, plan: object) -> Iterator[agent_events.AgentEvent]:
        statuses = {"inProgress": "in_progress"}
        todos = [
            {
                "content": str(step.get("step") or ""),
                "status": statuses.get(str(step.get("status")), str(step.get("status"))),
            }
            for step in as_objects(plan)
        ]
        self._todo_lists += 1
        key = f"{turn}-list-{self._todo_lists}"
        yield agent_events.ToolUse(key, "TodoWrite", {"todos": todos})
        yield agent_events.ToolResult(key, "")


def unwrap_shell(value: object) -> str:
    """The command that a shell runs, without the shell; a very long one is returned unchanged."""
    command = value if isinstance(value, str) else ""
    if len(command) > _MAX_UNWRAPPED:
        return command
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    is_shell = len(words) == 3 and words[1] in _SHELLS and words[0].endswith("sh")
    return words[2] if is_shell else command


def _parse_outcome(item: Json) -> tuple[str, bool]:
    """The result of a tool call, and whether it is an error."""
    status = item.get("status")
    is_error = status in ("failed", "declined") or item.get("success") is False
    if status == "declined":
        return NOT_ALLOWED, True
    match item.get("type"):
        case "commandExecution":
            output = str(item.get("aggregatedOutput") or "").rstrip("\n")
            code = item.get("exitCode")
            if code and not output:
                output = STOPPED if code == _KILLED else f"(exit code {code})"
            return output, is_error or bool(code)
        case "mcpToolCall":
            error = as_object(item.get("error")).get("message")
            content = as_object(item.get("result")).get("content")
            return str(error) if error else _join_texts(content), is_error or bool(error)
        case "dynamicToolCall":
            return _join_texts(item.get("contentItems")), is_error
        case "webSearch":
            return str(as_object(item.get("action")).get("url") or ""), is_error
    return "", is_error


def _join_texts(parts: object) -> str:
    return "\n".join(str(part.get("text") or f"[{part.get('type')}]") for part in as_objects(parts))


def get_turn_field(params: Json, key: str) -> str:
    """A string field of a notification's turn, or an empty string."""
    return str(as_object(params.get("turn")).get(key) or "")
