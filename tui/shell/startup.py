"""The main screen between the first frame and the first state.

The tree shows the rows of the last run, which the first state replaces where they differ. Keys are
kept until there is something to take them.
"""

import asyncio
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import events

from model.base.errors import SpinneyError
from tui.draw.status_icons import in_need
from tui.shell import startup_snapshot
from tui.shell.selection import Selection
from tui.shell.startup_snapshot import Snapshot
from tui.store.places import Place, is_project, is_shown, project_of, shown_sessions
from tui.tree.rows import SavedRow, depth_of, walk
from tui.tree.widget import ProjectTree

if TYPE_CHECKING:
    from model.domain.resources import Session
    from model.state import State

EVERY: Final = 60.0
"""Seconds after which a screen that has changed is kept: what a killed Spinney shows again."""
SOON: Final = 2.0
"""Seconds after which the session that was opened is kept."""

_KEPT: Final = {"enter", "backspace", "delete", "up", "down", "left", "right", "home", "end"}
"""Keys, besides letters, that are kept until there is something that takes them."""


class Startup:
    """Restores the tree from `file`, and saves it there for the next start."""

    def __init__(self, screen: Selection, file: Path | None) -> None:
        self._screen = screen
        self._file = file
        self.last = startup_snapshot.read(file) if file is not None else Snapshot()
        self.is_over = False
        """Whether the first state has been shown: until then the tree is left as it was."""
        self.chosen: Place | None = None
        """A row that was opened before its place was known."""
        self._early: list[events.Key] | None = []
        self._is_kept = True

    # At the start -------------------------------------------------------------------------------

    def tree(self) -> ProjectTree:
        """The tree with the rows that it had last."""
        tree = ProjectTree(id="tree")
        tree.restore(self.last.rows, self.last.folds)
        return tree

    def keep_key(self, event: events.Key) -> None:
        """Take a key that nobody can take yet."""
        if self._early is not None and _can_be_kept(event):
            self._early.append(event.copy())
            event.stop()
            event.prevent_default()

    def holds_back(self, event: events.Event) -> bool:
        """Keep a key before it goes anywhere: on its way it could be overtaken, or end nowhere."""
        screen = self._screen
        if (
            self._early is None
            or not isinstance(event, events.Key)
            or not _can_be_kept(event)
            or screen.app.screen is not screen
            or isinstance(screen.focused, ProjectTree)
        ):
            return False
        if (self.is_over or screen.place is not None) and not self._early:
            return False
        self._early.append(event)
        return True

    def begin(self, state: "State") -> None:
        """At the first state: open the only session or the last one, or let the keys choose."""
        if not self.is_over:
            self._open(state)
            self.is_over = True

    def _open(self, state: "State") -> None:
        screen = self._screen
        if self.chosen is not None and is_shown(self.chosen, state):
            screen.open_place(self.chosen)
            return
        here = is_project(state, screen.offered)
        sessions = shown_sessions(state, here)
        if here is not None and not sessions:
            self._point_at(Place("project", here))
            return
        if not sessions or (here is None and screen.offered is not None):
            self._early = None  # There is nothing that they could have been meant for.
            return
        left = next((session for session in sessions if session.id == self.last.session_id), None)
        if left is None and (len(sessions) == 1 or state.preferences.restore_last_session):
            left = sessions[0]
        if left is not None:
            is_in_tree = screen.has_class("tree-open")
            screen.open_session(left.id)
            self._point_above(left, state)
            if is_in_tree:  # opened meanwhile: what is pressed now is meant for it
                screen.add_class("tree-open")
                screen.projects.focus()
            return
        first = next(iter(in_need(state)), sessions[0])
        self._point_at(self._pointed(state) or Place("session", first.id))

    def _point_at(self, place: Place) -> None:
        screen = self._screen
        screen.projects.point_at(place, unfold=False)
        screen.add_class("tree-open")
        screen.call_after_refresh(screen.projects.focus)

    def _point_above(self, session: "Session", state: "State") -> None:
        """Put the cursor where it was, if that is on what holds the session; else it is on it."""
        worktree, at = state.worktrees[session.worktree_id], self.last.pointed
        above = (Place("worktree", worktree.id), Place("project", worktree.project_id))
        if at in above:
            self._screen.projects.point_at(at, unfold=False)

    def _pointed(self, state: "State") -> Place | None:
        """The row that the cursor was on, if it is still there and of the project one is in."""
        place, here = self.last.pointed, is_project(state, self._screen.offered)
        if place is None or not is_shown(place, state):
            return None
        project = project_of(place, state)
        return place if here is None or (project is not None and project.id == here) else None

    def focused(self) -> None:
        """The focus has moved: hand on what was typed, if it is where it will stay."""
        if not self.is_over or self._early is None:
            return
        early, self._early = self._early, None
        # As from the keyboard, and before what was typed since.
        self._screen.application.type_ahead.put_first(early)
        self._screen.application.type_ahead.look()

    # For the next start -------------------------------------------------------------------------

    def changed(self) -> None:
        """The screen is not what was kept any more."""
        self._is_kept = False

    def keep_soon(self) -> None:
        """Another session was opened: what is killed from now on shows that one again."""
        self.changed()
        if self._file is not None and self.is_over:
            self._screen.set_timer(SOON, self.keep)

    async def keep(self) -> None:
        """Write the screen down, if it has changed."""
        if not self._is_kept and self._file is not None and (taken := self._take()) is not None:
            self._is_kept = True
            await asyncio.to_thread(_write, self._file, taken)

    def keep_at_once(self) -> None:
        """Write the screen down before it goes."""
        if self._file is not None and (taken := self._take()) is not None:
            _write(self._file, taken)

    def _take(self) -> Snapshot | None:
        screen = self._screen
        if not screen.is_connected or screen.mirror.lost is not None or not self.is_over:
            return None
        state, tree = screen.state, screen.projects
        folds = {place: is_open for place, is_open in tree.folds.items() if is_shown(place, state)}
        self.last = Snapshot(
            state.preferences.theme,
            # What a filter leaves is no tree that one wants to find again.
            self.last.rows if tree.filter else self._rows(),
            folds,
            tree.place,
            screen.session.id if screen.session is not None else "",
        )
        return self.last

    def _rows(self) -> tuple[SavedRow, ...]:
        return tuple(
            SavedRow(depth_of(node), row.place, row.parts, node.is_expanded, row.holds)
            for node in islice(walk(self._screen.projects.root), 1, startup_snapshot.MOST_ROWS + 1)
            if (row := node.data) is not None
        )


def _can_be_kept(event: events.Key) -> bool:
    return event.is_printable or event.key in _KEPT


def _write(file: Path, taken: Snapshot) -> None:
    try:
        startup_snapshot.write(file, taken)
    except SpinneyError:
        pass  # The next start shows an older screen, or none, for a moment.
