"""What the forms of `/lite` do: each is one command, with its arguments from the form's fields."""

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from model.api.command import find_command
from model.api.sessions import create_session
from model.base.errors import SpinneyError
from model.commands.dispatch import run
from model.domain.resources import Session
from server.lite.page_request import Form
from server.lite.request_forms import answers_of

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

Arguments = Callable[[Session, Form], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Order:
    """A form of a session and the command behind it."""

    name: str
    """The last word of its path."""
    command: str
    fields: tuple[str, ...]
    arguments: Arguments
    """Those of the command, but for the session's id. Raises `SpinneyError`."""

    def wants_to_be_sure(self, form: Form) -> bool:
        """Whether this is to be asked once more: nothing will be asked after it."""
        return self.name == "approve" and form.get("mode") == "yolo" and not form.get("sure")

    async def carry_out(self, workspace: "Workspace", session: Session, form: Form) -> str:
        """Run the command; the session that it goes on in. Raises `SpinneyError`."""
        given = {"sessionId": session.id, **self.arguments(session, form)}
        answer = await run(workspace, find_command(self.command), given)
        return answer.id if isinstance(answer, Session) else session.id


def message_of(form: Form) -> dict[str, Any]:
    """The message that a form holds; pressed twice, it is one message."""
    given: dict[str, Any] = {"message": form.get("message")}
    try:
        # Another text from the same page, which browsers keep, is another message.
        own = uuid.uuid5(UUID(form.get("once")), form.get("message"))
    except ValueError:
        return given
    return {**given, "messageId": str(own)}


def _message(_: Session, form: Form) -> dict[str, Any]:
    return message_of(form)


def _answer(session: Session, form: Form) -> dict[str, Any]:
    request = session.request
    if request is None or request.id != form.get("request_id"):
        return {"answer": "", **_request_id(form)}  # The command says what became of it.
    answers = answers_of(request, form)
    missing = [q.question for q in request.questions if q.question not in answers]
    if missing:
        raise SpinneyError(f"This has no answer yet: {missing[0][:300]}")
    return {"answer": answers, **_request_id(form)}


def _approval(_: Session, form: Form) -> dict[str, Any]:
    plan = {"plan": form.get("plan")} if "plan" in form else {}
    fresh = {"fresh": True} if form.get("fresh") else {}
    return {"mode": form.get("mode"), **plan, **fresh, **_request_id(form)}


def _permission(_: Session, form: Form) -> dict[str, Any]:
    decision, reason = form.get("decision"), form.get("reason").strip()
    told = {"reason": reason} if decision == "deny" and reason else {}
    return {"decision": decision, "requestId": form.get("request_id"), **told}


def _request_id(form: Form) -> dict[str, Any]:
    return {"requestId": form.get("request_id")} if form.get("request_id") else {}


ORDERS: Final = (
    Order("messages", "send_chat_message", ("message",), _message),
    Order("answer", "answer_question", ("q0", "own0", "request_id"), _answer),
    Order("approve", "approve_plan", ("mode", "plan", "fresh", "sure", "request_id"), _approval),
    Order("permission", "answer_permission", ("decision", "reason", "request_id"), _permission),
    Order("stop", "stop_generation", (), lambda _, __: {}),
    Order("mode", "update_session", ("mode",), lambda _, form: {"executionMode": form.get("mode")}),
    Order("send", "send_queued_messages", (), lambda _, __: {}),
    Order(
        "queue",
        "remove_queued_message",
        ("message_id",),
        lambda _, form: {"messageId": form.get("message_id")},
    ),
)
"""Every form of a session's page."""


async def begun_session(workspace: "Workspace", worktree_id: str, form: Form) -> Session:
    """A new session, to which nothing was said yet."""
    given = {
        "worktreeId": worktree_id,
        "name": form.get("name").strip() or None,
        "executionMode": form.get("mode") or None,
        "backend": form.get("backend") or None,
    }
    made: Awaitable[Session] = run(workspace, create_session, given)
    return await made
