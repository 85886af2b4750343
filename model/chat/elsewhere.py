"""Sessions that a person goes on with in the agent's own screen, and what was said there."""

import asyncio
import logging
import shlex
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from model.backends.base import Backend, Launch
from model.backends.stored_conversations import ConversationReader, StoredTexts
from model.base.errors import SpinneyError
from model.base.plural import count
from model.chat.agent_process import LaunchResolver
from model.chat.foreign_sessions import as_reader, make_messages, make_note
from model.domain.events.base import Event
from model.domain.events.messages import MessageCompleted, MessageQueued, MessageStarted
from model.domain.events.sessions import SessionUpdated
from model.domain.foreign_sessions import ResumeCommand
from model.domain.messages import Message
from model.domain.sessions import Session
from model.domain.usage import Usage
from model.store.store import Store

READ_TIMEOUT: Final = 60.0
"""Seconds for which a message waits until what was said elsewhere is read."""

_VARIABLES: Final = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_CONFIG_DIR", "XDG_DATA_HOME")
"""Variables that say where a program keeps its conversations; none contains a secret."""

_NOTHING_SAID: Final = "The agent has no conversation in this session yet. Send a message first."
_IS_TO_BE_COPIED: Final = (
    "The next message is sent in a copy of the agent's conversation, without what was undone or in"
    " this directory. Send one first; then the copy can be continued there."
)
_IS_HELD: Final = (
    "Other sessions of this agent are at work, and its program holds this conversation open with"
    " them. If its screen says so, wait for them, or continue in a copy there."
)

_log = logging.getLogger(__name__)


class Elsewhere:
    """Hands conversations over to the programs' own screens, and reads what was said there."""

    def __init__(
        self, store: Store, backends: Mapping[str, Backend], launch_resolver: LaunchResolver
    ) -> None:
        self._store = store
        self._backends = backends
        self._launch_resolver = launch_resolver

    def find_reader(self, session: Session) -> ConversationReader:
        """Return what reads the session's conversation.

        Raises `conflict` unless the agent's own screen can continue it.
        """
        reader = as_reader(self._backends.get(session.backend))
        if reader is None:
            label = self._launch_resolver.label_of(session.backend)
            raise SpinneyError(f"{label} has no screen of its own to continue in.", "conflict")
        if not session.resume_token or session.handover is not None:
            raise SpinneyError(_NOTHING_SAID, "conflict")
        if session.fork_at:
            raise SpinneyError(_IS_TO_BE_COPIED, "conflict")
        return reader

    async def hand_over(
        self, session: Session, end_idle: Callable[[], Awaitable[None]]
    ) -> ResumeCommand:
        """Return the command that continues there. The session's agent must have ended.

        `end_idle` ends the idle agents of the other sessions with the same backend.
        """
        reader = self.find_reader(session)
        launch = await self._launch_resolver.resolve_launch(session)
        if not (is_free := await reader.release()):
            # Its program is shared: while other agents use it, it holds this conversation open.
            await end_idle()
            is_free = await reader.release()
        arguments = [*reader.build_resume_command(session.resume_token or "")]
        updates = {"elsewhere_since": time.time()}
        await self._store.accept(SessionUpdated(session_id=session.id, updates=updates))
        return ResumeCommand(
            command=_format_command(launch, arguments),
            directory=str(launch.worktree),
            arguments=arguments,
            note="" if is_free else _IS_HELD,
        )

    async def catch_up(self, session: Session) -> None:
        """Add what was said elsewhere to the conversation; what cannot be read is noted."""
        since = session.elsewhere_since
        if since is None:
            return
        try:
            async with asyncio.timeout(READ_TIMEOUT):
                texts = await self._read(session)
            problem = ""
        except (SpinneyError, TimeoutError) as error:
            _log.warning("what was said elsewhere could not be read: %r", error)
            texts, problem = None, "What was said in the agent's own screen could not be read."
        self._store.record(*self._make_events(session, texts, problem, since))

    async def _read(self, session: Session) -> StoredTexts | None:
        reader = as_reader(self._backends.get(session.backend))
        if reader is None:
            return None
        launch = await self._launch_resolver.resolve_launch(session)
        return await reader.read_texts(launch, session.resume_token or "")

    def _make_events(
        self, session: Session, texts: StoredTexts | None, problem: str, since: float
    ) -> list[Event]:
        stored = texts.messages if texts is not None else ()
        new = [message for message in stored if message.timestamp > since]
        messages = make_messages(session.id, session.backend, new)
        turns = sum(message.role == "user" for message in messages)
        label = self._launch_resolver.label_of(session.backend)
        note = problem or f"Continued in {label}'s own screen; {count(turns, 'new turn')}."
        if new or problem:
            messages = [make_note(session.id, session.backend, note), *messages]
        updates: dict[str, object] = {
            "elsewhere_since": None,
            "message_count": session.message_count + len(messages),
        }
        if new and texts is not None and texts.mark:
            updates["turn_mark"] = texts.mark
        events = [event for message in messages for event in _message_events(message)]
        return [*events, SessionUpdated(session_id=session.id, updates=updates)]


def _message_events(message: Message) -> list[Event]:
    about = {"message_id": message.id, "session_id": message.session_id}
    if message.role == "user":
        session_id = message.session_id
        return [MessageQueued(session_id=session_id, message=message, status="processing")]
    return [
        MessageStarted(message=message, **about),
        MessageCompleted(stop_reason="end_turn", usage=Usage(), **about),
    ]


def _format_command(launch: Launch, arguments: list[str]) -> str:
    variables = [
        f"{name}={shlex.quote(launch.environment[name])}"
        for name in _VARIABLES
        if launch.environment.get(name)
    ]
    words = " ".join([*variables, shlex.join(arguments)])
    return f"cd {shlex.quote(str(launch.worktree))} && {words}"
