"""What happened while a person was away: said by an agent in a few sentences, when they come back
to a session that has gone on without them.
"""

import logging
import time
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.chat.chats import session_in
from model.chat.transcript_text import transcript_text
from model.domain.events import Event, SessionUpdated, TaskCompleted
from model.domain.resources import Session
from model.state import State
from model.store.store import Store
from model.writing.writer import Writer

AWAY: Final = 10 * 60.0
"""Seconds since a person's last word from which on they were away."""

_MESSAGES: Final = 40
"""The newest of the conversation; what is older was told before."""

_LONGEST: Final = 600
"""Characters of a recap."""

_log = logging.getLogger(__name__)


class Recaps:
    """Writes recaps; a session has at most one under way."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer
        self._writing: set[str] = set()

    def is_wanted(self, session: Session) -> bool:
        """Whether something happened that nobody has seen, and people want it summed up."""
        return (
            self._store.state.preferences.session_recap_enabled
            and session.unread
            and session.status != "running"
            and session.id not in self._writing
        )

    async def write(self, session_id: str) -> None:
        """Put a recap into the session, if its person was away. What goes wrong is only logged."""
        self._writing.add(session_id)
        try:
            session = session_in(self._store.state, session_id)
            page = await self._store.messages(session_id, _MESSAGES)
            said = [message.timestamp for message in page.messages if message.role == "user"]
            if not said or time.time() - said[-1] < AWAY:
                return
            worktree = self._store.state.worktrees[session.worktree_id]
            material = {"conversation": transcript_text(page.messages)}
            written = await self._writer.write("session_recap", worktree, material, ("recap",))
            recap = clean_line(written["recap"])[:_LONGEST]
            await self._store.accept(lambda state: _recapped(state, session, recap))
        except SpinneyError as error:
            _log.warning("session %s gets no recap: %s", session_id, error.message)
        finally:
            self._writing.discard(session_id)


def _recapped(state: State, before: Session, recap: str) -> list[Event]:
    """The recap, unless the conversation has gone on meanwhile."""
    session = state.sessions.get(before.id)
    if session is None or not recap or session.message_count != before.message_count:
        return []
    return [
        SessionUpdated(session_id=session.id, updates={"recap": recap}),
        TaskCompleted(task="recap", ok=True, detail=recap, worktree_id=session.worktree_id),
    ]
