"""Names for unnamed sessions, chosen by an agent in the background after the first message. Until
then, and if no agent is available, a session is named after the start of that message.
"""

import asyncio
import logging
from typing import Final

from model.base.errors import SpinneyError
from model.chat.lookup import session_in
from model.chat.texts import NAME_LENGTH, make_session_name
from model.domain.events.base import Event
from model.domain.events.sessions import SessionUpdated
from model.domain.sessions import Session
from model.state import State
from model.store.store import Store
from model.writing.writer import Writer

_CONCURRENCY: Final = 2
"""Names that are generated at once; each one runs a program of its own."""

_MAX_CHARACTERS: Final = 8_000
"""Characters of the message that the name is based on."""

_log = logging.getLogger(__name__)


class SessionNaming:
    """Names sessions, a few at a time."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer
        self._semaphore = asyncio.Semaphore(_CONCURRENCY)

    def is_wanted(self, session: Session, message: str) -> bool:
        """Whether an agent should name the session that starts with this message.

        A short message is used as the name itself.
        """
        text = message.strip()
        return (
            self._store.state.preferences.auto_session_naming
            and session.message_count == 0
            and not session.named_by_user
            and ("\n" in text or len(text) > NAME_LENGTH)
        )

    async def name(self, session_id: str, message: str) -> None:
        """Name the session, unless the user did meanwhile. Errors are only logged."""
        try:
            async with self._semaphore:
                session = session_in(self._store.state, session_id)
                worktree = self._store.state.worktrees[session.worktree_id]
                material = {"message": message[:_MAX_CHARACTERS]}
                written = await self._writer.write("session_naming", worktree, material, ("name",))
            name = make_session_name(written["name"])
            await self._store.accept(lambda state: _make_events(state, session, name))
        except SpinneyError as error:
            _log.warning("could not name session %s: %s", session_id, error.message)


def _make_events(state: State, before: Session, name: str) -> list[Event]:
    session = state.sessions.get(before.id)
    if session is None or session.named_by_user or session.name != before.name or not name:
        return []
    return [SessionUpdated(session_id=session.id, updates={"name": name})]
