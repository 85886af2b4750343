"""Sessions that are about to be deleted, as lines of JSON in a recovery point."""

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from model.base.paths import Directories
from model.domain.events.base import Event
from model.domain.events.messages import MessageQueued
from model.domain.events.sessions import SessionCreated, TurnRecorded
from model.domain.messages import Message
from model.domain.projects import Project
from model.domain.resource import Resource
from model.domain.sessions import Session
from model.domain.turns import Turn
from model.domain.worktrees import Worktree
from model.git.snapshots.conversations import Conversations, read_attachments, read_conversations
from model.store.rows import MessageImport
from model.store.store import Store
from model.worktrees.kept_files import find_files, write_file

MAX_BYTES: Final = 50_000_000
"""Bytes of messages that are kept; of more, the newest of each session."""
_PAGE: Final = 200


@dataclass(slots=True)
class KeptConversations:
    """What comes back."""

    project: Project | None = None
    worktrees: list[Worktree] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    """Oldest first in each session."""
    queued: list[Message] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    def make_events(
        self, known: Collection[str], worktree_ids: Mapping[str, str]
    ) -> tuple[list[Event], MessageImport]:
        """Return what adds the sessions that are not `known`.

        Args:
            known: Ids of sessions that exist.
            worktree_ids: The worktrees in which the sessions are, by the ids that they had.
        """
        sessions = {
            session.id: session.model_copy(
                update={"worktree_id": worktree_ids[session.worktree_id]}
            )
            for session in self.sessions
            if session.id not in known and session.worktree_id in worktree_ids
        }
        events: list[Event] = [SessionCreated(session=session) for session in sessions.values()]
        events += [
            MessageQueued(session_id=message.session_id, message=message, status="sent")
            for message in self.queued
            if message.session_id in sessions
        ]
        for turn in self.turns:
            if session := sessions.get(turn.session_id):
                own = turn.model_copy(update={"worktree_id": session.worktree_id})
                events.append(TurnRecorded(turn=own))
        messages = [message for message in self.messages if message.session_id in sessions]
        return events, MessageImport(messages)


async def write_conversations(
    store: Store,
    directories: Directories,
    worktrees: Sequence[Worktree],
    sessions: Sequence[Session],
    project: Project | None = None,
) -> Conversations:
    """Return these resources and the sessions' messages as lines of JSON, and their files."""
    lines = [_to_line("project", project)] if project else []
    lines += [_to_line("worktree", worktree) for worktree in worktrees]
    lines += [_to_line("session", session) for session in sessions]
    queued = [message for s in sessions for message in store.state.queued.get(s.id, ())]
    lines += [_to_line("queued", message) for message in queued]
    left_out = 0
    for session in sessions:
        lines += [_to_line("turn", turn) for turn in await store.turns(session.id)]
        messages, total = await _read_messages(store, session.id, MAX_BYTES // len(sessions))
        lines += messages
        left_out += total - len(messages)
    attachments, size, files_left_out = await asyncio.to_thread(
        find_files, directories, [s.id for s in sessions], [w.id for w in worktrees]
    )
    content = b"".join(lines)
    return Conversations(
        content, attachments, len(sessions), left_out + files_left_out, len(content) + size
    )


async def _read_messages(store: Store, session_id: str, limit: int) -> tuple[list[bytes], int]:
    """Return the newest messages of a session within `limit` bytes, oldest first; and their count
    without a limit.
    """
    newest_first: list[bytes] = []
    total = 0
    while True:
        page = await store.messages(session_id, _PAGE, len(newest_first))
        lines = await asyncio.to_thread(
            lambda messages: [_to_line("message", each) for each in messages], page.messages
        )
        for line in reversed(lines):
            total += len(line)
            if total > limit:
                return newest_first[::-1], page.total
            newest_first.append(line)
        if len(page.messages) < _PAGE:
            return newest_first[::-1], page.total


async def read_kept(root: Path, tree: str) -> KeptConversations:
    """Return the conversations of a recovery point with this tree; none if it has none."""
    content = await read_conversations(root, tree)
    return await asyncio.to_thread(_parse, content)


async def write_attachments(
    directories: Directories, root: Path, tree: str, kept: KeptConversations
) -> None:
    """Write the pictures and long outputs of conversations that came back; none is replaced."""
    sessions = [session.id for session in kept.sessions]
    worktrees = [worktree.id for worktree in kept.worktrees]
    async for name, content in read_attachments(root, tree):
        await asyncio.to_thread(write_file, directories, name, content, sessions, worktrees)


def _parse(content: bytes) -> KeptConversations:
    """Parse the lines of `write_conversations`; blocks. Damaged ones are left out."""
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
        case "project":
            kept.project = Project.model_validate(value)
        case "worktree":
            kept.worktrees.append(Worktree.model_validate(value))
        case "turn":
            kept.turns.append(Turn.model_validate(value))
        case "session":
            session = Session.model_validate(value)
            if session.is_unfinished:
                session = session.model_copy(
                    update={"status": "idle", "waiting_for": None, "request": None, "pause": None}
                )
            kept.sessions.append(session)
        case "message":
            kept.messages.append(Message.model_validate(value))
        case "queued":
            kept.queued.append(Message.model_validate(value))


def _to_line(kind: str, value: Resource) -> bytes:
    return json.dumps({"kind": kind, "value": value.model_dump(mode="json")}).encode() + b"\n"
