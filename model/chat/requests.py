"""Open requests of a session's agent: plans, questions and permissions, shown one at a time."""

import time
from collections.abc import Mapping
from typing import Any

from model.backends import agent_events
from model.base.errors import SpinneyError
from model.base.text import (
    make_json_visible,
    make_visible,
    restore_hidden,
    show_carriage_returns,
    show_mixed_line_endings,
)
from model.chat.permissions import SessionPermission, describe_session_scope
from model.domain.events.sessions import SessionUpdated, SessionWaiting
from model.domain.modes import ExecutionMode
from model.domain.requests import Question, Request
from model.domain.sessions import SessionStatus
from model.store.store import Store


def record_session(store: Store, session_id: str, **fields: Any) -> None:
    """Record changed session fields, in JSON form."""
    updates = {**fields, "updated_at": time.time()}
    store.record(SessionUpdated(session_id=session_id, updates=updates))


class RequestQueue:
    """The open requests of one running agent, oldest first; the session shows the oldest."""

    def __init__(self, store: Store, session_id: str) -> None:
        self._store = store
        self._session_id = session_id
        self._open: dict[str, Request] = {}
        self._original_questions: list[Question] = []
        """Questions as the agents wrote them."""
        self._original_plans: dict[str, str] = {}
        """Plans as the agents wrote them, by request id."""
        self._permission_keys: dict[str, SessionPermission] = {}
        """Keys under which the open permissions would be remembered."""
        self._allowed: set[SessionPermission] = set()
        """Permissions that the user has allowed for the session."""

    def __bool__(self) -> bool:
        return bool(self._open)

    @property
    def first(self) -> Request | None:
        """The oldest request, which is shown to users."""
        return next(iter(self._open.values()), None)

    def make_request(
        self,
        event: agent_events.PlanProposed
        | agent_events.QuestionAsked
        | agent_events.PermissionRequested,
        message_id: str,
    ) -> Request:
        """Convert an agent's event to a request of the message with this id, as shown to users."""
        match event:
            case agent_events.PlanProposed():
                fields: dict[str, Any] = {"kind": "plan", "plan": event.text}
            case agent_events.QuestionAsked():
                questions = [question.model_dump() for question in event.questions]
                fields = {"kind": "question", "questions": questions}
            case agent_events.PermissionRequested():
                fields = {
                    "kind": "permission",
                    "tool_name": event.tool_name,
                    "tool_input": _show_carriage_returns(event.input),
                    "description": event.description,
                    "execution_mode": self._mode,
                    "directory": self._directory_of(event),
                    "session_scope": describe_session_scope(event, self._mode),
                }
        return Request(id=event.request_id, message_id=message_id, **make_json_visible(fields))

    def add(
        self,
        request: Request,
        event: agent_events.PlanProposed
        | agent_events.QuestionAsked
        | agent_events.PermissionRequested,
    ) -> None:
        """Add a request made from an agent's event; the session waits then."""
        if isinstance(event, agent_events.QuestionAsked):
            self._original_questions += event.questions
        if isinstance(event, agent_events.PermissionRequested):
            self._permission_keys[request.id] = self._key(event)
        if isinstance(event, agent_events.PlanProposed):
            self._original_plans[request.id] = event.text
        if request.kind == "plan":
            # A new plan replaces the old one: approving that would carry out a stale plan.
            self._open = {key: old for key, old in self._open.items() if old.kind != "plan"}
        self._open[request.id] = request
        self._show()

    def is_allowed(self, event: agent_events.PermissionRequested) -> bool:
        """Whether the user has allowed exactly this for the session."""
        return self._key(event) in self._allowed

    def allow_for_session(self, request_id: str) -> None:
        """Stop asking for exactly what this request asked for."""
        self._allowed.add(self._permission_keys[request_id])

    def take(self, kind: str, request_id: str | None = None) -> Request:
        """Remove and return the request being answered. Raises `conflict` if it was answered."""
        candidates = (request for request in self._open.values() if request.kind == kind)
        request = next((r for r in candidates if request_id in (None, r.id)), None)
        if request is None:
            raise SpinneyError(f"This {kind} no longer needs an answer.", "conflict")
        self.withdraw(request.id)
        return request

    def withdraw(self, request_id: str) -> None:
        """Remove a request; an unknown id is ignored."""
        if self._open.pop(request_id, None) is not None:
            self._show()

    def put_back(self, request: Request) -> None:
        """Put a request whose answer failed back at the front."""
        self._open = {request.id: request, **self._open}
        self._show()

    def restore_answers(self, answers: Mapping[str, str]) -> dict[str, str]:
        """Key the answers by the agent's original question text.

        Chosen options are restored to the agent's original text, too.
        """
        questions = {
            make_visible(question.question): question for question in self._original_questions
        }
        originals = {}
        for shown, answer in answers.items():
            question = questions.get(shown)
            labels = [option.label for option in question.options] if question else []
            text = question.question if question else shown
            originals[text] = restore_hidden(answer, "\n".join(labels))
        return originals

    def restore_plan(self, request_id: str, edited: str) -> str:
        """Restore the agent's original characters in an edited plan, replacing visible marks."""
        return restore_hidden(edited, self._original_plans.get(request_id, ""))

    def clear(self) -> None:
        """Forget all requests once the agent has exited; the caller updates the session."""
        self._open.clear()
        self._original_questions.clear()
        self._permission_keys.clear()
        self._original_plans.clear()

    def _key(self, event: agent_events.PermissionRequested) -> SessionPermission:
        return SessionPermission.of(event, self._mode, self._directory_of(event))

    @property
    def _mode(self) -> ExecutionMode:
        session = self._store.state.sessions[self._session_id]
        return session.turn_mode or session.execution_mode

    def _directory_of(self, event: agent_events.PermissionRequested) -> str:
        state = self._store.state
        worktree = state.worktrees[state.sessions[self._session_id].worktree_id]
        return event.directory or worktree.path

    def _show(self) -> None:
        first = self.first
        show_request(self._store, self._session_id, first, "waiting" if first else "running")


def _show_carriage_returns(tool_input: Mapping[str, Any]) -> dict[str, Any]:
    """Make each carriage return in a tool's command visible, since shells do not ignore it.

    Those in other texts are made visible where they may be part of a change.
    """
    command = tool_input.get("command")
    shown = {"command": show_carriage_returns(command)} if isinstance(command, str) else {}
    visible: dict[str, Any] = show_mixed_line_endings({**tool_input, **shown})
    return visible


def show_request(
    store: Store,
    session_id: str,
    request: Request | None,
    status: SessionStatus,
    **fields: Any,
) -> None:
    """Record and publish the request that a session waits for (or none), with further fields."""
    kind = request.kind if request else None
    shown = request.model_dump(mode="json") if request else None
    previous_kind = store.state.sessions[session_id].waiting_for
    if kind == "plan":
        fields["set_aside_plan"] = None  # replaced by this plan
    record_session(store, session_id, status=status, waiting_for=kind, request=shown, **fields)
    if kind or previous_kind:
        store.record(SessionWaiting(session_id=session_id, waiting_for=kind, request=request))
