"""Lists conversations begun in the agent programs' own screens, and continues them in sessions."""

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from model.backends.base import Backend, Launch, Settings
from model.backends.stored_conversations import (
    ConversationReader,
    StoredConversation,
    StoredMessage,
    StoredTexts,
)
from model.base.errors import SpinneyError, worktree_not_found
from model.base.text import clean_line
from model.domain.events.base import Event
from model.domain.events.sessions import SessionCreated
from model.domain.foreign_sessions import ForeignSession, ForeignSessions
from model.domain.messages import Message, TextBlock
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.state import State
from model.store.rows import MessageImport
from model.store.store import Store

LIST_TIMEOUT: Final = 60.0
"""Seconds for each program; OpenCode takes four to start, many more on a busy machine."""

_MAX_TITLE: Final = 120
_MAX_KNOWN: Final = 200
"""The worktree's newest sessions whose earlier conversations are known, too."""

_GONE: Final = "This conversation is no longer there. List them again."

_log = logging.getLogger(__name__)


class ForeignSessionFinder:
    """Finds what the programs have stored, and continues it.

    `environment_of` returns the environment of a worktree's agents, `label_of` an agent's name.
    """

    def __init__(
        self,
        store: Store,
        backends: Mapping[str, Backend],
        environment_of: Callable[[Worktree], Mapping[str, str]],
        label_of: Callable[[str], str],
    ) -> None:
        self._store = store
        self._backends = backends
        self._environment_of = environment_of
        self._label_of = label_of
        self._continuing = asyncio.Lock()

    async def list_sessions(self, worktree: Worktree) -> ForeignSessions:
        """List what was begun in a worktree's directory or in that of its project."""
        known = await self._known_tokens(worktree)
        sessions: list[ForeignSession] = []
        problems: list[str] = []
        names = [name for name, each in self._backends.items() if as_reader(each) is not None]
        results = await asyncio.gather(*(self._list(name, worktree) for name in names))
        for name, (found, problem) in zip(names, results, strict=True):
            label = self._label_of(name)
            sessions += [_describe(name, label, each) for each in found if each.token not in known]
            problems += [f"{label}: {problem}"] if problem else []
        sessions.sort(key=lambda session: -session.updated_at)
        return ForeignSessions(sessions=sessions, problems=problems)

    async def continue_session(
        self, worktree: Worktree, backend: str, token: str, fields: Mapping[str, Any]
    ) -> Session:
        """Create a session that goes on with a conversation; its texts are in the history.

        If a session goes on with it already, return that. `fields` are the session's settings. A
        conversation of another directory goes on in a copy. Raises `not_found`.
        """
        async with self._continuing:
            for session in self._store.state.sessions.values():
                if (session.backend, session.resume_token) == (backend, token):
                    return session
            found, problem = await self._list(backend, worktree)
            stored = next((each for each in found if each.token == token), None)
            if stored is None:
                raise SpinneyError(problem or _GONE, "not_found")
            texts = await self._read(backend, worktree, stored)
            return await self._create(worktree, backend, stored, texts, fields)

    async def _create(
        self,
        worktree: Worktree,
        backend: str,
        stored: StoredConversation,
        texts: StoredTexts,
        fields: Mapping[str, Any],
    ) -> Session:
        session_id = str(uuid.uuid4())
        note = _describe_source(self._label_of(backend), stored, texts)
        messages = [
            *make_messages(session_id, backend, texts.messages),
            make_note(session_id, backend, note),
        ]
        is_elsewhere = stored.directory != worktree.path
        own = {
            "id": session_id,
            "worktree_id": worktree.id,
            "backend": backend,
            "name": _shorten(stored.title) or "Continued session",
            "named_by_user": True,
            "created_at": time.time(),
            "updated_at": time.time(),
            "resume_token": stored.token,
            "turn_mark": texts.mark or None,
            "fork_at": (texts.mark or None) if is_elsewhere else None,
            "message_count": len(messages),
        }

        def make_events(state: State) -> list[Event]:
            if worktree.id not in state.worktrees:
                raise worktree_not_found(worktree.id)
            others = state.sessions_of(worktree.id, archived=True)
            order = max((other.order + 1 for other in others), default=0)
            session = Session.model_validate({**fields, **own, "order": order})
            return [SessionCreated(session=session)]

        await self._store.accept(make_events, copy=MessageImport(messages))
        return self._store.state.sessions[session_id]

    async def _list(self, backend: str, worktree: Worktree) -> tuple[list[StoredConversation], str]:
        """The conversations of one program, and why they could not be listed."""
        reader = as_reader(self._backends.get(backend))
        if reader is None:
            return [], "Its conversations cannot be listed."
        found: list[StoredConversation] = []
        try:
            async with asyncio.timeout(LIST_TIMEOUT):
                for directory in self._directories(worktree):
                    found += await reader.list_conversations(self._launch(worktree, directory))
        except TimeoutError:
            return found, "It does not respond. Try again."
        except SpinneyError as error:
            # An agent that is not installed has no conversations.
            return found, "" if error.error_type == "backend_unavailable" else error.message
        except Exception:
            _log.exception("the conversations of %s could not be listed", backend)
            return found, "Its conversations could not be read (see Spinney's log)."
        return found, ""

    async def _read(
        self, backend: str, worktree: Worktree, stored: StoredConversation
    ) -> StoredTexts:
        reader = as_reader(self._backends.get(backend))
        launch = self._launch(worktree, Path(stored.directory))
        texts = await reader.read_texts(launch, stored.token) if reader is not None else None
        if texts is None:
            raise SpinneyError(_GONE, "not_found")
        return texts

    def _launch(self, worktree: Worktree, directory: Path) -> Launch:
        return Launch(
            session_id="",
            worktree=directory,
            settings=Settings(mode="plan"),
            environment=self._environment_of(worktree),
        )

    def _directories(self, worktree: Worktree) -> list[Path]:
        project = self._store.state.projects.get(worktree.project_id)
        paths = [worktree.path, *([project.path] if project is not None else [])]
        return [path for path in map(Path, dict.fromkeys(paths)) if path.is_absolute()]

    async def _known_tokens(self, worktree: Worktree) -> set[str]:
        """The conversations of all sessions, and those that this worktree's sessions had before."""
        known = set(known_tokens(self._store.state.sessions.values()))
        sessions = self._store.state.sessions_of(worktree.id, archived=True)
        sessions.sort(key=lambda session: -session.updated_at)
        for session in sessions[:_MAX_KNOWN]:
            for turn in await self._store.turns(session.id):
                known |= {token for token in (turn.start_token, turn.resume_token) if token}
        return known


def known_tokens(sessions: Iterable[Session]) -> Iterable[str]:
    """Yield the programs' ids of the conversations that sessions have."""
    for session in sessions:
        memories = session.memories.values()
        for token in (session.resume_token, *(memory.resume_token for memory in memories)):
            if token:
                yield token


def make_messages(session_id: str, backend: str, stored: Iterable[StoredMessage]) -> list[Message]:
    """Convert what a program has stored to messages of a session."""
    return [
        Message(
            id=str(uuid.uuid4()),
            role=each.role,
            content=[TextBlock(text=each.text)],
            timestamp=each.timestamp or time.time(),
            session_id=session_id,
            stop_reason="end_turn" if each.role == "assistant" else None,
            model=each.model or None,
            backend=backend if each.role == "assistant" else None,
        )
        for each in stored
    ]


def make_note(session_id: str, backend: str, text: str) -> Message:
    """Make a message with a note by Spinney."""
    return Message(
        id=str(uuid.uuid4()),
        role="assistant",
        content=[TextBlock(text=f"> **Spinney:** {clean_line(text)}")],
        timestamp=time.time(),
        session_id=session_id,
        stop_reason="end_turn",
        backend=backend,
    )


def _describe_source(label: str, stored: StoredConversation, texts: StoredTexts) -> str:
    where = f" ({stored.origin})" if stored.origin else ""
    rest = "" if texts.is_complete else " Older messages are not shown."
    return (
        f"Continued from {label}{where}. These are the texts so far, without tools and their"
        f" results; the agent remembers them.{rest}"
    )


def _describe(backend: str, label: str, stored: StoredConversation) -> ForeignSession:
    return ForeignSession(
        backend=backend,
        agent=label,
        conversation_id=clean_line(stored.token),
        title=_shorten(stored.title) or "(no title)",
        directory=stored.directory,
        updated_at=stored.updated_at,
        branch=_shorten(stored.branch),
        origin=_shorten(stored.origin),
    )


def _shorten(text: str) -> str:
    line = clean_line(text[: 4 * _MAX_TITLE])
    return line if len(line) <= _MAX_TITLE else f"{line[: _MAX_TITLE - 1]}…"


def as_reader(backend: Backend | None) -> ConversationReader | None:
    """Return the backend if it can read what its program has stored."""
    return backend if isinstance(backend, ConversationReader) else None
