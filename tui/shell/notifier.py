"""Notifies the user that a session they are not looking at needs them or has finished.

Uses a notification on the screen, the terminal's bell and its title, never for the visible session.
Desktop notifications are notices, about which the model decides.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from model.base.text import clean_line
from model.domain.events.notices import NoticesSent
from model.domain.events.sessions import SessionWaiting
from tui.draw.status_icons import count_waiting_and_running
from tui.shell.bars import is_conversation_visible
from tui.shell.selection import Selection
from tui.terminal import notifications

if TYPE_CHECKING:
    from model.domain.sessions import Session
    from tui.store.mirror import Change


class Notifier:
    """Follows the mirror and notifies the user of waiting and finished sessions."""

    def __init__(self, screen: Selection) -> None:
        self._screen = screen
        self._title = ""

    def follow(self, change: "Change") -> None:
        """Notify of sessions that wait or ended; not after the state was reloaded."""
        for event in change.events:
            if isinstance(event, NoticesSent) and event.channel == "terminal":
                self._show_on_desktop(event)
        if change.is_only_text and not any(isinstance(ev, SessionWaiting) for ev in change.events):
            return
        self._update_title(change)
        if change.loaded:
            return
        preferences = change.state.preferences
        for event in change.events:
            if isinstance(event, SessionWaiting) and event.waiting_for is not None:
                session = change.state.sessions.get(event.session_id)
                if session is not None:
                    message = f"needs you: {event.waiting_for}"
                    self._notify(session, message, rings=preferences.waiting_sound != "none")
        for session in _finished_sessions(change):
            message = {"failed": "failed", "paused": "is paused"}.get(
                session.status, "has finished"
            )
            self._notify(session, message, rings=preferences.review_sound != "none")

    def _notify(self, session: "Session", message: str, *, rings: bool) -> None:
        screen = self._screen
        app, name = screen.app, clean_line(session.name)
        if app.app_focus and self._is_visible(session):
            return
        if not self._is_visible(session):
            key = screen.key_of("next_waiting")
            screen.say(f"'{name}' {message} ({key})")
        if rings:
            app.bell()

    def _show_on_desktop(self, event: NoticesSent) -> None:
        """Show a notice by the terminal, unless the user is at it.

        tmux reports no focus events unless configured to, so `app_focus` cannot be trusted there.
        """
        terminal, is_test = self._screen.terminal, not event.notice_ids
        if is_test:
            self._screen.say(f"{event.title}. {event.text}")
        elif event.undone or (self._screen.app.app_focus and not terminal.tmux):
            return
        text = ": ".join(filter(None, (event.title, event.text)))
        self._screen.application.write(
            notifications.notification_sequence(
                terminal.notification_protocol, "Spinney", text, tmux=terminal.tmux
            )
        )

    def _is_visible(self, session: "Session") -> bool:
        return is_conversation_visible(self._screen) and session.id == self._screen.chat.session_id

    def _update_title(self, change: "Change") -> None:
        """Show the counts of waiting and running sessions in the terminal's title, if changed."""
        screen = self._screen
        if not screen.terminal.has_title:
            return
        waiting, running = count_waiting_and_running(change.state)
        parts = [f"{waiting} need you"] if waiting else []
        parts += [f"{running} running"] if running else []
        title = " · ".join([*parts, "Spinney"])
        if title != self._title:
            screen.application.write(
                ("" if self._title else notifications.SAVE_TITLE)
                + notifications.title_sequence(title)
            )
            self._title = title

    def close(self) -> None:
        """Restore the terminal's title."""
        if self._title:
            self._screen.application.write(notifications.RESTORE_TITLE)


def _finished_sessions(change: "Change") -> "Iterator[Session]":
    """Sessions whose run ended by itself, not because the user stopped it.

    Of those that pause at the same limit, the first one stands for all.
    """
    for key in sorted(change.sessions):
        before, now = change.before.sessions.get(key), change.state.sessions.get(key)
        if before is None or now is None or now.archived_at is not None:
            continue
        was_active, has_ended = before.is_active, now.status in ("idle", "failed", "paused")
        is_joined = now.status == "paused" and now.pause is not None and now.pause.is_joined
        was_stopped = now.last_run is not None and now.last_run.status == "cancelled"
        if was_active and has_ended and not (was_stopped or is_joined):
            yield now
