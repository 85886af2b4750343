"""An index of the whole tree, expanded or not: children, names and status icons.

Rows exist only below expanded nodes, so thousands of collapsed sessions cost nothing. The index is
rebuilt when something is added, removed or moved; icons are always computed from the state.
"""

from typing import TYPE_CHECKING

from tui.draw.status_icons import StatusIcon, session_icon, worktree_icon
from tui.store.places import Place
from tui.tree.filter import FilterResult, Outline
from tui.tree.rows import get_name, group_children, list_session_ids

if TYPE_CHECKING:
    from model.state import State

MAX_EXPANDED_ROWS = 120
"""Trees of at most this many rows are expanded initially."""
MAX_NUMBERED = 9
"""Sessions with a number, which a digit opens."""
MAX_FOUND = 120
"""Rows that a filter shows; more matches are only counted."""


class TreeIndex:
    """The children of each place, for one state."""

    def __init__(self, state: "State") -> None:
        self.state = state
        """The newest state; the structure is that of when the index was built."""
        self.children, self.single = group_children(state)
        """The children of each place, and the session of each worktree that has only one: both
        are one row.
        """
        self.is_small = sum(map(len, self.children.values())) <= MAX_EXPANDED_ROWS
        """Whether the tree is small enough to be expanded; cached for each expanded row."""
        self._outline: Outline | None = None
        self._session_ids: list[str] | None = None

    def children_of(self, place: Place) -> list[Place]:
        """The places directly below a place."""
        return self.children.get(place, [])

    def row_of(self, place: Place) -> Place:
        """The place whose row shows this one: the worktree of its only session, or itself."""
        session = self.state.sessions.get(place.id) if place.kind == "session" else None
        if session is not None and self.single.get(session.worktree_id) == session.id:
            return Place("worktree", session.worktree_id)
        return place

    def ancestors_of(self, place: Place) -> list[Place]:
        """The ancestors of a place, outermost first, without the root."""
        state, ancestors = self.state, list[Place]()
        if place.kind == "session" and (session := state.sessions.get(place.id)) is not None:
            place = Place("worktree", session.worktree_id)
            ancestors.append(place)
        if place.kind == "worktree" and (worktree := state.worktrees.get(place.id)) is not None:
            place = Place("project", worktree.project_id)
            ancestors.append(place)
        while (project := state.projects.get(place.id)) is not None and project.parent_id:
            place = Place("project", project.parent_id)
            if place in ancestors or place.id not in state.projects:
                break
            ancestors.append(place)
        return ancestors[::-1]

    def icon_of(self, place: Place) -> StatusIcon:
        """The most urgent status icon of a place and everything below it."""
        if place.kind == "session":
            session = self.state.sessions.get(place.id)
            return session_icon(session) if session is not None else StatusIcon.IDLE
        if place.kind == "worktree":
            worktree = self.state.worktrees.get(place.id)
            known = self.state.sessions
            ids = [self.single[place.id]] if place.id in self.single else []
            ids += [child.id for child in self.children_of(place)]
            sessions = (known[session_id] for session_id in ids if session_id in known)
            return worktree_icon(worktree, sessions) if worktree is not None else StatusIcon.IDLE
        return max(map(self.icon_of, self.children_of(place)), default=StatusIcon.IDLE)

    @property
    def session_ids(self) -> list[str]:
        """The ids of all sessions in the order of the tree, cached."""
        if self._session_ids is None:
            self._session_ids = list_session_ids(self.children, self.single)
        return self._session_ids

    def number_rows(self) -> dict[Place, int]:
        """The numbers of the rows of the first sessions."""
        first = self.session_ids[:MAX_NUMBERED]
        return {self.row_of(Place("session", key)): n for n, key in enumerate(first, 1)}

    def find(self, text: str) -> FilterResult:
        """The places whose names contain the text."""
        return self.outline().find(text, MAX_FOUND)

    def outline(self) -> Outline:
        """The outline for filtering, cached; best built before the first letter is typed."""
        if self._outline is None:
            self._outline = Outline.of(
                self.children, lambda place: get_name(place, self.state, self.single)
            )
        return self._outline
