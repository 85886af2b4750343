"""What the tree knows of everything, shown or not: what is below each place, names and marks.

Rows exist only where somebody can see them, so that thousands of sessions cost nothing until they
are unfolded. The index is made anew when something comes, goes or moves; marks are always asked of
the state.
"""

from typing import TYPE_CHECKING

from tui.draw.status_icons import Mark, mark_of, mark_of_worktree
from tui.store.places import Place
from tui.tree.filter import Found, Outline
from tui.tree.rows import Children, children, name_of

if TYPE_CHECKING:
    from model.state import State

SMALL = 120
"""Rows up to which everything is unfolded at first."""
MOST_FOUND = 120
"""Rows that a filter shows at most; more are counted, and found by one letter more."""


class TreeIndex:
    """The places below each place, in one state."""

    def __init__(self, state: "State") -> None:
        self.state = state
        """The newest one; what stands where is that of when the index was made."""
        self.below: Children = children(state)
        self.is_small = sum(map(len, self.below.values())) <= SMALL
        """Whether all rows together are few; asked for each row that is unfolded."""
        self._outline: Outline | None = None

    def under(self, place: Place) -> list[Place]:
        """What is directly below a place."""
        return self.below.get(place, [])

    def above(self, place: Place) -> list[Place]:
        """What holds the place, from the outermost in; without the root."""
        state, found = self.state, list[Place]()
        if place.kind == "session" and (session := state.sessions.get(place.id)) is not None:
            place = Place("worktree", session.worktree_id)
            found.append(place)
        if place.kind == "worktree" and (worktree := state.worktrees.get(place.id)) is not None:
            place = Place("project", worktree.project_id)
            found.append(place)
        while (project := state.projects.get(place.id)) is not None and project.parent_id:
            place = Place("project", project.parent_id)
            if place in found or place.id not in state.projects:
                break
            found.append(place)
        return found[::-1]

    def mark(self, place: Place) -> Mark:
        """The strongest mark of a place and of all below it."""
        if place.kind == "session":
            session = self.state.sessions.get(place.id)
            return mark_of(session) if session is not None else Mark.IDLE
        if place.kind == "worktree":
            worktree = self.state.worktrees.get(place.id)
            known = self.state.sessions
            sessions = (known[p.id] for p in self.under(place) if p.id in known)
            return mark_of_worktree(worktree, sessions) if worktree is not None else Mark.IDLE
        return max(map(self.mark, self.under(place)), default=Mark.IDLE)

    def find(self, text: str) -> Found:
        """The places whose names hold the text."""
        return self.outline().find(text, MOST_FOUND)

    def outline(self) -> Outline:
        """All names; made once, and best before the first letter is typed."""
        if self._outline is None:
            self._outline = Outline.of(self.below, lambda place: name_of(place, self.state))
        return self._outline
