"""Converts OpenCode's events to backend events: text, tools and the end of a turn. Performs no I/O.

Deltas are provisional; the last state of a part is authoritative. Messages of earlier turns are
ignored, because the program keeps sending events for a while after a turn's end.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from model.backends import agent_events
from model.backends.json_values import as_number, as_object
from model.backends.opencode import errors
from model.backends.opencode.plan_text import PlanFilter
from model.backends.plan_markers import split_plan
from model.domain.usage import Usage

Json = Mapping[str, Any]
Kind = Literal["text", "thinking"]

_KINDS: Final[dict[str, Kind]] = {"text": "text", "reasoning": "thinking"}
_HIDDEN_TOOLS: Final = frozenset({"question"})
"""Their calls are shown as something else."""

_NAMES: Final = {
    "bash": "Bash", "glob": "Glob", "grep": "Grep", "list": "LS", "read": "Read", "skill": "Skill",
    "task": "Task", "todowrite": "TodoWrite", "webfetch": "WebFetch", "websearch": "WebSearch",
}  # fmt: skip
"""Common names for the tools that all agents have."""

_STOP_REASONS: Final = {"stop": "end_turn", "tool-calls": "end_turn", "length": "max_tokens"}
_ABORTED: Final = "MessageAbortedError"
_PARTS_LIMIT: Final = 5000
"""Most parts that are buffered until their message arrives."""


@dataclass(slots=True)
class _Tool:
    """The last reported state of a tool call."""

    status: str
    input: Json


class OpenCodeStream:
    """The state of the conversation, updated with each event."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.plan = ""
        """The plan in the turn's last text."""
        self._prompts: list[str] = []
        self._has_started = False
        self._children: dict[str, str | None] = {}
        self._roles: dict[str, str] = {}
        self._old: set[str] = set()
        self._messages: dict[str, Json] = {}
        self._buffered: dict[str, list[Json]] = {}
        self._open_texts: dict[str, PlanFilter] = {}
        self._shown: set[str] = set()
        self._final: dict[str, str] = {}
        self._tools: dict[str, _Tool] = {}
        self._calls: dict[tuple[str, str], str] = {}
        self._error: Json | None = None
        self._plans = False
        self._empty: set[str] = set()

    @property
    def empty_responses(self) -> int:
        """The number of consecutive empty responses; the program retries each at once."""
        return len(self._empty)

    @property
    def has_started(self) -> bool:
        """Whether the program has started to respond to the turn's prompt."""
        return self._has_started

    @property
    def error(self) -> Json | None:
        """The last error, `{name, data}`, unless the program recovered from it."""
        return self._error

    def begin_turn(self, *, plans: bool) -> None:
        """Start a turn, ignoring earlier messages. With `plans`, its texts may contain a plan."""
        self._old.update(self._roles)
        self._roles.clear()
        self._messages.clear()
        self._buffered.clear()
        self._open_texts.clear()
        self._shown.clear()
        self._final.clear()
        self._tools.clear()
        self._calls.clear()
        self._prompts.clear()
        self.begin_prompt(plans=plans)

    def begin_prompt(self, *, plans: bool) -> None:
        """Start another prompt in the same turn, such as the approval of a plan."""
        self._has_started = False
        self._error = None
        self._plans = plans
        self.plan = ""
        self._empty.clear()

    def _adopt(self, info: Json) -> None:
        """Register a new session as that of a sub-agent, if its parent is ours."""
        parent, child = info.get("parentID"), info.get("id")
        if isinstance(child, str) and isinstance(parent, str) and self._is_ours(parent):
            self._children.setdefault(child, self._children.get(parent))

    def find_tool(self, reference: object) -> str | None:
        """The id of the tool use that a request's `{messageID, callID}` refers to."""
        fields = as_object(reference)
        return self._calls.get((str(fields.get("messageID")), str(fields.get("callID"))))

    def find_agent(self, reference: object) -> str:
        """The name of the agent whose tool a request's `{messageID, callID}` refers to."""
        message = as_object(reference).get("messageID")
        return str(self._messages.get(str(message), {}).get("agent") or "")

    def events(self, kind: str, properties: Json) -> Iterator[agent_events.AgentEvent]:
        """Convert an event of the program; unknown kinds are ignored."""
        match kind:
            case "session.created":
                self._adopt(as_object(properties.get("info")))
            case "session.status":
                yield from self._status(properties)
            case "session.error" if properties.get("sessionID") == self.session_id:
                error = properties.get("error")
                if isinstance(error, Mapping) and not self._is_earlier(error):
                    self._error = error
            case "session.compacted" if properties.get("sessionID") == self.session_id:
                yield agent_events.COMPACTION_NOTE
            case "message.updated":
                yield from self._message(as_object(properties.get("info")))
            case "message.part.updated":
                yield from self._part(as_object(properties.get("part")))
            case "message.part.delta":
                yield from self._delta(properties)

    @property
    def prompt_id(self) -> str:
        """The id of the turn's last user message; empty before the first."""
        return self._prompts[-1] if self._prompts else ""

    def forget_prompt(self, message: str) -> None:
        """Ignore a user message of this turn that is deleted."""
        self._old.add(message)
        if message in self._prompts:
            self._prompts.remove(message)

    @property
    def conversations(self) -> frozenset[str]:
        """The ids of the session and of its sub-agents' sessions."""
        return frozenset({self.session_id, *self._children})

    def has_message(self, message: str) -> bool:
        """Whether a message is known to belong to this turn."""
        return message in self._roles

    def knows(self, message: object) -> bool:
        """Whether a message is known to belong to this turn or to an earlier one."""
        return message in self._roles or message in self._old

    def has_input(self, tool: str) -> bool:
        """Whether the input of a tool use has arrived."""
        return bool(self._tools[tool].input) if tool in self._tools else True

    def turn_result(self) -> agent_events.TurnFinished | agent_events.TurnFailed:
        """The result of the turn, once the program is idle."""
        usage, cost = self._usage(), self._cost()
        if self._error is not None and self._error.get("name") != _ABORTED:
            return replace(errors.turn_failure(self._error), usage=usage, cost_usd=cost)
        last = self._last_response()
        context = _context_tokens(last)
        if self._error is not None:
            return agent_events.TurnFinished("stopped", usage, context, cost_usd=cost)
        finish = str((last or {}).get("finish") or "stop")
        return agent_events.TurnFinished(
            _STOP_REASONS.get(finish, finish), usage, context, cost_usd=cost
        )

    def interrupt_tools(self) -> Iterator[agent_events.AgentEvent]:
        """Yield results for the tools that have none when the turn ends."""
        for tool, state in self._tools.items():
            if state.status not in ("completed", "error"):
                state.status = "error"
                yield agent_events.ToolResult(
                    tool, "Interrupted before it was done.", is_error=True
                )

    @property
    def model(self) -> str:
        """The model of the last response, as `provider/model`; empty if there is none."""
        last = self._last_response()
        return "" if last is None else f"{last.get('providerID')}/{last.get('modelID')}"

    # The turn's state ---------------------------------------------------------------------------

    def _is_ours(self, session_id: str) -> bool:
        return session_id == self.session_id or session_id in self._children

    def _is_earlier(self, error: Json) -> bool:
        """Whether this is the end of an earlier turn, whose stop was slow."""
        return error.get("name") == _ABORTED and not self.prompt_id

    def _status(self, properties: Json) -> Iterator[agent_events.AgentEvent]:
        status = as_object(properties.get("status"))
        if self._is_ours(str(properties.get("sessionID"))) and status.get("type") == "retry":
            yield agent_events.Notice(
                errors.retry_notice(status.get("attempt"), status.get("message"))
            )

    def _message(self, info: Json) -> Iterator[agent_events.AgentEvent]:
        key, session = info.get("id"), str(info.get("sessionID"))
        if not isinstance(key, str) or key in self._old or not self._is_ours(session):
            return
        if str(info.get("parentID")) in self._old:  # a response to the prompt of an earlier turn
            self._old.add(key)
            return
        is_new = key not in self._roles
        self._roles[key] = str(info.get("role"))
        if session == self.session_id and info.get("role") == "user" and is_new:
            self._prompts.append(key)
        if info.get("role") == "assistant":
            before, self._messages[key] = self._usage(), info
            if (usage := self._usage()) != before:
                yield agent_events.UsageReported(usage, self._cost())
            if session == self.session_id:
                if is_new:
                    self._has_started = True
                    self._error = None
                elif isinstance(info.get("error"), Mapping):
                    self._error = info["error"]
                if info.get("finish") == "unknown":
                    self._empty.add(key)
        for part in self._buffered.pop(key, ()):
            yield from self._part(part)

    def _last_response(self) -> Json | None:
        own = [
            info
            for info in self._messages.values()
            if info.get("sessionID") == self.session_id and not _is_summary(info)
        ]
        return own[-1] if own else None

    def _usage(self) -> Usage:
        return sum((_usage(info.get("tokens")) for info in self._messages.values()), Usage())

    def _cost(self) -> float | None:
        """The turn's cost; unknown if a model has no price, which the program counts as free."""
        total = 0.0
        for info in self._messages.values():
            cost = as_number(info.get("cost")) or 0.0
            if cost <= 0 and _usage(info.get("tokens")).total:
                return None
            total += max(0.0, cost)
        return total

    # Parts --------------------------------------------------------------------------------------

    def _part(self, part: Json) -> Iterator[agent_events.AgentEvent]:
        message, key = part.get("messageID"), part.get("id")
        if not isinstance(message, str) or not isinstance(key, str) or message in self._old:
            return
        if not self._is_ours(str(part.get("sessionID"))):
            return
        role = self._roles.get(message)
        if role is None:
            if sum(map(len, self._buffered.values())) < _PARTS_LIMIT:
                self._buffered.setdefault(message, []).append(part)
            return
        kind = str(part.get("type"))
        if role == "assistant" and (kind == "tool" or part.get("text")):
            self._empty.clear()
        if kind == "compaction" and part.get("sessionID") == self.session_id:
            yield agent_events.Notice("Shortening the conversation…")
        elif role == "assistant" and kind == "tool":
            yield from self._tool(message, key, part)
        elif role == "assistant" and kind in _KINDS and self._shows_text(message, part):
            yield from self._text(key, _KINDS[kind], part)

    def _shows_text(self, message: str, part: Json) -> bool:
        if part.get("sessionID") != self.session_id or part.get("synthetic"):
            return False
        return not _is_summary(self._messages.get(message, {}))

    def _text(self, key: str, kind: Kind, part: Json) -> Iterator[agent_events.AgentEvent]:
        text = part.get("text")
        if not isinstance(text, str):
            return
        if not as_object(part.get("time")).get("end"):
            if key not in self._final and key not in self._open_texts:
                self._open_texts[key] = PlanFilter(kind, looks_for_plan=self._plans)
            return
        self._open_texts.pop(key, None)
        rest, plan = split_plan(text) if self._plans and kind == "text" else (text, "")
        if plan:
            self.plan = plan
        if rest.strip() and rest != self._final.get(key):
            self._final[key] = rest
            yield agent_events.TextFinal(key, rest, kind)
        elif not rest.strip() and key in self._shown:
            self._shown.discard(key)
            yield agent_events.BlockDropped(key)

    def _delta(self, properties: Json) -> Iterator[agent_events.AgentEvent]:
        key, delta = str(properties.get("partID")), properties.get("delta")
        streamed = self._open_texts.get(key)
        if streamed is None or properties.get("field") != "text" or not isinstance(delta, str):
            return
        visible = streamed.add(delta)
        if visible:
            self._shown.add(key)
            yield agent_events.TextDelta(key, visible, streamed.kind)

    # Tools --------------------------------------------------------------------------------------

    def _tool(self, message: str, key: str, part: Json) -> Iterator[agent_events.AgentEvent]:
        state, name = as_object(part.get("state")), str(part.get("tool"))
        status, input_ = str(state.get("status")), as_object(state.get("input"))
        session = str(part.get("sessionID"))
        parent = self._children.get(session)
        child = as_object(state.get("metadata")).get("sessionId")
        if name == "task" and isinstance(child, str):
            self._children[child] = key
        if name in _HIDDEN_TOOLS:
            return
        self._calls[(message, str(part.get("callID")))] = key
        known = self._tools.get(key)
        if known is not None and known.status in ("completed", "error"):
            return
        if known is None or (input_ and input_ != known.input):
            yield agent_events.ToolUse(key, _NAMES.get(name, name), input_, parent)
        self._tools[key] = _Tool(status, input_ or (known.input if known else {}))
        printed = as_object(state.get("metadata")).get("output")
        if status == "running" and isinstance(printed, str) and printed:
            yield agent_events.ToolOutput(key, printed, is_whole=True)
        if status == "completed":
            # A command has an exit code, which is null if it was aborted.
            failed = as_object(state.get("metadata")).get("exit", 0) != 0
            yield agent_events.ToolResult(key, str(state.get("output") or ""), failed)
        elif status == "error":
            yield agent_events.ToolResult(key, str(state.get("error") or ""), is_error=True)


def _is_summary(info: Json) -> bool:
    return info.get("mode") == "compaction" or bool(info.get("summary"))


def _usage(value: object) -> Usage:
    tokens = as_object(value)
    cache = as_object(tokens.get("cache"))
    return Usage(
        input_tokens=_count(tokens.get("input")),
        output_tokens=_count(tokens.get("output")) + _count(tokens.get("reasoning")),
        cache_creation_input_tokens=_count(cache.get("write")),
        cache_read_input_tokens=_count(cache.get("read")),
    )


def _context_tokens(info: Json | None) -> int | None:
    """The tokens in the context at the last response."""
    used = _usage((info or {}).get("tokens"))
    read = used.input_tokens + used.cache_creation_input_tokens + used.cache_read_input_tokens
    return read or None


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else 0
