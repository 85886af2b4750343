"""Recaps: short summaries, written by an agent, of what happened in a session while the user was
away.
"""

import logging
import time
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.chat.lookup import session_in
from model.chat.transcript_text import format_transcript
from model.domain.events.base import Event
from model.domain.events.program import TaskCompleted
from model.domain.events.sessions import SessionUpdated
from model.domain.sessions import Session
from model.state import State
from model.store.store import Store
from model.writing.writer import Writer

AWAY_AFTER: Final = 10 * 60.0
"""Seconds since the user's last message after which they count as away."""

_MAX_MESSAGES: Final = 40
"""The newest messages that are summarized; older ones were covered before."""

_MAX_LENGTH: Final = 600
"""Characters of a recap."""

_log = logging.getLogger(__name__)


class RecapWriter:
    """Writes recaps, at most one per session at a time."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store = store
        self._writer = writer
        self._writing: set[str] = set()

    def is_wanted(self, session: Session) -> bool:
        """Whether the session has unread activity and recaps are enabled."""
        return (
            self._store.state.preferences.session_recap_enabled
            and session.unread
            and session.status not in ("running", "paused")
            and session.id not in self._writing
        )

    async def write(self, session_id: str) -> None:
        """Add a recap to the session if the user was away. Errors are only logged."""
        self._writing.add(session_id)
        try:
            session = session_in(self._store.state, session_id)
            messages = await self._store.kept_messages(session_id, 0, _MAX_MESSAGES)
            sent_at = [message.timestamp for message in messages if message.role == "user"]
            if not sent_at or time.time() - sent_at[-1] < AWAY_AFTER:
                return
            worktree = self._store.state.worktrees[session.worktree_id]
            material = {"conversation": format_transcript(messages)}
            written = await self._writer.write("session_recap", worktree, material, ("recap",))
            recap = clean_line(written["recap"])[:_MAX_LENGTH]
            await self._store.accept(lambda state: _make_events(state, session, recap))
        except SpinneyError as error:
            _log.warning("could not write a recap of session %s: %s", session_id, error.message)
        finally:
            self._writing.discard(session_id)


def _make_events(state: State, before: Session, recap: str) -> list[Event]:
    """Return the events that add the recap, none if the conversation has changed meanwhile."""
    session = state.sessions.get(before.id)
    if session is None or not recap:
        return []
    # Its last run is forgotten when it is taken back.
    if (session.message_count, session.last_run) != (before.message_count, before.last_run):
        return []
    return [
        SessionUpdated(session_id=session.id, updates={"recap": recap}),
        TaskCompleted(task="recap", ok=True, detail=recap, worktree_id=session.worktree_id),
    ]
