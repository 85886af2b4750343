"""The main screen's open place: a session, or the next step where there is none."""

from functools import partial
from typing import TYPE_CHECKING, cast

from textual import events

from tui.shell import bars
from tui.shell.onboarding import missing_agents, next_step
from tui.shell.panes import Panes
from tui.store.places import (
    Place,
    find_nearest_shown,
    find_project_id,
    get_project,
    is_shown,
)
from tui.widgets.welcome import Step

if TYPE_CHECKING:
    from textual.worker import WorkType

    from model.api.doctor import BackendReport
    from model.domain.sessions import Session
    from tui.store.mirror import Change

MAX_RECENT = 50
"""Sessions whose order of use is kept."""


class Opening(Panes):
    """A main screen that opens places, and follows the one that is open."""

    _agents_missing: tuple[str, ...] = ()

    # Opening ------------------------------------------------------------------------------------

    def open_place(self, place: Place) -> None:
        """Open a session; the newest session of a worktree; or the next step."""
        place = self._newest_session(place)
        if place.kind == "session":
            self.open_session(place.id)
            return
        self.place = place
        self.remove_class("tree-open")
        self.projects.move_cursor_to(place)
        self._show_step()
        self._follow_opened()
        self.focus_chat()
        self.application.type_ahead.place_opened()

    def _newest_session(self, place: Place) -> Place:
        """Return the newest session of a worktree that has one, otherwise the place itself."""
        sessions = self.state.sessions_of(place.id) if place.kind == "worktree" else []
        newest = max(sessions, key=lambda session: session.updated_at, default=None)
        return Place("session", newest.id) if newest is not None else place

    def point_to(self, place: Place) -> None:
        """Make this the place that actions apply to, without moving the focus."""
        self.place = self._newest_session(place)
        if (session := self.session) is not None:
            self._show_session(session)
        else:
            self._show_step()
            self._follow_opened()

    def _follow_opened(self) -> None:
        """Show what is open now around the conversation."""
        bars.follow(self)
        if self._side is not None:
            self._side.follow_place()
        self._connected.focus.update()

    def open_session(self, session_id: str) -> None:
        """Open a session and read its newest messages."""
        if not self.is_connected or (session := self.state.sessions.get(session_id)) is None:
            return
        self.place = Place("session", session_id)
        self.recent_sessions = [session_id, *(s for s in self.recent_sessions if s != session_id)]
        del self.recent_sessions[MAX_RECENT:]
        self.startup.save_soon()
        self.remove_class("tree-open")
        self._show_session(session)
        self.focus_chat()
        self.application.type_ahead.place_opened()

    def _show_session(self, session: "Session") -> None:
        worktree = self.worktree
        self.chat.open_session(session, worktree.project_id if worktree is not None else "")
        if worktree is not None:
            self._connected.outbox.mark_opened(worktree.id)
        unfold = self.startup.is_over
        self.projects.move_cursor_to(Place("session", session.id), expand=unfold)
        self._read(session)
        self.follow_session()
        self._follow_opened()

    def _read(self, session: "Session") -> None:
        self.mirror.histories.open_session_id = session.id
        show = partial(self._connected.conversation.show, session)
        self.run_worker(cast("WorkType[None]", show), group="opening", exclusive=True)

    def _show_step(self) -> None:
        """Show the next step in place of a conversation."""
        step = self._step()
        key = self.place.id if self.place and self.place.kind == "worktree" else ""
        project = self.project
        if (
            self.chat.session_id is not None
            or step != self.chat.welcome.step
            or key != self.chat.key
        ):
            self.chat.open_step(step, key=key, project_id=project.id if project else "")
        self.chat.follow(self.state, ("", ""), self.key_of)

    def _step(self) -> Step:
        return next_step(
            self.state,
            self.place or self._pointed_project,
            is_sending=self.place is not None and self.chat.drafts.is_sending(self.place.id),
            offered=self.offered,
            started_in=self.started_in,
            agents_missing=self._agents_missing,
            key_of=self.key_of,
        )

    @property
    def _pointed_project(self) -> Place | None:
        """The project that the top bar names while nothing is open."""
        project = get_project(self.projects.place, self.state)
        if project is None or (self.offered and find_project_id(self.state, self.offered) is None):
            return None
        return Place("project", project.id)

    def focus_chat(self) -> None:
        """Focus the message box, or the next step."""
        if self.app.screen is self:
            (self.chat.composer if self.chat.key else self.chat.welcome).focus()

    # Following what is open -----------------------------------------------------------------------

    def _follow_place(self, change: "Change") -> None:
        place = self.place
        if place is not None and not is_shown(place, change.state):
            from tui.shell.departed import report_draft  # not before the first frame

            report_draft(self, place, change)
            self.place = None
            self._show_step()
            parent = find_nearest_shown(place, change.state, change.before)
            if parent is not None and self.focused is self.projects:
                self.projects.move_cursor_to(parent)
                self.point_to(parent)  # focus stays in the tree
            elif parent is not None:
                self.open_place(parent)
        elif self.session is not None:
            if change.loaded:
                self._read(self.session)
            worktree = self.worktree
            if worktree is not None and (worktree.id in change.worktrees or change.sessions):
                self._connected.conversation.update_card(self.session, worktree)
            self.follow_session()
        else:
            self._show_step()
            if change.loaded and place is None:
                self.startup.open_first(change.state)

    def follow_session(self) -> None:
        """Redraw the open session from the state."""
        session = self.session
        assert session is not None
        self.chat.follow(self.state, self.agents.labels(session), self.key_of)
        if session.unread and self.app.app_focus and bars.is_conversation_visible(self):
            self._connected.outbox.mark_read(session.id)

    def _agents_changed(self) -> None:
        """Redraw the open session with the new labels."""
        if self.session is not None and self.chat.transcript is not None:
            self._read(self.session)
            self.follow_session()

    def set_agents(self, reports: "list[BackendReport]") -> None:
        """Update the first step with which agent programs are installed."""
        self._agents_missing = missing_agents(reports)
        if self.session is None:
            self._show_step()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Focus the message box if the focused widget was removed behind a dialog."""
        if not self.stack_updates:  # the first time
            event.refresh_styles = False  # everything has just been mounted
        self.projects.wake()
        if self.session is not None:
            self.follow_session()  # its run may have ended meanwhile, and it is visible now
        if self.focused is None:
            self.focus_chat()
