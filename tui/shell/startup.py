"""The main screen between the first frame and the first state.

The tree shows the rows of the last run until the first state replaces them. Keys are held until
the widget that they are meant for exists.
"""

import asyncio
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import events

from model.base.errors import SpinneyError
from tui.draw.status_icons import list_needing_attention
from tui.shell import startup_snapshot
from tui.shell.selection import Selection
from tui.shell.startup_snapshot import Snapshot
from tui.shell.type_ahead import Typed
from tui.store.places import Place, find_project_id, get_project, is_shown, list_shown_sessions
from tui.tree.rows import SavedRow, depth_of, walk
from tui.tree.widget import ProjectTree

if TYPE_CHECKING:
    from model.domain.sessions import Session
    from model.state import State

SAVE_INTERVAL: Final = 60.0
"""Seconds between saves of a changed screen, which survive if Spinney is killed."""
SAVE_DELAY: Final = 2.0
"""Seconds after which a newly opened session is saved."""

_HELD_KEYS: Final = {"enter", "backspace", "delete", "up", "down", "left", "right", "home", "end"}
"""Keys, besides letters, that are held until startup is over."""


class Startup:
    """Restores the tree from `file`, and saves it there for the next start."""

    def __init__(self, screen: Selection, file: Path | None) -> None:
        self._screen = screen
        self._file = file
        self.last = startup_snapshot.read(file) if file is not None else Snapshot()
        self.is_over = False
        """Whether the first state has been shown."""
        self.chosen: Place | None = None
        """A row that was opened before the first state arrived."""
        self._early_keys: list[Typed] | None = []
        self._is_saved = True

    # At the start -------------------------------------------------------------------------------

    def tree(self) -> ProjectTree:
        """Return the tree with the rows of the last run."""
        tree = ProjectTree(id="tree")
        tree.moves = self._screen.terminal.motion
        tree.restore(self.last.rows, self.last.folds)
        self._screen.recent_sessions = list(self.last.recent_sessions)
        self._screen.tree_width = self.last.tree_width
        self._screen.side_wanted = self.last.side_wanted
        self._screen.task_choices = dict(self.last.task_choices)
        self._screen.seen_release = self.last.seen_release
        return tree

    def hold_key(self, event: events.Key) -> None:
        """Hold a key that no widget can handle yet."""
        if self._early_keys is not None and _can_be_held(event):
            self._early_keys.append(event.copy())
            event.stop()
            event.prevent_default()

    def hold_early(self, event: Typed) -> bool:
        """Hold input before it is dispatched, so that it is neither overtaken nor lost."""
        screen = self._screen
        if (
            self._early_keys is None
            or not _can_be_held(event)
            or screen.app.screen is not screen
            or isinstance(screen.focused, ProjectTree)
        ):
            return False
        if (self.is_over or screen.place is not None) and not self._early_keys:
            return False
        self._early_keys.append(event)
        return True

    def open_first(self, state: "State") -> None:
        """Open the only session or the last one, or focus the tree; called at the first state."""
        if not self.is_over:
            self._open(state)
            self.is_over = True

    def _open(self, state: "State") -> None:
        screen = self._screen
        if self.chosen is not None and is_shown(self.chosen, state):
            screen.open_place(self.chosen)
            return
        here = find_project_id(state, screen.offered)
        sessions = list_shown_sessions(state, here)
        if here is not None and not sessions:
            self._point_at(Place("project", here))
            return
        if not sessions or (here is None and screen.offered is not None):
            self._early_keys = None  # Nothing on the screen could have been their target.
            return
        if not self.last.session_id and (empty := self._find_empty_worktree(state)) is not None:
            screen.open_place(empty)  # The draft of its first message may be there.
            return
        last = self._last_of(sessions, is_elsewhere=here is not None)
        if last is not None and self.last.position is not None:
            screen.chat.first_position = (self.last.session_id, *self.last.position)
        if last is None and (len(sessions) == 1 or state.preferences.restore_last_session):
            last = sessions[0]
        if last is not None:
            is_in_tree = screen.has_class("tree-open")
            screen.open_session(last.id)
            self._point_above(last, state)
            if is_in_tree:  # opened meanwhile, so keys are meant for it
                screen.add_class("tree-open")
                screen.projects.focus()
            return
        first = next(iter(list_needing_attention(state)), sessions[0])
        self._point_at(self._pointed(state) or Place("session", first.id))

    def _last_of(self, sessions: "list[Session]", *, is_elsewhere: bool) -> "Session | None":
        """Return the session that was open, or, in another project, the last one opened there."""
        shown = {session.id: session for session in sessions}
        known = (self.last.session_id, *(self.last.recent_sessions if is_elsewhere else ()))
        return next((shown[key] for key in known if key in shown), None)

    def _point_at(self, place: Place) -> None:
        screen = self._screen
        screen.projects.move_cursor_to(place, expand=False)
        screen.add_class("tree-open")
        screen.call_after_refresh(screen.projects.focus)

    def _point_above(self, session: "Session", state: "State") -> None:
        """Restore the cursor if it was on the session's worktree or project."""
        worktree, at = state.worktrees[session.worktree_id], self.last.pointed
        above = (Place("worktree", worktree.id), Place("project", worktree.project_id))
        if at in above:
            self._screen.projects.move_cursor_to(at, expand=False)

    def _pointed(self, state: "State") -> Place | None:
        """Return the row that the cursor was on, if it still exists in the current project."""
        place, here = self.last.pointed, find_project_id(state, self._screen.offered)
        if place is None or not is_shown(place, state):
            return None
        project = get_project(place, state)
        return place if here is None or (project is not None and project.id == here) else None

    def _find_empty_worktree(self, state: "State") -> Place | None:
        """Return the worktree that the cursor was on, if it has no session."""
        place = self._pointed(state)
        is_empty = place is not None and not state.sessions_of(place.id)
        return place if place is not None and place.kind == "worktree" and is_empty else None

    def release_keys(self) -> None:
        """Release the held keys once the focus has its final position."""
        if not self.is_over or self._early_keys is None:
            return
        early, self._early_keys = self._early_keys, None
        # As if from the keyboard, and before keys that were typed since.
        self._screen.application.type_ahead.put_first(early)
        self._screen.application.type_ahead.release()

    # For the next start -------------------------------------------------------------------------

    def mark_changed(self) -> None:
        """Note that the screen differs from the saved one."""
        self._is_saved = False

    def save_soon(self) -> None:
        """Save soon, so that a killed Spinney reopens the session that was just opened."""
        self.mark_changed()
        if self._file is not None and self.is_over:
            self._screen.set_timer(SAVE_DELAY, self.save_if_changed)

    async def save_if_changed(self) -> None:
        """Write the snapshot if the screen has changed."""
        if (
            not (self._is_saved and self._position == self.last.position)
            and self._file is not None
            and (snapshot := self._take_snapshot()) is not None
        ):
            self._is_saved = True
            await asyncio.to_thread(_write, self._file, snapshot)

    def save_now(self) -> None:
        """Write the snapshot before the screen closes."""
        if self._file is not None and (snapshot := self._take_snapshot()) is not None:
            _write(self._file, snapshot)

    def _take_snapshot(self) -> Snapshot | None:
        screen = self._screen
        if not screen.is_connected or screen.mirror.lost is not None or not self.is_over:
            return None
        state, tree = screen.state, screen.projects
        folds = {
            place: is_open
            for place, is_open in tree.expansion_state.items()
            if is_shown(place, state)
        }
        self.last = Snapshot(
            state.preferences.theme,
            # A filtered tree is not worth restoring.
            self.last.rows if tree.filter else self._rows(),
            folds,
            tree.place,
            screen.session.id if screen.session is not None else "",
            tuple(screen.recent_sessions),
            screen.tree_width,
            screen.side_wanted,
            dict(screen.task_choices),
            self._position,
            screen.seen_release,
        )
        return self.last

    @property
    def _position(self) -> tuple[str, int] | None:
        chat = self._screen.chat
        is_open = chat.transcript is not None and self._screen.session is not None
        return chat.transcript.position if is_open and chat.transcript is not None else None

    def _rows(self) -> tuple[SavedRow, ...]:
        return tuple(
            SavedRow(depth_of(node), row.place, row.parts, node.is_expanded, row.has_children)
            for node in islice(walk(self._screen.projects.root), 1, startup_snapshot.MAX_ROWS + 1)
            if (row := node.data) is not None
        )


def _can_be_held(event: Typed) -> bool:
    return isinstance(event, events.Paste) or event.is_printable or event.key in _HELD_KEYS


def _write(file: Path, snapshot: Snapshot) -> None:
    try:
        startup_snapshot.write(file, snapshot)
    except SpinneyError:
        pass  # The next start briefly shows an older tree, or none.
