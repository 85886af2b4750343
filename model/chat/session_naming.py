"""Names for sessions that nobody named: found by an agent, in the background, after the first
message. Until then, and where no agent can say, a session has its first words as its name.
"""

import asyncio
import logging
from typing import Final

from model.base.errors import SpinneyError
from model.chat.chats import session_in
from model.chat.texts import NAME_LENGTH, session_name
from model.domain.events import Event, SessionUpdated
from model.domain.resources import Session
from model.state import State
from model.store.store import Store
from model.writing.writer import Writer

_FEW: Final = 2
"""Names that are looked for at once: each is a program of its own while it lasts."""

_MOST: Final = 8_000
"""Characters of the message that are read for its name."""

_log = logging.getLogger(__name__)


class SessionNaming:
    """Finds names, a few at a time."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer
        self._few = asyncio.Semaphore(_FEW)

    def is_wanted(self, session: Session, message: str) -> bool:
        """Whether an agent should name the session that begins with this message.

        A message that is short enough is its own name.
        """
        text = message.strip()
        return (
            self._store.state.preferences.auto_session_naming
            and session.message_count == 0
            and not session.named_by_user
            and ("\n" in text or len(text) > NAME_LENGTH)
        )

    async def name(self, session_id: str, message: str) -> None:
        """Name the session, unless a person did meanwhile. What goes wrong is only logged."""
        try:
            async with self._few:
                session = session_in(self._store.state, session_id)
                worktree = self._store.state.worktrees[session.worktree_id]
                material = {"message": message[:_MOST]}
                written = await self._writer.write("session_naming", worktree, material, ("name",))
            name = session_name(written["name"])
            await self._store.accept(lambda state: _named(state, session, name))
        except SpinneyError as error:
            _log.warning("session %s keeps its first words as name: %s", session_id, error.message)


def _named(state: State, before: Session, name: str) -> list[Event]:
    session = state.sessions.get(before.id)
    if session is None or session.named_by_user or session.name != before.name or not name:
        return []
    return [SessionUpdated(session_id=session.id, updates={"name": name})]
