"""OpenCode's permission requests and questions, including those of sub-agents, and their answers.

A mode is our policy for permissions, so many are answered without the user.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, Literal

from model.backends import agent_events, base
from model.backends.base import Launch
from model.backends.json_values import as_object, as_objects
from model.backends.opencode import policy
from model.backends.opencode.edits import Edits
from model.backends.opencode.event_stream import ServerEvent
from model.backends.opencode.rules import Rules
from model.backends.opencode.stream import OpenCodeStream
from model.base.errors import SpinneyError
from model.domain.requests import Question

Call = Callable[[str, str, Mapping[str, Any] | None], Awaitable[Any]]
"""Method, path and body of a call to the server, for this session's worktree."""

_REASONS: Final = {
    "external_directory": "It is outside the worktree",
    "doom_loop": "It repeats the same action",
}
"""Permissions that concern the use of a tool, not the tool itself."""

_NO_SUB_AGENTS: Final = "There are no sub-agents here. Do it yourself."
_TOO_MANY: Final = "{} sub-agents are running, which is the limit. Wait until one is done."


_Questions = tuple[Question, ...]
_PERMISSION: Final = "permission"


class PendingRequests:
    """The pending requests of a session."""

    def __init__(
        self, call: Call, stream: OpenCodeStream, edits: Edits, launch: Launch, rules: Rules
    ) -> None:
        self._rules = rules
        self.settings = launch.settings
        self._limit = launch.max_sub_agents
        self._call = call
        self._stream = stream
        self._edits = edits
        self._pending: dict[str, Literal["permission"] | _Questions] = {}
        self._uses: dict[str, agent_events.ToolUse] = {}
        self._agents: set[str] = set()
        self.early: list[ServerEvent] = []
        """Requests that wait for the input of their tools."""

    def track(self, event: agent_events.AgentEvent) -> None:
        """Track the tool uses that are shown, to describe permission requests for them."""
        match event:
            case agent_events.ToolUse():
                self._uses[event.id] = event
            case agent_events.ToolResult():
                self._agents.discard(event.tool_use_id)

    def begin_turn(self) -> None:
        """Clear the tools of the previous turn."""
        self._uses.clear()
        self._agents.clear()

    @property
    def pending_ids(self) -> tuple[str, ...]:
        """The ids of the pending requests."""
        return tuple(self._pending)

    def _is_early(self, event: ServerEvent) -> bool:
        """Whether the request must wait for the input of its tool, which has not arrived yet.

        The input is shown to the user; an edit also needs it to read the file's old content.
        """
        tool = self._stream.find_tool(event.properties.get("tool"))
        if tool is None or self._stream.has_input(tool):
            return False
        permission = event.properties.get("permission")
        if event.kind != "permission.asked" or permission == "edit":
            return True
        return permission != "task" and self._verdict(event.properties)[0] == "ask"

    async def handle(self, event: ServerEvent) -> agent_events.AgentEvent | None:
        """Handle a request; return it for the user.

        `None` if it was answered automatically, or waits for its tool's input: see `handle_early`.
        """
        if self._is_early(event):
            self.early.append(event)
            return None
        return await self._handle(event)

    async def handle_early(self, *, is_late: bool) -> AsyncIterator[agent_events.AgentEvent]:
        """Handle those that waited, and yield those for the user.

        `is_late` if the input of their tools does not come.
        """
        early, self.early = self.early, []
        handle = self._handle if is_late else self.handle
        for each in early:
            if (request := await handle(each)) is not None:
                yield request

    async def _handle(self, event: ServerEvent) -> agent_events.AgentEvent | None:
        key = str(event.properties.get("id"))
        if key in self._pending:
            return None
        if event.kind == "question.asked":
            questions = _questions(event.properties.get("questions"))
            self._pending[key] = questions
            return agent_events.QuestionAsked(key, questions)
        return await self._handle_permission(key, event.properties)

    def withdraw(self, request_id: str) -> agent_events.RequestWithdrawn | None:
        """Remove a request that no longer needs an answer."""
        request = self._pending.pop(request_id, None)
        return None if request is None else agent_events.RequestWithdrawn(request_id)

    async def permit(self, request_id: str, decision: base.Verdict, reason: str) -> None:
        """Allow once, or deny."""
        if self._pending.get(request_id) != _PERMISSION:
            raise _not_waiting()
        with self._claim(request_id):
            if decision == "deny":
                await self._deny(request_id, reason or policy.DENIAL)
            else:
                await self._allow(request_id)

    async def answer(self, request_id: str, answers: Mapping[str, str]) -> None:
        """Answer the questions, by their text."""
        questions = self._pending.get(request_id)
        if not isinstance(questions, tuple):
            raise _not_waiting()
        replies = [_reply(question, answers.get(question.question, "")) for question in questions]
        with self._claim(request_id):
            await self._call("POST", f"/question/{request_id}/reply", {"answers": replies})

    async def refuse(self, event: ServerEvent) -> None:
        """Reject a request that belongs to no turn."""
        request_id = str(event.properties.get("id"))
        await self._reject(request_id, is_question=event.kind == "question.asked")

    async def dismiss(self, request_id: str) -> None:
        """Reject a request that the program would otherwise list forever after a stop."""
        is_question = isinstance(self._pending.get(request_id), tuple)
        await self._reject(request_id, is_question=is_question)

    async def _reject(self, request_id: str, *, is_question: bool) -> None:
        with suppress(SpinneyError):  # the program may have done so itself
            if is_question:
                await self._call("POST", f"/question/{request_id}/reject", {})
            else:
                await self._call("POST", f"/permission/{request_id}/reply", {"reply": "reject"})

    @contextmanager
    def _claim(self, request_id: str) -> Iterator[None]:
        """Remove the request; restore it if the answer does not reach the program."""
        request = self._pending.pop(request_id)
        try:
            yield
        except SpinneyError:
            self._pending[request_id] = request
            raise

    async def _handle_permission(
        self, key: str, request: Mapping[str, Any]
    ) -> agent_events.AgentEvent | None:
        name, patterns = str(request.get("permission")), _texts(request.get("patterns"))
        tool = self._stream.find_tool(request.get("tool"))
        verdict, denial = self._verdict(request)
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
            self._pending[key] = _PERMISSION
            return self._describe_permission(key, name, patterns, request.get("metadata"), tool)
        return None

    def _verdict(self, request: Mapping[str, Any]) -> tuple[policy.Verdict, str]:
        """The verdict on a request, and the reason for the agent if it is denied."""
        name, patterns = str(request.get("permission")), _texts(request.get("patterns"))
        own = self._rules.verdict(self._stream.find_agent(request.get("tool")), name, patterns)
        all_patterns = (*patterns, *_command(request))
        denial = policy.CONFIG_DENIAL if own == "deny" else policy.PLAN_DENIAL
        return policy.judge(self.settings, name, all_patterns, own), denial

    def _describe_permission(
        self, key: str, name: str, patterns: Sequence[str], metadata: object, tool: str | None
    ) -> agent_events.PermissionRequested:
        reason = ""
        if name in _REASONS:
            reason = f"{_REASONS[name]}: {', '.join(patterns)}"
        use = self._uses.get(tool or "")
        if use is not None:
            description, directory = use.input.get("description"), use.input.get("workdir")
            return agent_events.PermissionRequested(
                key,
                use.name,
                use.input,
                reason or (description if isinstance(description, str) else ""),
                tool,
                directory if isinstance(directory, str) else "",
            )
        fields = as_object(metadata)
        is_edit = name == "edit"
        input_ = self._edits.from_request(fields) if is_edit else {**fields, "patterns": patterns}
        return agent_events.PermissionRequested(key, name, input_, reason, tool)

    def _too_many_agents(self) -> str:
        """Why no further sub-agent may start; empty if one may."""
        if self._limit is None or len(self._agents) < self._limit:
            return ""
        return _TOO_MANY.format(self._limit) if self._limit else _NO_SUB_AGENTS

    async def _allow(self, key: str) -> None:
        # Never 'always': that would add a pattern (`rm *`) for all users of the repository.
        await self._call("POST", f"/permission/{key}/reply", {"reply": "once"})

    async def _deny(self, key: str, reason: str) -> None:
        # Without a reason the program would end the turn.
        reply = {"reply": "reject", "message": reason}
        await self._call("POST", f"/permission/{key}/reply", reply)


def _not_waiting() -> SpinneyError:
    return SpinneyError("OpenCode is no longer waiting for this answer.", "conflict")


def _questions(value: object) -> _Questions:
    return tuple(map(_question, as_objects(value)))


def _question(fields: Mapping[str, Any]) -> Question:
    return Question.model_validate(
        {
            "question": str(fields.get("question") or ""),
            "header": str(fields.get("header") or ""),
            "multi_select": bool(fields.get("multiple")),
            "options": [
                {"label": str(each.get("label")), "description": str(each.get("description") or "")}
                for each in as_objects(fields.get("options"))
            ],
        }
    )


def _reply(question: Question, answer: str) -> list[str]:
    """Convert an answer to the program's format: the selected labels, or the user's own text."""
    if question.multi_select:
        labels = {option.label for option in question.options}
        parts = re.split(r",\s*", answer)
        if labels.issuperset(parts):
            return parts
    return [answer] if answer else []


def _command(request: Mapping[str, Any]) -> tuple[str, ...]:
    """The complete command; the patterns are its parts, without redirections."""
    command = as_object(request.get("metadata")).get("command")
    return (command,) if isinstance(command, str) else ()


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
