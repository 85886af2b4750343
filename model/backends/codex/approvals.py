"""What Codex asks: permissions and questions, as people are asked and as it takes the answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from model.backends import base
from model.backends.base import Verdict
from model.backends.codex.stream import CodexStream, command_of
from model.domain.resources import ExecutionMode, Question, QuestionOption

Json = dict[str, Any]

_DECISIONS: Final[Mapping[Verdict, str]] = {"allow": "accept", "deny": "decline"}
_MODES: Final[tuple[ExecutionMode, ...]] = ("plan", "build", "yolo")
"""The strictest first."""

_MORE: Final = ("networkApprovalContext", "additionalPermissions")
"""What a command asks for besides running outside of the sandbox, where it does."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Something that waits for a person."""

    id: str
    """By which the engine answers it."""
    rpc_id: object = None
    """The program's request; `None` where it did not wait with one."""
    method: str = ""
    params: Json = field(default_factory=dict)
    plan: str = ""
    permission: base.PermissionAsked | None = None
    questions: tuple[Question, ...] = ()

    @property
    def event(self) -> base.PermissionAsked | base.QuestionAsked:
        """What the engine is told."""
        return self.permission or base.QuestionAsked(self.id, self.questions)

    @property
    def thread_id(self) -> str:
        """Where it was asked; a sub-agent's thread is not the session's."""
        return str(self.params.get("threadId"))

    @property
    def turn_id(self) -> str:
        """In which turn of that thread."""
        return str(self.params.get("turnId"))

    def answers(self, told: Mapping[str, str]) -> Json:
        """The program's answers by its own ids, from those by the questions' text."""
        ids = {_question_text(each): str(each.get("id")) for each in _objects(self.params)}
        given = {ids[text]: {"answers": [words]} for text, words in told.items() if text in ids}
        return {"answers": given}

    @classmethod
    def in_passing(cls, item: Json) -> "Asked | None":
        """The questions of a message that the turn does not wait for; `None` if it has none."""
        if item.get("type") != "agentMessage" or item.get("delivery") != "async":
            return None
        questions = tuple(map(_question, _objects(item)))
        return cls(str(item.get("id")), questions=questions) if questions else None


def asked_of(request_id: object, method: str, params: Json, stream: CodexStream) -> Asked | None:
    """What a request asks; `None` for those that we do not know."""
    use: Json
    # The program counts its requests anew whenever it starts.
    key, item = f"{params.get('turnId')}-{request_id}", str(params.get("itemId"))
    reason = str(params.get("reason") or "")
    match method:
        case "item/tool/requestUserInput":
            questions = tuple(map(_question, _objects(params)))
            return Asked(key, request_id, method, params, questions=questions)
        case "item/commandExecution/requestApproval":
            use = {"command": command_of(params.get("command"))}
            use |= {name: params[name] for name in _MORE if params.get(name)}
            place = str(params.get("cwd") or "")
            permission = base.PermissionAsked(key, "bash", use, reason, item, place)
        case "item/fileChange/requestApproval":
            changes = stream.edits_of(item)
            use = changes[0] if len(changes) == 1 else {"changes": changes}
            permission = base.PermissionAsked(key, "edit", use, reason, item)
        case "item/permissions/requestApproval":
            use = {"permissions": params.get("permissions")}
            permission = base.PermissionAsked(key, "permissions", use, reason, item)
        case "mcpServer/elicitation/request":
            permission = _of_server(key, params, stream)
        case _:
            return None
    return Asked(key, request_id, method, params, permission=permission)


def is_a_matter_of_policy(asked: Asked, mode: ExecutionMode) -> Verdict | None:
    """What is decided without a person; what needs one is `None`."""
    if asked.questions:
        return None
    if asked.method == "mcpServer/elicitation/request" and not _is_plain(asked.params):
        return "deny"  # a form or a page of a server, which we cannot show
    return {"yolo": "allow", "plan": "deny"}.get(mode)  # type: ignore[return-value]


def _of_server(key: str, params: Json, stream: CodexStream) -> base.PermissionAsked:
    """What an MCP server asks, or Codex before it uses a tool of one."""
    name, message = f"mcp__{params.get('serverName')}", str(params.get("message") or "")
    about = params.get("_meta")
    tool = about.get("tool_name") if isinstance(about, dict) else None
    if not isinstance(about, dict) or not isinstance(tool, str):
        return base.PermissionAsked(key, name, {"message": message}, message)
    name, given = f"{name}__{tool}", about.get("tool_params")
    use = given if isinstance(given, dict) else {}
    return base.PermissionAsked(key, name, use, message, stream.call_of(name))


def stricter(one: ExecutionMode, other: ExecutionMode) -> ExecutionMode:
    """Of the mode of a turn and the one that was chosen since, the one that allows less."""
    return min(one, other, key=_MODES.index)


def answer_to(asked: Asked, decision: Verdict) -> Json:
    """The decision in the program's words."""
    allowed = decision != "deny"
    match asked.method:
        case "item/tool/requestUserInput":
            return {"answers": {}}
        case "item/permissions/requestApproval":
            granted = asked.params.get("permissions") if allowed else {}
            return {"permissions": granted, "scope": "turn"}
        case "mcpServer/elicitation/request":
            return {"action": "accept", "content": {}} if allowed else {"action": "decline"}
    return {"decision": _DECISIONS[decision]}


def _is_plain(params: Json) -> bool:
    """Whether a server asks for nothing but a yes."""
    schema = params.get("requestedSchema")
    return params.get("mode") == "form" and not (
        isinstance(schema, dict) and schema.get("properties")
    )


def _question(told: Json) -> Question:
    listed = told.get("options")
    options = [_option(each) for each in listed] if isinstance(listed, list) else []
    header = str(told.get("header") or "")
    return Question(question=_question_text(told), header=header, options=options)


def _question_text(told: Json) -> str:
    return str(told.get("question") or told.get("title") or "")


def _option(told: object) -> QuestionOption:
    if not isinstance(told, dict):
        return QuestionOption(label=str(told))
    description = str(told.get("description") or "")
    return QuestionOption(label=str(told.get("label")), description=description)


def _objects(holder: Json) -> list[Json]:
    listed = holder.get("questions")
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
