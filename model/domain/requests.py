"""What a waiting agent asks of the user: questions, a plan's approval, a permission."""

from typing import Any, Literal

from pydantic import AliasChoices, Field

from model.domain.modes import ExecutionMode
from model.domain.resource import Resource

WaitingFor = Literal["plan", "question", "permission"]

Decision = Literal["allow", "allow_session", "deny"]


class QuestionOption(Resource):
    """One of the answers that an agent's question offers."""

    label: str
    description: str = ""
    preview: str = ""
    """A multi-line preview of the choice; Claude Code provides one."""


class Question(Resource):
    """A question of an agent; a free-text answer is always allowed."""

    question: str
    header: str = ""
    multi_select: bool = Field(
        default=False, validation_alias=AliasChoices("multi_select", "multiSelect")
    )
    options: list[QuestionOption] = Field(default_factory=list)


class Request(Resource):
    """What a waiting session needs from the user."""

    id: str
    kind: WaitingFor
    message_id: str = ""
    """The assistant message in which it was asked."""
    plan: str = ""
    questions: list[Question] = Field(default_factory=list)
    tool_name: str = ""
    tool_input: dict[str, Any] = Field(default_factory=dict)
    description: str = ""
    execution_mode: ExecutionMode | None = None
    """The mode in which the permission is requested."""
    directory: str = ""
    """The directory in which the action would run."""
    session_scope: str = ""
    """A description of what `allow_session` would allow."""
