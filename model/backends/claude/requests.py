"""Claude Code's requests to use a tool: decided by the mode, or by the user."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from model.backends import agent_events
from model.backends.claude.control import ControlChannel
from model.backends.claude.edits import Edits
from model.backends.claude.policy import (
    EDIT_TOOLS,
    PLAN_TOOL,
    QUESTION_TOOL,
    decide,
    denial_reason,
)
from model.backends.claude.protocol import ClaudeStream
from model.backends.json_values import Json, as_object, as_objects
from model.backends.pending import PendingRequests
from model.domain.requests import Question


class ToolRequests(PendingRequests[dict[str, Any]]):
    """The inputs of the tools for which the user is asked, by request."""

    def __init__(
        self,
        name: str,
        control: ControlChannel,
        stream: ClaudeStream,
        edits: Edits,
        emit: Callable[[agent_events.AgentEvent], Awaitable[None]],
    ) -> None:
        super().__init__(name, emit)
        self._control = control
        self._stream = stream
        self._edits = edits

    async def handle(self, request_id: str, request: Json, web_in_plan: bool) -> None:
        """Decide about a tool at once, or ask the user."""
        tool, tool_input = str(request.get("tool_name")), as_object(request.get("input"))
        reason = str(request.get("decision_reason_type"))
        decision = decide(self._stream.mode, tool, reason, web_in_plan)
        if decision == "allow":
            await self.allow(request_id, tool_input)
            return
        if decision == "deny":
            await self.deny(request_id, denial_reason(tool))
            return
        self[request_id] = tool_input
        match tool:
            case _ if tool == PLAN_TOOL:
                plan = str(tool_input.get("plan") or self._stream.last_text)
                await self._emit(agent_events.PlanProposed(request_id, plan))
            case _ if tool == QUESTION_TOOL:
                await self._emit(
                    agent_events.QuestionAsked(request_id, _parse_questions(tool_input))
                )
            case _:
                await self._emit(
                    await self._build_permission(request_id, request, tool, tool_input)
                )

    async def _build_permission(
        self, request_id: str, request: Json, tool: str, tool_input: dict[str, Any]
    ) -> agent_events.PermissionRequested:
        tool_use_id = request.get("tool_use_id")
        use = agent_events.ToolUse(str(tool_use_id), tool, tool_input)
        if tool in EDIT_TOOLS:
            use = await asyncio.to_thread(self._edits.normalize, use)
        reason = str(request.get("decision_reason") or "")
        description = str(request.get("description") or reason)
        match request.get("decision_reason_type"):
            case "rule":
                description = (
                    "A rule in your Claude Code settings requires permission."
                    f" {description}".rstrip()
                )
            case "hook" if description != reason:
                # Only a hook knows why it asks, whatever the program says of the tool.
                description = f"{reason} {description}".lstrip()
        return agent_events.PermissionRequested(
            request_id, use.name, use.input, description, tool_use_id
        )

    async def allow(
        self, request_id: str, tool_input: Mapping[str, Any], permissions: Iterable[Json] = ()
    ) -> None:
        """Let the program use the tool with this input, and change its permissions."""
        response: Json = {"behavior": "allow", "updatedInput": dict(tool_input)}
        if rules := list(permissions):
            response["updatedPermissions"] = rules
        await self._control.respond(request_id, response)

    async def deny(self, request_id: str, reason: str) -> None:
        """Refuse the tool; the agent reads the `reason`."""
        await self._control.respond(request_id, {"behavior": "deny", "message": reason})


def _parse_questions(tool_input: Mapping[str, Any]) -> tuple[Question, ...]:
    questions = []
    for each in as_objects(tool_input.get("questions")):
        with suppress(ValidationError):
            questions.append(Question.model_validate(each))
    return tuple(questions)
