"""Which sessions clients show right now: nothing is sent about those."""

from collections.abc import Callable

from model.state import State


class Focus:
    """The session that each connected client shows to a person who is at it."""

    def __init__(self) -> None:
        self._shown: dict[str, str] = {}
        """Session ids by client."""
        self.on_changed: Callable[[], None] = lambda: None
        """Called when a client shows another session, or none."""

    def set(self, client: str, session_id: str | None) -> None:
        """Note what a client shows; `None` if its person looks elsewhere."""
        before = self._shown.get(client)
        if session_id is None:
            self._shown.pop(client, None)
        else:
            self._shown[client] = session_id
        if before != session_id:
            self.on_changed()

    def drop(self, client: str) -> None:
        """Forget a client that has disconnected."""
        self.set(client, None)

    def covers(self, state: State, session_id: str | None, worktree_id: str | None) -> bool:
        """Whether a client shows the session or, without one, any session of the worktree."""
        if session_id is not None:
            return session_id in self._shown.values()
        if worktree_id is None:
            return False
        shown = (state.sessions.get(each) for each in self._shown.values())
        return any(session and session.worktree_id == worktree_id for session in shown)
