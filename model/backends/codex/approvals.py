"""Codex's requests for permission and questions: parsing them and building the responses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from model.backends import agent_events
from model.backends.base import Verdict
from model.backends.codex.stream import CodexStream, unwrap_shell
from model.backends.json_values import Json, as_object, as_objects
from model.domain.modes import ExecutionMode
from model.domain.requests import Question, QuestionOption

_DECISIONS: Final[Mapping[Verdict, str]] = {"allow": "accept", "deny": "decline"}
_MODES_BY_STRICTNESS: Final[tuple[ExecutionMode, ...]] = ("plan", "build", "yolo")
"""The strictest first."""

_EXTRA_PERMISSIONS: Final = ("networkApprovalContext", "additionalPermissions")
"""What a command may request in addition to running outside the sandbox."""


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request that awaits the user's answer."""

    id: str
    """The id under which the engine answers it."""
    rpc_id: object = None
    """The id of the program's request; `None` if the program does not wait for a response."""
    method: str = ""
    params: Json = field(default_factory=dict)
    plan: str = ""
    permission: agent_events.PermissionRequested | None = None
    questions: tuple[Question, ...] = ()

    @property
    def event(self) -> agent_events.PermissionRequested | agent_events.QuestionAsked:
        """The event for the engine."""
        return self.permission or agent_events.QuestionAsked(self.id, self.questions)

    @property
    def thread_id(self) -> str:
        """The thread of the request; a sub-agent has a thread of its own."""
        return str(self.params.get("threadId"))

    @property
    def turn_id(self) -> str:
        """The turn of that thread."""
        return str(self.params.get("turnId"))

    def build_answers(self, answers: Mapping[str, str]) -> Json:
        """Build the response, keyed by the program's ids, from answers keyed by question text."""
        ids = {_question_text(each): str(each.get("id")) for each in _question_objects(self.params)}
        by_id = {
            ids[text]: {"answers": [answer]} for text, answer in answers.items() if text in ids
        }
        return {"answers": by_id}

    @classmethod
    def from_message(cls, item: Json) -> "PendingRequest | None":
        """The questions in a message, which the turn does not wait for; `None` if it has none."""
        if item.get("type") != "agentMessage" or item.get("delivery") != "async":
            return None
        questions = tuple(map(_parse_question, _question_objects(item)))
        return cls(str(item.get("id")), questions=questions) if questions else None


def parse_request(
    request_id: object, method: str, params: Json, stream: CodexStream
) -> PendingRequest | None:
    """Parse a request of the program; `None` for unknown methods."""
    tool_input: Json
    # The program restarts its request ids at every start.
    key, item = f"{params.get('turnId')}-{request_id}", str(params.get("itemId"))
    reason = str(params.get("reason") or "")
    match method:
        case "item/tool/requestUserInput":
            questions = tuple(map(_parse_question, _question_objects(params)))
            return PendingRequest(key, request_id, method, params, questions=questions)
        case "item/commandExecution/requestApproval":
            tool_input = {"command": unwrap_shell(params.get("command"))}
            tool_input |= {name: params[name] for name in _EXTRA_PERMISSIONS if params.get(name)}
            directory = str(params.get("cwd") or "")
            permission = agent_events.PermissionRequested(
                key, "bash", tool_input, reason, item, directory
            )
        case "item/fileChange/requestApproval":
            changes = stream.get_edits(item)
            tool_input = changes[0] if len(changes) == 1 else {"changes": changes}
            permission = agent_events.PermissionRequested(key, "edit", tool_input, reason, item)
        case "item/permissions/requestApproval":
            tool_input = {"permissions": params.get("permissions")}
            permission = agent_events.PermissionRequested(
                key, "permissions", tool_input, reason, item
            )
        case "mcpServer/elicitation/request":
            permission = _parse_elicitation(key, params, stream)
        case _:
            return None
    return PendingRequest(key, request_id, method, params, permission=permission)


def decide_by_policy(request: PendingRequest, mode: ExecutionMode) -> Verdict | None:
    """The decision made without the user; `None` if the user must decide."""
    if request.questions:
        return None
    if request.method == "mcpServer/elicitation/request" and not _is_confirmation(request.params):
        return "deny"  # a form or a page of a server, which cannot be shown
    return {"yolo": "allow", "plan": "deny"}.get(mode)  # type: ignore[return-value]


def _parse_elicitation(
    key: str, params: Json, stream: CodexStream
) -> agent_events.PermissionRequested:
    """The permission requested by an MCP server, or by Codex before it calls one of its tools."""
    name, message = f"mcp__{params.get('serverName')}", str(params.get("message") or "")
    metadata = as_object(params.get("_meta"))
    tool = metadata.get("tool_name")
    if not isinstance(tool, str):
        return agent_events.PermissionRequested(key, name, {"message": message}, message)
    name, tool_input = f"{name}__{tool}", as_object(metadata.get("tool_params"))
    return agent_events.PermissionRequested(key, name, tool_input, message, stream.find_call(name))


def stricter_mode(one: ExecutionMode, other: ExecutionMode) -> ExecutionMode:
    """The stricter of the turn's mode and the mode chosen since."""
    return min(one, other, key=_MODES_BY_STRICTNESS.index)


def build_response(request: PendingRequest, decision: Verdict) -> Json:
    """The response to a request with this decision."""
    allowed = decision != "deny"
    match request.method:
        case "item/tool/requestUserInput":
            return {"answers": {}}
        case "item/permissions/requestApproval":
            granted = request.params.get("permissions") if allowed else {}
            return {"permissions": granted, "scope": "turn"}
        case "mcpServer/elicitation/request":
            return {"action": "accept", "content": {}} if allowed else {"action": "decline"}
    return {"decision": _DECISIONS[decision]}


def _is_confirmation(params: Json) -> bool:
    """Whether a server only asks for confirmation."""
    schema = as_object(params.get("requestedSchema"))
    return params.get("mode") == "form" and not schema.get("properties")


def _parse_question(question: Json) -> Question:
    listed = question.get("options")
    options = [_parse_option(each) for each in listed] if isinstance(listed, list) else []
    header = str(question.get("header") or "")
    return Question(question=_question_text(question), header=header, options=options)


def _question_text(question: Json) -> str:
    return str(question.get("question") or question.get("title") or "")


def _parse_option(option: object) -> QuestionOption:
    if not isinstance(option, dict):
        return QuestionOption(label=str(option))
    description = str(option.get("description") or "")
    return QuestionOption(label=str(option.get("label")), description=description)


def _question_objects(holder: Json) -> list[Json]:
    return as_objects(holder.get("questions"))
