"""OpenCode's events as ours: text, tools and the end of a turn. Writes nothing, reads no file.

Deltas are provisional, and the last state of a part is the truth. Whatever belongs to a message of
an earlier turn is left out: the program goes on telling of a turn for a while after its end.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from model.backends import base
from model.backends.opencode import errors
from model.backends.opencode.plan_text import PlanText
from model.backends.plan_markers import parted
from model.domain.resources import Usage

Json = Mapping[str, Any]
Kind = Literal["text", "thinking"]

_KINDS: Final[dict[str, Kind]] = {"text": "text", "reasoning": "thinking"}
_HIDDEN_TOOLS: Final = frozenset({"question"})
"""Their call is shown as something else."""

_NAMES: Final = {
    "bash": "Bash", "glob": "Glob", "grep": "Grep", "list": "LS", "read": "Read", "skill": "Skill",
    "task": "Task", "todowrite": "TodoWrite", "webfetch": "WebFetch", "websearch": "WebSearch",
}  # fmt: skip
"""What all agents have is called the same with all of them."""

_STOP_REASONS: Final = {"stop": "end_turn", "tool-calls": "end_turn", "length": "max_tokens"}
_PARTS_LIMIT: Final = 5000
"""Parts that wait for the message they belong to."""


@dataclass(slots=True)
class _Tool:
    """A tool's call as far as it was told."""

    status: str
    input: Json


class OpenCodeStream:
    """What is known of the conversation, event by event."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.plan = ""
        """The plan that the turn's last text held."""
        self._begun = False
        self._children: dict[str, str | None] = {}
        self._roles: dict[str, str] = {}
        self._old: set[str] = set()
        self._messages: dict[str, Json] = {}
        self._waiting: dict[str, list[Json]] = {}
        self._open_texts: dict[str, PlanText] = {}
        self._shown: set[str] = set()
        self._final: dict[str, str] = {}
        self._tools: dict[str, _Tool] = {}
        self._calls: dict[tuple[str, str], str] = {}
        self._error: Json | None = None
        self._plans = False
        self._empty: set[str] = set()

    @property
    def empty_answers(self) -> int:
        """How many answers in a row held nothing, for which the program asks again at once."""
        return len(self._empty)

    @property
    def begun(self) -> bool:
        """Whether the program has begun to answer the turn's prompt."""
        return self._begun

    @property
    def error(self) -> Json | None:
        """What went wrong last, `{name, data}`, if the program did not get over it."""
        return self._error

    def begin_turn(self, *, plans: bool) -> None:
        """What was told until now is of the past; texts of this turn may hold a plan."""
        self._old.update(self._roles)
        self._roles.clear()
        self._messages.clear()
        self._waiting.clear()
        self._open_texts.clear()
        self._shown.clear()
        self._final.clear()
        self._tools.clear()
        self._calls.clear()
        self.begin_prompt(plans=plans)

    def begin_prompt(self, *, plans: bool) -> None:
        """Another prompt of the same turn, such as a plan's approval."""
        self._begun = False
        self._error = None
        self._plans = plans
        self.plan = ""
        self._empty.clear()

    def _adopt(self, info: Json) -> None:
        """Take a new session for a sub-agent's, if it is one of ours."""
        parent, child = info.get("parentID"), info.get("id")
        if isinstance(child, str) and isinstance(parent, str) and self._concerns(parent):
            self._children.setdefault(child, self._children.get(parent))

    def tool_of(self, told: object) -> str | None:
        """The id of the tool's use that a request, `{messageID, callID}`, belongs to."""
        if not isinstance(told, Mapping):
            return None
        return self._calls.get((str(told.get("messageID")), str(told.get("callID"))))

    def agent_of(self, told: object) -> str:
        """The name of the agent whose tool a request, `{messageID, callID}`, belongs to."""
        message = told.get("messageID") if isinstance(told, Mapping) else None
        return str(self._messages.get(str(message), {}).get("agent") or "")

    def events(self, kind: str, told: Json) -> Iterator[base.AgentEvent]:
        """What an event of the program tells; nothing for kinds that we do not know."""
        match kind:
            case "session.created":
                self._adopt(_mapping(told.get("info")))
            case "session.status":
                yield from self._status(told)
            case "session.error" if told.get("sessionID") == self.session_id:
                if isinstance(told.get("error"), Mapping):
                    self._error = told["error"]
            case "session.compacted" if told.get("sessionID") == self.session_id:
                yield base.SHORTENED
            case "message.updated":
                yield from self._message(_mapping(told.get("info")))
            case "message.part.updated":
                yield from self._part(_mapping(told.get("part")))
            case "message.part.delta":
                yield from self._delta(told)

    @property
    def conversations(self) -> frozenset[str]:
        """The session's own and those of its sub-agents."""
        return frozenset({self.session_id, *self._children})

    def knows(self, message: str) -> bool:
        """Whether a message belongs to this turn, as far as was told."""
        return message in self._roles

    def has_input(self, tool: str) -> bool:
        """Whether the input of a tool's use was told."""
        return bool(self._tools[tool].input) if tool in self._tools else True

    def ending(self) -> base.TurnFinished | base.TurnFailed:
        """How the turn ended, now that the program is idle."""
        usage = self._usage()
        if self._error is not None and self._error.get("name") != "MessageAbortedError":
            failed = errors.failure(self._error)
            return base.TurnFailed(failed.error, failed.error_type, usage, failed.retry_after)
        last = self._last_answer()
        if self._error is not None:
            return base.TurnFinished("stopped", usage, _fill(last))
        finish = str((last or {}).get("finish") or "stop")
        return base.TurnFinished(_STOP_REASONS.get(finish, finish), usage, _fill(last))

    def cut_off(self) -> Iterator[base.AgentEvent]:
        """The results of tools that have none when the turn ends."""
        for tool, state in self._tools.items():
            if state.status not in ("completed", "error"):
                state.status = "error"
                yield base.ToolResult(tool, "Cut off before it was done.", is_error=True)

    @property
    def model(self) -> str:
        """Provider and model of the last answer, as `provider/model`; empty for none."""
        last = self._last_answer()
        return "" if last is None else f"{last.get('providerID')}/{last.get('modelID')}"

    # The turn's state ---------------------------------------------------------------------------

    def _concerns(self, session_id: str) -> bool:
        return session_id == self.session_id or session_id in self._children

    def _status(self, told: Json) -> Iterator[base.AgentEvent]:
        status = _mapping(told.get("status"))
        if self._concerns(str(told.get("sessionID"))) and status.get("type") == "retry":
            yield base.Notice(errors.retry_notice(status.get("attempt"), status.get("message")))

    def _message(self, info: Json) -> Iterator[base.AgentEvent]:
        key, session = info.get("id"), str(info.get("sessionID"))
        if not isinstance(key, str) or key in self._old or not self._concerns(session):
            return
        is_new = key not in self._roles
        self._roles[key] = str(info.get("role"))
        if info.get("role") == "assistant":
            self._messages[key] = info
            if session == self.session_id:
                if is_new:
                    self._begun = True
                    self._error = None
                elif isinstance(info.get("error"), Mapping):
                    self._error = info["error"]
                if info.get("finish") == "unknown":
                    self._empty.add(key)
        for part in self._waiting.pop(key, ()):
            yield from self._part(part)

    def _last_answer(self) -> Json | None:
        own = [
            info
            for info in self._messages.values()
            if info.get("sessionID") == self.session_id and not _is_summary(info)
        ]
        return own[-1] if own else None

    def _usage(self) -> Usage:
        return sum((_usage(info.get("tokens")) for info in self._messages.values()), Usage())

    # Parts --------------------------------------------------------------------------------------

    def _part(self, part: Json) -> Iterator[base.AgentEvent]:
        message, key = part.get("messageID"), part.get("id")
        if not isinstance(message, str) or not isinstance(key, str) or message in self._old:
            return
        if not self._concerns(str(part.get("sessionID"))):
            return
        role = self._roles.get(message)
        if role is None:
            if sum(map(len, self._waiting.values())) < _PARTS_LIMIT:
                self._waiting.setdefault(message, []).append(part)
            return
        kind = str(part.get("type"))
        if role == "assistant" and (kind == "tool" or part.get("text")):
            self._empty.clear()
        if kind == "compaction" and part.get("sessionID") == self.session_id:
            yield base.Notice("Shortening the conversation…")
        elif role == "assistant" and kind == "tool":
            yield from self._tool(message, key, part)
        elif role == "assistant" and kind in _KINDS and self._shows_text(message, part):
            yield from self._text(key, _KINDS[kind], part)

    def _shows_text(self, message: str, part: Json) -> bool:
        if part.get("sessionID") != self.session_id or part.get("synthetic"):
            return False
        return not _is_summary(self._messages.get(message, {}))

    def _text(self, key: str, kind: Kind, part: Json) -> Iterator[base.AgentEvent]:
        text = part.get("text")
        if not isinstance(text, str):
            return
        if not _mapping(part.get("time")).get("end"):
            if key not in self._final and key not in self._open_texts:
                self._open_texts[key] = PlanText(kind, looks_for_plan=self._plans)
            return
        self._open_texts.pop(key, None)
        own, plan = parted(text) if self._plans and kind == "text" else (text, "")
        if plan:
            self.plan = plan
        if own.strip() and own != self._final.get(key):
            self._final[key] = own
            yield base.TextFinal(key, own, kind)
        elif not own.strip() and key in self._shown:
            self._shown.discard(key)
            yield base.BlockDropped(key)

    def _delta(self, told: Json) -> Iterator[base.AgentEvent]:
        key, delta = str(told.get("partID")), told.get("delta")
        streamed = self._open_texts.get(key)
        if streamed is None or told.get("field") != "text" or not isinstance(delta, str):
            return
        shown = streamed.add(delta)
        if shown:
            self._shown.add(key)
            yield base.TextDelta(key, shown, streamed.kind)

    # Tools --------------------------------------------------------------------------------------

    def _tool(self, message: str, key: str, part: Json) -> Iterator[base.AgentEvent]:
        state, name = _mapping(part.get("state")), str(part.get("tool"))
        status, told = str(state.get("status")), _mapping(state.get("input"))
        session = str(part.get("sessionID"))
        parent = self._children.get(session)
        child = _mapping(state.get("metadata")).get("sessionId")
        if name == "task" and isinstance(child, str):
            self._children[child] = key
        if name in _HIDDEN_TOOLS:
            return
        self._calls[(message, str(part.get("callID")))] = key
        known = self._tools.get(key)
        if known is not None and known.status in ("completed", "error"):
            return
        if known is None or (told and told != known.input):
            yield base.ToolUse(key, _NAMES.get(name, name), told, parent)
        self._tools[key] = _Tool(status, told or (known.input if known else {}))
        printed = _mapping(state.get("metadata")).get("output")
        if status == "running" and isinstance(printed, str) and printed:
            yield base.ToolOutput(key, printed, is_whole=True)
        if status == "completed":
            # A command has an exit code, and none where it was aborted.
            failed = _mapping(state.get("metadata")).get("exit", 0) != 0
            yield base.ToolResult(key, str(state.get("output") or ""), failed)
        elif status == "error":
            yield base.ToolResult(key, str(state.get("error") or ""), is_error=True)


def _mapping(value: object) -> Json:
    return value if isinstance(value, Mapping) else {}


def _is_summary(info: Json) -> bool:
    return info.get("mode") == "compaction" or bool(info.get("summary"))


def _usage(told: object) -> Usage:
    tokens = _mapping(told)
    cache = _mapping(tokens.get("cache"))
    return Usage(
        input_tokens=_count(tokens.get("input")),
        output_tokens=_count(tokens.get("output")) + _count(tokens.get("reasoning")),
        cache_creation_input_tokens=_count(cache.get("write")),
        cache_read_input_tokens=_count(cache.get("read")),
    )


def _fill(info: Json | None) -> int | None:
    """Tokens that the conversation took at the last answer."""
    used = _usage((info or {}).get("tokens"))
    read = used.input_tokens + used.cache_creation_input_tokens + used.cache_read_input_tokens
    return read or None


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else 0
