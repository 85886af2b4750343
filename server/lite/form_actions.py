"""The form actions of `/lite`: each runs one command, with arguments from the form's fields."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from model.api.command import find_command
from model.api.git import ExchangeResult
from model.api.recovery import restore_sessions, restore_worktree
from model.api.sessions import create_session
from model.api.worktrees import create_worktree
from model.base.errors import SpinneyError
from model.commands.dispatch import run
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.worktrees import creation
from server.lite.page_request import Form
from server.lite.request_forms import read_answers

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

CREATION_TIME: Final = 60.0
"""Seconds to wait for a new worktree before its page is shown as it is."""

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
    if form.get("steer"):
        arguments["steer"] = True
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
    FormAction("messages", "send_chat_message", ("message", "steer"), _message_arguments),
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
    FormAction("resume", "resume_session", (), lambda _, __: {}),
    FormAction(
        "queue",
        "remove_queued_message",
        ("message_id",),
        lambda _, form: {"messageId": form.get("message_id")},
    ),
)
"""All forms of a session's page."""


@dataclass(frozen=True, slots=True)
class WorktreeAction:
    """A form of a worktree's pages and its command."""

    name: str
    """The last segment of its path."""
    command: str
    fields: tuple[str, ...]
    arguments: Callable[[Worktree, Form], dict[str, Any]]

    async def run(self, workspace: "Workspace", worktree: Worktree, form: Form) -> None:
        """Run the command. Raises `SpinneyError`, also with git's output if it has failed."""
        arguments = self.arguments(worktree, form)
        result = await run(workspace, find_command(self.command), arguments)
        if isinstance(result, ExchangeResult) and not result.success:
            raise SpinneyError(result.output or "Git failed and gave no reason.", "conflict")


WORKTREE_ACTIONS: Final = (
    WorktreeAction(
        "commit",
        "commit_changes",
        ("message",),
        lambda worktree, form: {
            "worktreeId": worktree.id, "message": form.get("message"), "stageAll": True,
        },
    ),
    WorktreeAction("push", "git_push", (), lambda worktree, _: {"worktreePath": worktree.path}),
    WorktreeAction(
        "archive", "archive_worktree", (), lambda worktree, _: {"worktreeId": worktree.id}
    ),
    WorktreeAction(
        "restore", "unarchive_worktree", (), lambda worktree, _: {"worktreeId": worktree.id}
    ),
)  # fmt: skip
"""All forms of a worktree's pages, besides the one that creates a session."""


async def create_worktree_from_form(workspace: "Workspace", form: Form) -> Worktree:
    """Begin to create a worktree on a new branch, on an existing one, or from a recovery point.

    A recovery point of sessions brings back theirs.
    """
    if recovery_id := form.get("sessions"):
        restored: list[Session] = await run(
            workspace, restore_sessions, {"recoveryId": recovery_id}
        )
        return workspace.store.state.worktrees[restored[0].worktree_id]
    if recovery_id := form.get("recovery"):
        restoring: Awaitable[Worktree] = run(
            workspace, restore_worktree, {"recoveryId": recovery_id}
        )
        return await restoring
    branch = form.get("branch").strip()
    arguments = {"projectId": form.get("project"), **({"branch": branch} if branch else {})}
    pending: Awaitable[Worktree] = run(workspace, create_worktree, arguments)
    return await pending


async def wait_until_created(workspace: "Workspace", worktree_id: str) -> None:
    """Wait until a worktree is ready. Raises `SpinneyError` if it could not be created in time."""
    try:
        async with asyncio.timeout(CREATION_TIME):
            await creation.wait_until_created(workspace.store, worktree_id)
    except TimeoutError:
        raise SpinneyError(
            "The worktree is still being created. Try again in a moment.", "conflict"
        ) from None


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
