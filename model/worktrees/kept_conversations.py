"""The sessions of a deleted worktree and their messages, as lines of JSON in a recovery point."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from model.domain.resources import Message, Session, Worktree
from model.domain.turns import Turn
from model.store.store import Store

MAX_BYTES: Final = 50_000_000
"""Bytes of messages that are kept; of more, the newest of each session."""
_PAGE: Final = 200


@dataclass(slots=True)
class KeptConversations:
    """What comes back with a worktree."""

    worktree: Worktree | None = None
    sessions: list[Session] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    """Oldest first in each session."""
    queued: list[Message] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)


async def write_conversations(store: Store, worktree: Worktree) -> bytes:
    """Return the worktree, its sessions, their turns and messages as lines of JSON."""
    sessions = store.state.sessions_of(worktree.id, archived=True)
    lines = [_to_line("worktree", worktree.model_dump(mode="json"))]
    lines += [_to_line("session", session.model_dump(mode="json")) for session in sessions]
    queued = [message for s in sessions for message in store.state.queued.get(s.id, ())]
    lines += [_to_line("queued", message.model_dump(mode="json")) for message in queued]
    for session in sessions:
        turns = await store.turns(session.id)
        lines += [_to_line("turn", turn.model_dump(mode="json")) for turn in turns]
        lines += await _read_messages(store, session.id, MAX_BYTES // len(sessions))
    return b"".join(lines)


async def _read_messages(store: Store, session_id: str, limit: int) -> list[bytes]:
    """Return the newest messages of a session within `limit` bytes, oldest first."""
    newest_first: list[bytes] = []
    total = 0
    while True:
        page = await store.messages(session_id, _PAGE, len(newest_first))
        lines = await asyncio.to_thread(
            lambda messages: [
                _to_line("message", each.model_dump(mode="json")) for each in messages
            ],
            page.messages,
        )
        for line in reversed(lines):
            total += len(line)
            if total > limit:
                return newest_first[::-1]
            newest_first.append(line)
        if len(page.messages) < _PAGE:
            return newest_first[::-1]


def _write_messages(messages: list[Message]) -> list[bytes]:
    return [_to_line("message", message.model_dump(mode="json")) for message in messages]


def read_conversations(content: bytes) -> KeptConversations:
    """Read what `write_conversations` returned; blocks. Damaged lines are left out."""
    kept = KeptConversations()
    for line in content.split(b"\n"):
        try:
            read: dict[str, Any] = json.loads(line or b"{}")
            _add(kept, read)
        except (ValueError, ValidationError, AttributeError):
            continue
    known = {session.id for session in kept.sessions}
    kept.messages = [each for each in kept.messages if each.session_id in known]
    kept.queued = [each for each in kept.queued if each.session_id in known]
    kept.turns = [each for each in kept.turns if each.session_id in known]
    return kept


def _add(kept: KeptConversations, read: Mapping[str, Any]) -> None:
    value = read.get("value")
    match read.get("kind"):
        case "worktree":
            kept.worktree = Worktree.model_validate(value)
        case "session":
            session = Session.model_validate(value)
            if session.is_active:
                session = session.model_copy(
                    update={"status": "idle", "waiting_for": None, "request": None}
                )
            kept.sessions.append(session)
        case "message":
            kept.messages.append(Message.model_validate(value))
        case "queued":
            kept.queued.append(Message.model_validate(value))
        case "turn":
            kept.turns.append(Turn.model_validate(value))


def _to_line(kind: str, value: Mapping[str, Any]) -> bytes:
    return json.dumps({"kind": kind, "value": value}).encode() + b"\n"
