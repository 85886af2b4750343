"""What a session's agent waits for: plans, questions and permissions, one shown at a time."""

import time
from collections.abc import Mapping
from typing import Any

from model.backends import base
from model.base.errors import SpinneyError
from model.base.text import (
    make_json_visible,
    make_visible,
    restore_hidden,
    show_mixed_returns,
    show_returns,
)
from model.chat.permissions import SessionPermission, session_scope
from model.domain.events import SessionUpdated, SessionWaiting
from model.domain.resources import ExecutionMode, Question, Request, SessionStatus
from model.store.store import Store


def record_session(store: Store, session_id: str, **fields: Any) -> None:
    """Record changed fields of a session, in JSON form."""
    updates = {**fields, "updated_at": time.time()}
    store.record(SessionUpdated(session_id=session_id, updates=updates))


class Requests:
    """The open requests of one running agent, oldest first; the oldest stands in the session."""

    def __init__(self, store: Store, session_id: str) -> None:
        self._store = store
        self._session_id = session_id
        self._open: dict[str, Request] = {}
        self._questions: list[Question] = []
        """Questions as their agents wrote them."""
        self._plans: dict[str, str] = {}
        """Plans as their agents wrote them, by the ids of their requests."""
        self._keys: dict[str, SessionPermission] = {}
        """What the open permissions would be remembered as."""
        self._allowed: set[SessionPermission] = set()
        """What a person allowed for the session."""

    def __bool__(self) -> bool:
        return bool(self._open)

    @property
    def first(self) -> Request | None:
        """The one that people see."""
        return next(iter(self._open.values()), None)

    def request_of(
        self,
        event: base.PlanProposed | base.QuestionAsked | base.PermissionAsked,
        message_id: str,
    ) -> Request:
        """What an agent asks for, in the answer with this id, as people are shown it."""
        match event:
            case base.PlanProposed():
                asked: dict[str, Any] = {"kind": "plan", "plan": event.text}
            case base.QuestionAsked():
                questions = [question.model_dump() for question in event.questions]
                asked = {"kind": "question", "questions": questions}
            case base.PermissionAsked():
                asked = {
                    "kind": "permission",
                    "tool_name": event.tool_name,
                    "tool_input": _with_returns(event.input),
                    "description": event.description,
                    "execution_mode": self._mode,
                    "directory": self._directory_of(event),
                    "session_scope": session_scope(event, self._mode),
                }
        return Request(id=event.request_id, message_id=message_id, **make_json_visible(asked))

    def ask(
        self,
        request: Request,
        event: base.PlanProposed | base.QuestionAsked | base.PermissionAsked,
    ) -> None:
        """Add a request, made of what the agent told; the session waits."""
        if isinstance(event, base.QuestionAsked):
            self._questions += event.questions
        if isinstance(event, base.PermissionAsked):
            self._keys[request.id] = self._key(event)
        if isinstance(event, base.PlanProposed):
            self._plans[request.id] = event.text
        if request.kind == "plan":
            # A new plan replaces the old one: approving that would carry out something stale.
            self._open = {key: old for key, old in self._open.items() if old.kind != "plan"}
        self._open[request.id] = request
        self._show()

    def is_allowed(self, event: base.PermissionAsked) -> bool:
        """Whether a person has allowed exactly this for the session."""
        return self._key(event) in self._allowed

    def allow_for_session(self, request_id: str) -> None:
        """Ask no more for exactly what this request asked for."""
        self._allowed.add(self._keys[request_id])

    def take(self, kind: str, request_id: str | None = None) -> Request:
        """Remove the request that is being answered. Raises `conflict` when it was already."""
        found = (request for request in self._open.values() if request.kind == kind)
        request = next((r for r in found if request_id in (None, r.id)), None)
        if request is None:
            raise SpinneyError(f"No {kind} waits for this answer any more.", "conflict")
        self.withdraw(request.id)
        return request

    def withdraw(self, request_id: str) -> None:
        """Forget a request; an unknown one is no error."""
        if self._open.pop(request_id, None) is not None:
            self._show()

    def put_back(self, request: Request) -> None:
        """Ask again, before all others, what was answered in vain."""
        self._open = {request.id: request, **self._open}
        self._show()

    def as_asked(self, answers: Mapping[str, str]) -> dict[str, str]:
        """The answers by the questions' own text, by which their agent knows them.

        What was chosen is given back as the agent wrote it, too.
        """
        asked = {make_visible(question.question): question for question in self._questions}
        found = {}
        for shown, answer in answers.items():
            question = asked.get(shown)
            labels = [option.label for option in question.options] if question else []
            text = question.question if question else shown
            found[text] = restore_hidden(answer, "\n".join(labels))
        return found

    def restore_plan(self, request_id: str, edited: str) -> str:
        """An edited plan for its agent, without the marks that people were shown in it."""
        return restore_hidden(edited, self._plans.get(request_id, ""))

    def forget_all(self) -> None:
        """The agent that asked is gone; the session's fields are the caller's."""
        self._open.clear()
        self._questions.clear()
        self._keys.clear()
        self._plans.clear()

    def _key(self, event: base.PermissionAsked) -> SessionPermission:
        return SessionPermission.of(event, self._mode, self._directory_of(event))

    @property
    def _mode(self) -> ExecutionMode:
        session = self._store.state.sessions[self._session_id]
        return session.turn_mode or session.execution_mode

    def _directory_of(self, event: base.PermissionAsked) -> str:
        state = self._store.state
        worktree = state.worktrees[state.sessions[self._session_id].worktree_id]
        return event.directory or worktree.path

    def _show(self) -> None:
        first = self.first
        show_request(self._store, self._session_id, first, "waiting" if first else "running")


def _with_returns(given: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's input, with each carriage return of a command shown: a shell does not skip it.

    Those of a text are shown where they may be what is changed.
    """
    command = given.get("command")
    shown = {"command": show_returns(command)} if isinstance(command, str) else {}
    marked: dict[str, Any] = show_mixed_returns({**given, **shown})
    return marked


def show_request(
    store: Store,
    session_id: str,
    request: Request | None,
    status: SessionStatus,
    **fields: Any,
) -> None:
    """Record what a session waits for (or nothing), with further fields, and tell so."""
    kind = request.kind if request else None
    shown = request.model_dump(mode="json") if request else None
    waited = store.state.sessions[session_id].waiting_for
    if kind == "plan":
        fields["set_aside_plan"] = None  # a newer plan has come
    record_session(store, session_id, status=status, waiting_for=kind, request=shown, **fields)
    if kind or waited:
        store.record(SessionWaiting(session_id=session_id, waiting_for=kind, request=request))
