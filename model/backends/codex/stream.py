"""Codex's notifications as events: text, tools, sub-agents, what was used. Writes nothing.

A sub-agent is a thread of its own whose items come in between; only its tools are shown, under the
tool that started it. What is streamed is provisional until its item is complete.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from model.backends import base
from model.backends.codex import errors, startup_notices
from model.backends.codex.edits import edits, shown
from model.domain.resources import Usage

Json = dict[str, Any]

STOPPED: Final = "Stopped."
STILL_RUNNING: Final = "Still running when the turn ended."
NOT_ALLOWED: Final = "Not allowed."

_KILLED: Final = -1
"""The exit code of a command that the program ended."""

_SHELLS: Final = ("-c", "-lc", "-lic")

_PLAN: Final = re.compile(r"<proposed_plan>(.*?)(?:</proposed_plan>|\Z)", re.DOTALL)

_SPAWNING: Final = {"spawnAgent", "sendInput"}


class CodexStream:
    """What is known of a session's thread and those of its sub-agents."""

    def __init__(self, worktree: Path, thread_id: str) -> None:
        self.thread_id = thread_id
        self.plan = ""
        """What the turn proposed."""
        self.context_tokens: int | None = None
        self.context_window: int | None = None
        self.children: dict[str, str] = {}
        """The sub-agents' threads, each with the tool that started it."""
        self._worktree = worktree
        self._texts: set[str] = set()
        """Blocks that stream and are not complete."""
        self._broken: set[str] = set()
        """Those that a lost connection cut off."""
        self._tools: list[str] = []
        """Tools without a result."""
        self._thoughts: set[str] = set()
        """Items whose thoughts are told as they are, and not as a summary."""
        self._failed_servers: set[str] = set()
        self._warnings: set[str] = set()
        """What was warned of; a model that the program has no metadata of is at every turn."""
        self._last_text: dict[str, str] = {}
        self._totals: dict[str, Usage] = {}
        self._before: dict[str, Usage] = {}
        self._patches: dict[str, list[Json]] = {}
        """What each patch of the turn changes."""
        self._names: dict[str, str] = {}
        """Of the turn's tools."""
        self._lists = 0

    def begin_turn(self) -> None:
        """Forget what belonged to the turn before."""
        self._before = dict(self._totals)
        self._patches.clear()
        self._names.clear()
        self.begin_part()

    def begin_part(self) -> None:
        """The turn goes on after a person's word, as another one of the program's."""
        self.plan = ""
        self._last_text.clear()
        self._texts.clear()
        self._broken.clear()

    @property
    def open_tools(self) -> frozenset[str]:
        """The tools without a result."""
        return frozenset(self._tools)

    @property
    def usage(self) -> Usage:
        """What the turn has used so far, with its sub-agents."""
        used = Usage()
        for thread, total in self._totals.items():
            used += _difference(total, self._before.get(thread, Usage()))
        return used

    @property
    def proposed(self) -> str:
        """The plan of the turn, marked by the program or in the last message itself."""
        marked = _PLAN.search(self._last_text.get(self.thread_id, ""))
        return (self.plan or (marked[1] if marked else "")).strip()

    def events(self, method: str, params: Json) -> Iterator[base.AgentEvent]:
        """What a notification tells; nothing for those that we do not know."""
        thread = str(params.get("threadId"))
        parent = None if thread == self.thread_id else self.children.get(thread, "")
        match method:
            case "item/started":
                yield from self._started(_object(params.get("item")), parent)
            case "item/completed":
                yield from self._completed(_object(params.get("item")), thread, parent)
            case "turn/completed" if parent:
                turn = _object(params.get("turn"))
                said = self._last_text.pop(thread, "")
                error = str(_object(turn.get("error")).get("message") or STOPPED)
                is_done = turn.get("status") == "completed"
                yield from self._result(parent, said or ("" if is_done else error), not is_done)
            case "thread/tokenUsage/updated":
                self._count(thread, _object(params.get("tokenUsage")))
            case "item/commandExecution/outputDelta" if params.get("itemId") in self._tools:
                yield base.ToolOutput(str(params["itemId"]), str(params.get("delta") or ""))
            case "item/mcpToolCall/progress" if params.get("itemId") in self._tools:
                yield base.ToolOutput(str(params["itemId"]), f"{params.get('message') or ''}\n")
            case "mcpServer/startupStatus/updated" if params.get("status") == "failed":
                # It is tried again with the first turn, and may fail in other words.
                if (name := str(params.get("name"))) not in self._failed_servers:
                    self._failed_servers.add(name)
                    yield base.Note(startup_notices.server_failed(params))
            case _ if parent is None:
                yield from self._told(method, params)

    def _told(self, method: str, params: Json) -> Iterator[base.AgentEvent]:
        """What a notification about the session's own thread tells."""
        match method:
            case "item/reasoning/textDelta":
                self._thoughts.add(key := str(params.get("itemId")))
                block = f"{key}:text:{params.get('contentIndex')}"
                yield from self._delta(block, "thinking", params)
            case "model/rerouted":
                models = f"{params.get('toModel')} in place of {params.get('fromModel')}"
                yield base.Note(f"The provider lets {models} answer ({params.get('reason')}).")
            case "guardianWarning" if isinstance(params.get("message"), str):
                yield base.Notice(startup_notices.short(params["message"]))
            case "item/agentMessage/delta":
                yield from self._delta(str(params.get("itemId")), "text", params)
            case "item/reasoning/summaryTextDelta":
                block = f"{params.get('itemId')}:{params.get('summaryIndex')}"
                yield from self._delta(block, "thinking", params)
            case "turn/plan/updated":
                yield from self._todo_list(str(params.get("turnId")), params.get("plan"))
            case "error" if params.get("willRetry"):
                self._broken |= self._texts
                self._texts.clear()
                yield base.Notice(errors.retry_notice(_object(params.get("error"))))
            case "warning" if isinstance(params.get("message"), str):
                if params["message"] not in self._warnings:
                    self._warnings.add(params["message"])
                    yield base.Notice(params["message"])

    def cut_off(self, *, is_stopped: bool) -> Iterator[base.AgentEvent]:
        """An end to the tools that the program never ended."""
        for tool in list(self._tools):
            if is_stopped or tool not in self.children.values():
                yield from self._result(tool, STOPPED if is_stopped else STILL_RUNNING, is_stopped)

    def call_of(self, name: str) -> str | None:
        """The last call of this tool, while it has no result."""
        return next((tool for tool in reversed(self._tools) if self._names.get(tool) == name), None)

    def edits_of(self, item: str) -> list[Json]:
        """What the patch with this id would change, each file as an `edit` takes it."""
        return self._patches.get(item, [])

    # Items -------------------------------------------------------------------------------------

    def _started(self, item: Json, parent: str | None) -> Iterator[base.AgentEvent]:
        if item.get("type") == "contextCompaction" and parent is None:
            yield base.Notice("Shortening the conversation…")
        for use in self._uses(item, parent):
            if parent is None:
                yield from self._said_again()
            self._tools.append(use.id)
            self._names[use.id] = use.name
            yield use

    def _completed(self, item: Json, thread: str, parent: str | None) -> Iterator[base.AgentEvent]:
        key = str(item.get("id"))
        match item.get("type"):
            case "agentMessage":
                text = str(item.get("text") or "")
                self._last_text[thread] = text or self._last_text.get(thread, "")
                if parent is None:
                    yield from self._final(key, "text", text)
            case "reasoning" if parent is None:
                yield from self._finals(f"{key}:", item.get("summary"))
                # Open models tell their thoughts themselves, and no summary of them.
                if key in self._thoughts:
                    yield from self._finals(f"{key}:text:", item.get("content"))
            case "plan" if parent is None:
                self.plan = str(item.get("text") or "")
            case "contextCompaction" if parent is None:
                yield base.SHORTENED
            case "subAgentActivity" if item.get("kind") != "started":
                child = str(item.get("agentThreadId"))
                yield from self._result(self.children.get(child, ""), self._said(child), False)
            case "collabAgentToolCall" if item.get("tool") in _SPAWNING:
                yield from self._spawned(item, key)
            case _:
                yield from self._ended(item, parent)

    def _ended(self, item: Json, parent: str | None) -> Iterator[base.AgentEvent]:
        content, is_error = _outcome(item)
        for use in self._uses(item, parent):
            # Some are complete without ever having begun, and some know only now what they did.
            if use.id not in self._tools or item.get("type") in ("fileChange", "webSearch"):
                self._tools += [use.id] if use.id not in self._tools else []
                yield use
            if item.get("type") != "subAgentActivity":
                yield from self._result(use.id, content, is_error)

    def _uses(self, item: Json, parent: str | None) -> Iterator[base.ToolUse]:
        key = str(item.get("id"))
        match item.get("type"):
            case "commandExecution":
                command = {"command": command_of(item.get("command"))}
                yield base.ToolUse(key, "bash", command, parent)
            case "fileChange":
                patch = list(edits(item, self._worktree, parent))
                self._patches[key] = [dict(use.input) for use in patch]
                yield from patch
            case "mcpToolCall":
                name = f"mcp__{item.get('server')}__{item.get('tool')}"
                yield base.ToolUse(key, name, _object(item.get("arguments")), parent)
            case "dynamicToolCall":
                told = _object(item.get("arguments"))
                yield base.ToolUse(key, str(item.get("tool")), told, parent)
            case "webSearch":
                query = {"query": str(item.get("query") or "")}
                yield base.ToolUse(key, "WebSearch", query, parent)
            case "imageView":
                path = shown(str(item.get("path") or ""), self._worktree)
                yield base.ToolUse(key, "read", {"file_path": path}, parent)
            case "subAgentActivity" if item.get("kind") == "started":
                self.children[str(item.get("agentThreadId"))] = key
                name = str(item.get("agentPath") or "").rpartition("/")[2]
                yield base.ToolUse(key, "agent", {"description": name}, parent)
            case "collabAgentToolCall" if item.get("tool") in _SPAWNING:
                told = {"prompt": str(item.get("prompt") or "")}
                yield base.ToolUse(key, "agent", told, parent)

    def _spawned(self, item: Json, key: str) -> Iterator[base.AgentEvent]:
        threads = item.get("receiverThreadIds")
        for thread in threads if isinstance(threads, list) else ():
            # One that was adopted before this came has the tool already.
            self.children[str(thread)] = key
        if item.get("status") == "failed" or not threads:
            yield from self._result(key, "The sub-agent could not be started.", True)

    def adopt(self, thread: str) -> None:
        """A sub-agent speaks before the tool that started it has told its thread."""
        waiting = [tool for tool in self._tools if tool not in self.children.values()]
        self.children.setdefault(thread, waiting[-1] if waiting else "")

    def _result(self, tool: str, content: str, is_error: bool) -> Iterator[base.AgentEvent]:
        if tool in self._tools:
            self._tools.remove(tool)
            yield base.ToolResult(tool, content, is_error)

    def _said(self, thread: str) -> str:
        return self._last_text.get(thread, "")

    # Text --------------------------------------------------------------------------------------

    def _delta(self, block: str, kind: Any, params: Json) -> Iterator[base.AgentEvent]:
        text = params.get("delta")
        if isinstance(text, str) and text:
            yield from self._said_again()
            self._texts.add(block)
            yield base.TextDelta(block, text, kind)

    def _final(self, block: str, kind: Any, text: str) -> Iterator[base.AgentEvent]:
        was_streamed = block in self._texts
        self._texts.discard(block)
        if text.strip():
            yield from self._said_again()
            yield base.TextFinal(block, text, kind)
        elif was_streamed:
            yield base.BlockDropped(block)

    def _said_again(self) -> Iterator[base.AgentEvent]:
        """Take back what a broken attempt said, once another one speaks; if none does, it stays."""
        yield from map(base.BlockDropped, sorted(self._broken))
        self._broken.clear()

    def _finals(self, block: str, texts: object) -> Iterator[base.AgentEvent]:
        for index, text in enumerate(texts if isinstance(texts, list) else ()):
            yield from self._final(f"{block}{index}", "thinking", str(text))

    def _todo_list(self, turn: str, plan: object) -> Iterator[base.AgentEvent]:
        steps = [each for each in plan if isinstance(each, dict)] if isinstance(plan, list) else []
        words = {"inProgress": "in_progress"}
        todos = [
            {
                "content": str(step.get("step") or ""),
                "status": words.get(str(step.get("status")), str(step.get("status"))),
            }
            for step in steps
        ]
        self._lists += 1
        key = f"{turn}-list-{self._lists}"
        yield base.ToolUse(key, "TodoWrite", {"todos": todos})
        yield base.ToolResult(key, "")

    # Tokens ------------------------------------------------------------------------------------

    def counts(self, thread: str) -> bool:
        """Whether the thread's totals were told before."""
        return thread in self._totals

    def rebase(self, thread: str) -> None:
        """What the thread used so far is of before: a resumed conversation tells its own."""
        if thread in self._totals:
            self._before[thread] = self._totals[thread]

    def _count(self, thread: str, told: Json) -> None:
        total, last = (_usage(_object(told.get(name))) for name in ("total", "last"))
        if thread == self.thread_id and thread not in self._totals:
            # A conversation that was shortened last tells nothing when it is resumed (0.169).
            self._before[thread] = _difference(total, last)
        self._totals[thread] = total
        if thread == self.thread_id:
            fill = _number(_object(told.get("last")).get("totalTokens"))
            self.context_tokens = fill or self.context_tokens
            window = _number(told.get("modelContextWindow"))
            self.context_window = window or self.context_window


def command_of(told: object) -> str:
    """What the shell is given, without the shell."""
    command = told if isinstance(told, str) else ""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    is_shell = len(words) == 3 and words[1] in _SHELLS and words[0].endswith("sh")
    return words[2] if is_shell else command


def _outcome(item: Json) -> tuple[str, bool]:
    """What a tool gave, and whether that is an error."""
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
            error = _object(item.get("error")).get("message")
            told = _object(item.get("result")).get("content")
            return str(error) if error else _texts(told), is_error or bool(error)
        case "dynamicToolCall":
            return _texts(item.get("contentItems")), is_error
        case "webSearch":
            return str(_object(item.get("action")).get("url") or ""), is_error
    return "", is_error


def _texts(parts: object) -> str:
    listed = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return "\n".join(str(part.get("text") or f"[{part.get('type')}]") for part in listed)


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _usage(told: Json) -> Usage:
    cached = _number(told.get("cachedInputTokens"))
    written = _number(told.get("cacheWriteInputTokens"))
    return Usage(
        input_tokens=max(0, _number(told.get("inputTokens")) - cached - written),
        output_tokens=_number(told.get("outputTokens")),
        cache_creation_input_tokens=written,
        cache_read_input_tokens=cached,
    )


def _difference(later: Usage, earlier: Usage) -> Usage:
    counts = {
        name: max(0, getattr(later, name) - getattr(earlier, name)) for name in Usage.model_fields
    }
    return Usage(**counts)


def of_turn(params: Json, key: str) -> str:
    """A word about the turn that is told of, empty where none is."""
    turn = params.get("turn")
    return str(turn.get(key) or "") if isinstance(turn, dict) else ""
