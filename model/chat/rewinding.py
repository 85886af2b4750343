"""Taking back the end of a conversation, bringing it back, and copying a conversation.

Messages are never deleted: those that are taken back are marked, shown folded, and no agent is sent
them. A program that can fork goes on in a copy of its own conversation, so the original is still
there when the messages are brought back. Any other starts over with a summary of what stays.
"""

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from model.backends.base import Backend
from model.base.errors import SpinneyError, worktree_not_found
from model.base.text import clean_line
from model.chat.lookup import session_in
from model.domain.events.base import Event
from model.domain.events.messages import MessagesRewound
from model.domain.events.sessions import SessionCreated, SessionUpdated
from model.domain.resource import Resource
from model.domain.sessions import Handover, Session
from model.state import State
from model.store.queries import OutlinedMessage
from model.store.rows import MessageCopy
from model.store.store import Store

_CONVERSATION_FIELDS: Final = {
    "resume_token", "fork_at", "turn_mark", "handover", "memories", "has_context", "recap",
    "set_aside_plan", "last_run", "context_tokens", "status",
}  # fmt: skip
"""The session's fields that belong to the end of its conversation."""

_BUSY: Final = "Stop the session first: its conversation is in use."
_CHANGED: Final = "The conversation changed meanwhile. Try again."
_TAKEN_BACK: Final = "This turn was undone. Redo it, then fork from it."
_CONTINUED: Final = (
    "The conversation has continued since then, so this part of it cannot be brought back."
)


class ConversationPoint(Resource):
    """The end of a turn, from which a conversation can continue; or its beginning."""

    message_id: str
    """The first message after it."""
    backend: str
    """The agent of that turn, to which token and mark belong."""
    resume_token: str | None = None
    """The session's `resume_token` at that time."""
    mark: str | None = None
    """The session's `turn_mark` at that time."""


class RewoundConversation(Resource):
    """What was taken back, so that it can be brought back."""

    message_ids: list[str]
    last_kept_id: str | None = None
    """The newest message that stayed."""
    message_count: int
    """The session's messages at that time, rewound ones included."""
    backend: str
    before: dict[str, Any]
    """The session's fields that changed, as they were, in JSON form."""


class Rewinding:
    """Changes which messages belong to a session's conversation. Its agent must not be running."""

    def __init__(self, store: Store, backends: Mapping[str, Backend]) -> None:
        self._store = store
        self._backends = backends

    async def rewind(self, session_id: str, keep: ConversationPoint) -> RewoundConversation:
        """Take back the messages after a point. Raises `conflict` and `not_found`."""
        session = require_idle(self._store.state, session_id)
        outline = await self._store.outline(session_id)
        position = _position_of(keep.message_id, outline)
        kept, going = _kept(outline[:position]), _kept(outline[position:])
        if not going:
            raise SpinneyError("This part of the conversation was already taken back.", "conflict")
        # Other agents that know what is taken back start over as well.
        memories = {n: m for n, m in session.memories.items() if m.messages <= position}
        updates = {
            **dict.fromkeys(("recap", "set_aside_plan", "last_run", "context_tokens")),
            **self._continue_from(keep, session, kept),
            "memories": {name: memory.model_dump() for name, memory in memories.items()},
            "status": "idle",
            "pause": None,
        }
        before = session.model_dump(mode="json", include=_CONVERSATION_FIELDS)
        if session.status == "paused":
            before["status"] = "idle"  # what was taken back does not go on by itself
        rewound = RewoundConversation(
            message_ids=[message.id for message in going],
            last_kept_id=kept[-1].id if kept else None,
            message_count=session.message_count,
            backend=session.backend,
            before=before,
        )
        await self._mark(session, rewound.message_ids, updates, rewound=True)
        return rewound

    async def restore(self, session_id: str, rewound: RewoundConversation) -> None:
        """Bring messages back. Raises `conflict` if the conversation has continued since."""
        session = require_idle(self._store.state, session_id)
        kept = _kept(await self._store.outline(session_id))
        newest = kept[-1].id if kept else None
        now = (session.message_count, session.backend, newest)
        if now != (rewound.message_count, rewound.backend, rewound.last_kept_id):
            raise SpinneyError(_CONTINUED, "conflict")
        await self._mark(session, rewound.message_ids, rewound.before, rewound=False)

    async def fork(
        self, session_id: str, point: ConversationPoint | None, worktree_id: str, name: str | None
    ) -> Session:
        """Create a session with a copy of the conversation up to a point, or of all of it.

        Raises `conflict` if all of it is to be copied during a turn or the point's turn was taken
        back, and `not_found`.
        """
        session = session_in(self._store.state, session_id)
        if point is None:
            require_idle(self._store.state, session_id)
        outline = await self._store.outline(session_id)
        end = _position_of(point.message_id, outline) if point else len(outline)
        if point is not None and end and outline[end - 1].is_rewound:
            raise SpinneyError(_TAKEN_BACK, "conflict")
        kept = _kept(outline[:end])
        inherited = ("execution_mode", "model", "thinking_level", "backend", "answering_model")
        fields = {
            **{field: getattr(session, field) for field in inherited},
            **self._continue_from(point or _newest_point(session), session, kept),
            "name": clean_line(name or "") or f"{session.name} (fork)",
            "message_count": len(kept),
        }
        new_id = str(uuid.uuid4())
        copy = MessageCopy(session_id, new_id, point.message_id if point else None)
        await self._store.accept(
            lambda state: [_create_session(state, new_id, worktree_id, fields)], copy=copy
        )
        return self._store.state.sessions[new_id]

    def _continue_from(
        self, point: ConversationPoint, session: Session, kept: Sequence[OutlinedMessage]
    ) -> dict[str, Any]:
        """Return the session fields with which its next turn knows these messages and no others."""
        backend = self._backends.get(session.backend)
        can_fork = backend is not None and backend.can_fork and point.backend == session.backend
        fields: dict[str, Any] = dict.fromkeys(("resume_token", "fork_at", "turn_mark", "handover"))
        if kept and can_fork and point.resume_token and point.mark:
            fields |= {"resume_token": point.resume_token}
            fields |= {"fork_at": point.mark, "turn_mark": point.mark}
        elif kept:
            fields["handover"] = Handover(backend=session.backend, since=0).model_dump()
        # Else the conversation begins again, and the issue or pull request is sent again with it.
        has_context = any(message.has_context for message in kept)
        return {**fields, "has_context": has_context}

    async def _mark(
        self, session: Session, ids: list[str], updates: dict[str, Any], *, rewound: bool
    ) -> None:
        def make_events(state: State) -> list[Event]:
            now = require_idle(state, session.id)
            if now.message_count != session.message_count:
                raise SpinneyError(_CHANGED, "conflict")
            changed = {**updates, "updated_at": time.time()}
            return [
                MessagesRewound(session_id=session.id, message_ids=ids, rewound=rewound),
                SessionUpdated(session_id=session.id, updates=changed),
            ]

        await self._store.accept(make_events)


def require_idle(state: State, session_id: str) -> Session:
    """Return the session. Raises `conflict` during a turn, and `not_found`."""
    session = session_in(state, session_id)
    if session.is_active:
        raise SpinneyError(_BUSY, "conflict")
    return session


def _position_of(message_id: str, outline: Sequence[OutlinedMessage]) -> int:
    position = next((n for n, each in enumerate(outline) if each.id == message_id), None)
    if position is None:
        raise SpinneyError("This message is no longer in the conversation.", "not_found")
    return position


def _kept(outline: Sequence[OutlinedMessage]) -> list[OutlinedMessage]:
    return [message for message in outline if not message.is_rewound]


def _newest_point(session: Session) -> ConversationPoint:
    """Return the end of the conversation, without a mark if its agent does not know all of it."""
    mark = session.turn_mark if session.handover is None else None
    return ConversationPoint(
        message_id="", backend=session.backend, resume_token=session.resume_token, mark=mark
    )


def _create_session(
    state: State, session_id: str, worktree_id: str, fields: Mapping[str, Any]
) -> SessionCreated:
    if worktree_id not in state.worktrees:
        raise worktree_not_found(worktree_id)
    others = state.sessions_of(worktree_id, archived=True)
    now = time.time()
    own = {"id": session_id, "worktree_id": worktree_id, "created_at": now, "updated_at": now}
    own |= {"named_by_user": True, "order": max((other.order + 1 for other in others), default=0)}
    return SessionCreated(session=Session.model_validate({**fields, **own}))
