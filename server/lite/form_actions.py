"""The form actions of `/lite`: each runs one command, with arguments from the form's fields."""

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
from server.lite.request_forms import read_answers

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

Arguments = Callable[[Session, Form], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class FormAction:
    """A form of a session's page and its command."""

    name: str
    """The last segment of its path."""
    command: str
    fields: tuple[str, ...]
    arguments: Arguments
    """The command's arguments, without the session's id. Raises `SpinneyError`."""

    def needs_confirmation(self, form: Form) -> bool:
        """Whether to ask for confirmation: in yolo mode, nothing is asked after approval."""
        return self.name == "approve" and form.get("mode") == "yolo" and not form.get("sure")

    async def run(self, workspace: "Workspace", session: Session, form: Form) -> str:
        """Run the command; returns the id of the session to show. Raises `SpinneyError`."""
        arguments = {"sessionId": session.id, **self.arguments(session, form)}
        result = await run(workspace, find_command(self.command), arguments)
        return result.id if isinstance(result, Session) else session.id


def message_arguments(form: Form) -> dict[str, Any]:
    """The message of a form; submitting the form twice sends one message."""
    arguments: dict[str, Any] = {"message": form.get("message")}
    try:
        # A changed text from the same page, which browsers may restore, is another message.
        message_id = uuid.uuid5(UUID(form.get("once")), form.get("message"))
    except ValueError:
        return arguments
    return {**arguments, "messageId": str(message_id)}


def _message_arguments(_: Session, form: Form) -> dict[str, Any]:
    return message_arguments(form)


def _answer_arguments(session: Session, form: Form) -> dict[str, Any]:
    request = session.request
    if request is None or request.id != form.get("request_id"):
        return {"answer": "", **_request_id_argument(form)}  # The command raises the right error.
    answers = read_answers(request, form)
    missing = [q.question for q in request.questions if q.question not in answers]
    if missing:
        raise SpinneyError(f"Not answered yet: {missing[0][:300]}")
    return {"answer": answers, **_request_id_argument(form)}


def _approval_arguments(_: Session, form: Form) -> dict[str, Any]:
    plan = {"plan": form.get("plan")} if "plan" in form else {}
    fresh = {"fresh": True} if form.get("fresh") else {}
    return {"mode": form.get("mode"), **plan, **fresh, **_request_id_argument(form)}


def _permission_arguments(_: Session, form: Form) -> dict[str, Any]:
    decision, reason = form.get("decision"), form.get("reason").strip()
    denial = {"reason": reason} if decision == "deny" and reason else {}
    return {"decision": decision, "requestId": form.get("request_id"), **denial}


def _request_id_argument(form: Form) -> dict[str, Any]:
    return {"requestId": form.get("request_id")} if form.get("request_id") else {}


FORM_ACTIONS: Final = (
    FormAction("messages", "send_chat_message", ("message",), _message_arguments),
    FormAction("answer", "answer_question", ("q0", "own0", "request_id"), _answer_arguments),
    FormAction(
        "approve",
        "approve_plan",
        ("mode", "plan", "fresh", "sure", "request_id"),
        _approval_arguments,
    ),
    FormAction(
        "permission",
        "answer_permission",
        ("decision", "reason", "request_id"),
        _permission_arguments,
    ),
    FormAction("stop", "stop_generation", (), lambda _, __: {}),
    FormAction(
        "mode", "update_session", ("mode",), lambda _, form: {"executionMode": form.get("mode")}
    ),
    FormAction("send", "send_queued_messages", (), lambda _, __: {}),
    FormAction(
        "queue",
        "remove_queued_message",
        ("message_id",),
        lambda _, form: {"messageId": form.get("message_id")},
    ),
)
"""All forms of a session's page."""


async def create_session_from_form(workspace: "Workspace", worktree_id: str, form: Form) -> Session:
    """Create a session without sending a message."""
    arguments = {
        "worktreeId": worktree_id,
        "name": form.get("name").strip() or None,
        "executionMode": form.get("mode") or None,
        "backend": form.get("backend") or None,
    }
    pending: Awaitable[Session] = run(workspace, create_session, arguments)
    return await pending
