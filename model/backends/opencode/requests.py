"""What OpenCode asks a person: permissions and questions, those of sub-agents too, and the answers.

A mode is our policy over the permissions, so many are answered without a person.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, Literal

from model.backends import base
from model.backends.base import Launch
from model.backends.opencode import policy
from model.backends.opencode.edits import Edits
from model.backends.opencode.event_stream import Event
from model.backends.opencode.rules import Rules
from model.backends.opencode.stream import OpenCodeStream
from model.base.errors import SpinneyError
from model.domain.resources import Question

Call = Callable[[str, str, Mapping[str, Any] | None], Awaitable[Any]]
"""Method, path and body of a call to the server, for this session's worktree."""

_WHY: Final = {
    "external_directory": "It is outside of the worktree",
    "doom_loop": "It does the same again and again",
}
"""Permissions that are about how a tool is used, not about which."""

_NO_SUB_AGENTS: Final = "There are no sub-agents here. Do it yourself."
_TOO_MANY: Final = "{} sub-agents work already, and no more may. Wait until one is done."


_Questions = tuple[Question, ...]
_PERMISSION: Final = "permission"


class Requests:
    """The requests of one session that wait for an answer."""

    def __init__(
        self, call: Call, stream: OpenCodeStream, edits: Edits, launch: Launch, rules: Rules
    ) -> None:
        self._rules = rules
        self.settings = launch.settings
        self._limit = launch.sub_agents
        self._call = call
        self._stream = stream
        self._edits = edits
        self._open: dict[str, Literal["permission"] | _Questions] = {}
        self._uses: dict[str, base.ToolUse] = {}
        self._agents: set[str] = set()

    def note(self, told: base.AgentEvent) -> None:
        """Know a tool's use, as it is shown, when a permission for it is asked."""
        match told:
            case base.ToolUse():
                self._uses[told.id] = told
            case base.ToolResult():
                self._agents.discard(told.tool_use_id)

    def begin_turn(self) -> None:
        """Forget the tools of the turn before."""
        self._uses.clear()
        self._agents.clear()

    @property
    def open(self) -> tuple[str, ...]:
        """The ids of what waits for an answer."""
        return tuple(self._open)

    def is_early(self, event: Event) -> bool:
        """Whether it waits for the input of its tool, which has not been told, though it will be.

        That is for a person to read, and an edit for what stood there before it.
        """
        tool = self._stream.tool_of(event.told.get("tool"))
        if tool is None or self._stream.has_input(tool):
            return False
        if event.kind != "permission.asked" or event.told.get("permission") == "edit":
            return True
        return event.told.get("permission") != "task" and self._verdict(event.told)[0] == "ask"

    async def asked(self, event: Event) -> base.AgentEvent | None:
        """The request for a person; `None` when it is answered already."""
        key = str(event.told.get("id"))
        if key in self._open:
            return None
        if event.kind == "question.asked":
            questions = _questions(event.told.get("questions"))
            self._open[key] = questions
            return base.QuestionAsked(key, questions)
        return await self._permission(key, event.told)

    def withdrawn(self, request_id: str) -> base.RequestWithdrawn | None:
        """Nobody needs to answer it any more."""
        known = self._open.pop(request_id, None)
        return None if known is None else base.RequestWithdrawn(request_id)

    async def permit(self, request_id: str, decision: base.Verdict, reason: str) -> None:
        """Allow once, or deny."""
        if self._open.get(request_id) != _PERMISSION:
            raise _not_waiting()
        with self._taken(request_id):
            if decision == "deny":
                await self._deny(request_id, reason or policy.DENIAL)
            else:
                await self._allow(request_id)

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """Answer the questions, by their text."""
        asked = self._open.get(request_id)
        if not isinstance(asked, tuple):
            raise _not_waiting()
        told = [_chosen(question, answers.get(question.question, "")) for question in asked]
        with self._taken(request_id):
            await self._call("POST", f"/question/{request_id}/reply", {"answers": told})

    async def dismiss(self, request_id: str) -> None:
        """Take back what the program would list for ever after a stop."""
        kind = "question" if isinstance(self._open.get(request_id), tuple) else "permission"
        with suppress(SpinneyError):  # the program may have done so itself
            if kind == "question":
                await self._call("POST", f"/question/{request_id}/reject", {})
            else:
                await self._call("POST", f"/permission/{request_id}/reply", {"reply": "reject"})

    @contextmanager
    def _taken(self, request_id: str) -> Iterator[None]:
        """The request waits no more, but for an answer that does not reach the program."""
        asked = self._open.pop(request_id)
        try:
            yield
        except SpinneyError:
            self._open[request_id] = asked
            raise

    async def _permission(self, key: str, told: Mapping[str, Any]) -> base.AgentEvent | None:
        name, patterns = str(told.get("permission")), _texts(told.get("patterns"))
        tool = self._stream.tool_of(told.get("tool"))
        verdict, denial = self._verdict(told)
        if name == "task":
            denial = self._too_many_agents()
            verdict = "deny" if denial else "allow"
            if tool is not None and not denial:
                self._agents.add(tool)
        if verdict == "allow":
            await self._allow(key)
        elif verdict == "deny":
            await self._deny(key, denial)
        else:
            self._open[key] = _PERMISSION
            return self._for_person(key, name, patterns, told.get("metadata"), tool)
        return None

    def _verdict(self, told: Mapping[str, Any]) -> tuple[policy.Verdict, str]:
        """Whether it may happen, and what the agent reads where it may not."""
        name, patterns = str(told.get("permission")), _texts(told.get("patterns"))
        own = self._rules.word(self._stream.agent_of(told.get("tool")), name, patterns)
        whole = (*patterns, *_command(told))
        denial = policy.OWN_DENIAL if own == "deny" else policy.PLAN_DENIAL
        return policy.judge(self.settings, name, whole, own), denial

    def _for_person(
        self, key: str, name: str, patterns: Sequence[str], metadata: object, tool: str | None
    ) -> base.PermissionAsked:
        why = ""
        if name in _WHY:
            why = f"{_WHY[name]}: {', '.join(patterns)}"
        use = self._uses.get(tool or "")
        if use is not None:
            said, place = use.input.get("description"), use.input.get("workdir")
            return base.PermissionAsked(
                key,
                use.name,
                use.input,
                why or (said if isinstance(said, str) else ""),
                tool,
                place if isinstance(place, str) else "",
            )
        known = metadata if isinstance(metadata, Mapping) else {}
        shown = self._edits.permitted(known) if name == "edit" else {**known, "patterns": patterns}
        return base.PermissionAsked(key, name, shown, why, tool)

    def _too_many_agents(self) -> str:
        """Why another sub-agent may not start; empty when it may."""
        if self._limit is None or len(self._agents) < self._limit:
            return ""
        return _TOO_MANY.format(self._limit) if self._limit else _NO_SUB_AGENTS

    async def _allow(self, key: str) -> None:
        # Never «always»: that is a pattern (`rm *`) for everybody who works in the repository.
        await self._call("POST", f"/permission/{key}/reply", {"reply": "once"})

    async def _deny(self, key: str, reason: str) -> None:
        # Without a reason the program would end the turn.
        reply = {"reply": "reject", "message": reason}
        await self._call("POST", f"/permission/{key}/reply", reply)


def _not_waiting() -> SpinneyError:
    return SpinneyError("OpenCode does not wait for this answer any more.", "conflict")


def _questions(told: object) -> _Questions:
    listed = told if isinstance(told, list) else []
    return tuple(_question(each) for each in listed if isinstance(each, Mapping))


def _question(told: Mapping[str, Any]) -> Question:
    options = told.get("options")
    known = options if isinstance(options, list) else []
    return Question.model_validate(
        {
            "question": str(told.get("question") or ""),
            "header": str(told.get("header") or ""),
            "multi_select": bool(told.get("multiple")),
            "options": [
                {"label": str(each.get("label")), "description": str(each.get("description") or "")}
                for each in known
                if isinstance(each, Mapping)
            ],
        }
    )


def _chosen(question: Question, answer: str) -> list[str]:
    """An answer as the program takes it: the labels that were chosen, or a person's own words."""
    if question.multi_select:
        labels = {option.label for option in question.options}
        parts = re.split(r",\s*", answer)
        if labels.issuperset(parts):
            return parts
    return [answer] if answer else []


def _command(told: Mapping[str, Any]) -> tuple[str, ...]:
    """The whole of a command; the patterns are its parts, and say nothing of where they write."""
    metadata = told.get("metadata")
    command = metadata.get("command") if isinstance(metadata, Mapping) else None
    return (command,) if isinstance(command, str) else ()


def _texts(told: object) -> tuple[str, ...]:
    return tuple(map(str, told)) if isinstance(told, list) else ()
