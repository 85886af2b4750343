"""Tells a person who looks elsewhere that a session needs them or has ended.

By a word on the screen, the terminal's bell, a notification of the desktop and the terminal's
title; never for the session that they see.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from model.base.text import clean_line
from model.domain import events as e
from tui.draw.status_icons import counts
from tui.shell.bars import is_in_sight
from tui.shell.selection import Selection
from tui.terminal import notifications

if TYPE_CHECKING:
    from model.domain.resources import Session
    from tui.store.mirror import Change


class Notifier:
    """Follows the mirror beside the main screen."""

    def __init__(self, screen: Selection) -> None:
        self._screen = screen
        self._title = ""

    def follow(self, change: "Change") -> None:
        """Tell what needs a person or ended; a state that is read anew is no news."""
        if change.is_only_text and not any(
            isinstance(ev, e.SessionWaiting) for ev in change.events
        ):
            return
        self._entitle(change)
        if change.loaded:
            return
        preferences = change.state.preferences
        for event in change.events:
            if isinstance(event, e.SessionWaiting) and event.waiting_for is not None:
                session = change.state.sessions.get(event.session_id)
                if session is not None:
                    words = f"needs you: {event.waiting_for}"
                    self._tell(session, words, rings=preferences.waiting_sound != "none")
        for session in _ended(change):
            words = "failed" if session.status == "failed" else "has finished"
            self._tell(session, words, rings=preferences.review_sound != "none")

    def _tell(self, session: "Session", words: str, *, rings: bool) -> None:
        screen = self._screen
        app, name = screen.app, clean_line(session.name)
        if app.app_focus and self._is_seen(session):
            return
        if not self._is_seen(session):
            key = screen.key_of("next_waiting")
            screen.say(f"“{name}” {words} ({key})")
        if rings:
            app.bell()
        # tmux says nothing of the focus unless it is told to, so who is away is not known there.
        if not app.app_focus or screen.terminal.tmux:
            terminal = screen.terminal
            screen.application.write(
                notifications.notification(
                    terminal.notes, "Spinney", f"{name} {words}", tmux=terminal.tmux
                )
            )

    def _is_seen(self, session: "Session") -> bool:
        return is_in_sight(self._screen) and session.id == self._screen.chat.session_id

    def _entitle(self, change: "Change") -> None:
        """Name in the terminal's title who needs one; written only when that is another."""
        screen = self._screen
        if not screen.terminal.titled:
            return
        waiting, running = counts(change.state)
        words = [f"{waiting} need you"] if waiting else []
        words += [f"{running} running"] if running else []
        title = " · ".join([*words, "Spinney"])
        if title != self._title:
            screen.application.write(
                ("" if self._title else notifications.TITLE_KEPT) + notifications.title(title)
            )
            self._title = title

    def close(self) -> None:
        """Give the terminal its title back."""
        if self._title:
            self._screen.application.write(notifications.TITLE_BACK)


def _ended(change: "Change") -> "Iterator[Session]":
    """Sessions whose run came to its own end: not by a person's stop."""
    for key in sorted(change.sessions):
        before, now = change.before.sessions.get(key), change.state.sessions.get(key)
        if before is None or now is None or now.archived_at is not None:
            continue
        ran, rests = before.is_active, now.status in ("idle", "failed")
        stopped = now.last_run is not None and now.last_run.status == "cancelled"
        if ran and rests and not stopped:
            yield now
