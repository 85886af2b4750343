"""A second session in the side pane: the one that was open last, live and without a message box."""

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from model.base.errors import SpinneyError
from model.base.text import clean_line
from tui.draw.status_icons import session_icon
from tui.store.places import find_last_session
from tui.transcript.view import TranscriptView
from tui.widgets.line import Line

if TYPE_CHECKING:
    from model.domain.sessions import Session
    from tui.desk import Desk
    from tui.store.history import History
    from tui.store.mirror import Change


class SecondSession(Vertical):
    """The messages of a session that is not the open one; scrolls, and takes no keys."""

    DEFAULT_CSS = """
    SecondSession { height: 1fr; display: none; }
    SecondSession > TranscriptView { height: 1fr; background: $background; }
    """

    def __init__(self, desk: "Desk") -> None:
        super().__init__(id="side-session")
        self._desk = desk
        self._history: History | None = None
        self._is_reading = False

    def compose(self) -> ComposeResult:
        """A title, and the messages."""
        yield Line(id="side-session-title")
        yield TranscriptView(id="side-transcript")

    @property
    def _view(self) -> TranscriptView:
        return self.query_one(TranscriptView)

    def find_session(self) -> "Session | None":
        """The session that was open last, other than the open one."""
        desk = self._desk
        here = desk.session.id if desk.session is not None else ""
        before = find_last_session(desk.recent_sessions, here, desk.projects.session_ids)
        return desk.state.sessions.get(before) if before is not None else None

    def follow_place(self) -> None:
        """Show the session that was open last, if it is another one now."""
        if not self.display or not self.children:
            return
        session = self.find_session()
        shown = self._history.session_id if self._history is not None else ""
        self._desk.mirror.histories.second_session_id = session.id if session is not None else None
        self._show_title(session)
        self._view.display = session is not None
        if session is None:
            return
        histories = self._desk.mirror.histories
        is_current = self._history is not None and histories.get(session.id) is self._history
        if (session.id != shown or not is_current) and not self._is_reading:
            self.run_worker(self._read(session), exit_on_error=False)

    async def _read(self, session: "Session") -> None:
        self._is_reading = True
        histories = self._desk.mirror.histories
        try:
            history = histories.get(session.id)
            if history is None:
                history = await histories.open(session.id, self._desk.state)
        except SpinneyError:
            return  # The session was removed meanwhile.
        finally:
            self._is_reading = False
        now = self.find_session()
        if now is None or now.id != session.id:
            self.follow_place()
            return
        self._history = history
        worktree = self._desk.state.worktrees.get(session.worktree_id)
        self._view.show(
            history,
            self._desk.palette,
            now,
            root=worktree.path if worktree is not None else "",
            catalog=self._desk.agents.catalog,
        )

    def _show_title(self, session: "Session | None") -> None:
        key = self._desk.key_of("last_session")
        if session is None:
            title = Content.styled("Open a second session to see it here.", "$text-muted")
            self.query_one(Line).show(title)
            return
        worktree = self._desk.state.worktrees.get(session.worktree_id)
        where = f"  {clean_line(worktree.name)}" if worktree is not None else ""
        name = clean_line(session.name) or "(no name)"
        title = Content.assemble(
            (f"{session_icon(session).symbol} ", "$accent"), (name, "bold"), (where, "$text-muted")
        )
        self.query_one(Line).show(
            title, Content.assemble((key, "$accent"), (" open", "$text-muted"))
        )

    def follow(self, change: "Change") -> None:
        """Apply a change to the shown session."""
        self.follow_place()
        if self._history is None or not self.display:
            return
        session_id = self._history.session_id
        if session_id in change.messages:
            self._view.update_messages(change.messages[session_id])
        session = change.state.sessions.get(session_id)
        if session is not None and session_id in change.sessions:
            self._view.set_session(session)

    def recolor(self) -> None:
        """Draw in the present colors."""
        self._view.set_palette(self._desk.palette)

    def on_transcript_older_wanted(self, event: TranscriptView.OlderWanted) -> None:
        """Read the page of older messages."""
        event.stop()
        self.run_worker(self._read_older(), exit_on_error=False)

    async def _read_older(self) -> None:
        history = self._history
        if history is None:
            return
        try:
            await self._desk.mirror.histories.load_older(history)
        except SpinneyError:
            return  # The session was removed meanwhile.
        if history is self._history:
            self._view.update_messages(0)
