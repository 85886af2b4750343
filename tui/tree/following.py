"""A tree whose rows follow the state.

Rows are looked up by place and updated in place; the tree is never cleared.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rich.text import Text

from tui.store.places import ROOT, Place
from tui.tree.filter import FilterResult
from tui.tree.index import TreeIndex
from tui.tree.paint import Node, PaintedTree, is_turning
from tui.tree.rows import Clock, Part, Row, SavedRow, parents_of_moved, row_parts

if TYPE_CHECKING:
    from tui.store.mirror import Change

_ACTIVITY_EVENTS = frozenset(
    {"content-delta", "message-block", "message-started", "tool-running", "tool-use"}
)
"""Events after which a session may do something else than before."""


class FollowingTree(PaintedTree):
    """The rows of the state's projects, worktrees and sessions, below those that are expanded."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.index: TreeIndex | None = None
        self._found: FilterResult | None = None
        self.folds: dict[Place, bool] = {}
        """Rows that the user expanded or collapsed; they may not exist any more."""
        self._pending_place: Place | None = None
        """The cursor's place after the next refresh."""
        self._clock = Clock()

    # Startup ------------------------------------------------------------------------------------

    def restore(self, rows: Iterable[SavedRow], expansion_state: Mapping[Place, bool]) -> None:
        """Show saved rows until the first state arrives."""
        self.folds = dict(expansion_state)
        stack = [self.root]
        for row in rows:
            del stack[max(1, row.depth + 1) :]
            if row.place not in self.row_nodes:
                if row.place.kind != "session":
                    self.folds[row.place] = row.is_open
                node = self._add(stack[-1], row.place, len(stack[-1].children))
                self._set_row(node, row.parts, row.has_children)
                stack.append(node)

    # Updates ------------------------------------------------------------------------------------

    def follow(self, change: "Change") -> None:
        """Update the affected rows."""
        before, state = change.before, change.state
        if change.is_only_text and self.index is not None:
            self.index.state = state
            self._redraw_activities(change)
            return
        moved = parents_of_moved(change)
        if self.index is None or change.loaded or change.projects or moved:
            self.index = TreeIndex(state)
            if self._numbers is not None:
                self.show_numbers()
        self.index.state = state
        if change.loaded or change.projects or self.filter:
            self._sync_all()
            return
        for parent in moved:
            self._sync_children(parent)
        self._keep_cursor()
        sessions = (state.sessions.get(key) or before.sessions.get(key) for key in change.sessions)
        worktrees = {session.worktree_id for session in sessions if session is not None}
        self._redraw(
            *(Place("session", key) for key in change.sessions),
            *(Place("worktree", key) for key in change.worktrees | worktrees),
        )

    def _redraw_activities(self, change: "Change") -> None:
        """Redraw the rows of sessions that do something else now, without their ancestors."""
        assert self.index is not None
        from model.domain.tool_uses import find_activity  # needs pydantic

        sessions = {
            event.related_session_id for event in change.events if event.name in _ACTIVITY_EVENTS
        }
        for key in filter(None, sessions):
            message = change.state.streaming_in(key)
            activity = find_activity(message) if message is not None else None
            if not self._clock.is_known(key, activity):
                node = self.row_nodes.get(self.index.row_of(Place("session", key)))
                if node is not None:
                    self._draw(node)

    def redraw_ages(self) -> None:
        """Update the ages of the rows that exist."""
        if self.index is not None:
            for node in list(self.row_nodes.values()):
                if node is not self.root:
                    self._draw(node)

    def show_numbers(self) -> None:
        """Number the first sessions from now on."""
        before = self._numbers or {}
        self._numbers = self.index.number_rows() if self.index is not None else {}
        for place, _ in before.items() ^ self._numbers.items():
            if (node := self.row_nodes.get(place)) is not None:
                self._refresh_row(node)

    def _keep_cursor(self) -> None:
        """Move the cursor to the row of what it was on, if that is another one now."""
        place, index = self.place, self.index
        if place is None or index is None:
            return
        if (row := index.row_of(place)) != place:
            self.call_after_refresh(self._move_to, row)

    def _redraw(self, *places: Place) -> None:
        """Redraw these rows and their ancestors, whose icons may have changed."""
        assert self.index is not None
        ancestors = {holder for place in places for holder in self.index.ancestors_of(place)}
        # A session that shares the row of its worktree is drawn as one of its ancestors.
        for place in ancestors.union(places):
            if (node := self.row_nodes.get(place)) is not None:
                self._draw(node)

    def _sync_all(self) -> None:
        """Sync every row with the state and the filter."""
        assert self.index is not None
        self._found = self.index.find(self.filter) if self.filter else None
        self._sync_children(ROOT)

    def _sync_children(self, parent: Place) -> None:
        """Sync a node's children with the state; collapsed nodes have none."""
        node = self.row_nodes.get(parent)
        if node is None or self.index is None:
            return
        wanted: list[Place] = []
        if node is self.root or node.is_expanded:
            wanted = self.index.children_of(parent)
            if self._found is not None:
                wanted = [place for place in wanted if place in self._found.shown]
        self._set_children(node, wanted)
        for place in wanted:
            if place.kind == "session":
                self._draw(self.row_nodes[place])
            else:
                self._sync_children(place)
        if node is not self.root:
            self._draw(node)

    def _set_children(self, node: Node, wanted: list[Place]) -> list[Node]:
        """Make the node's children exactly `wanted`, changing only what differs."""
        present = [child.data.place for child in node.children if child.data is not None]
        if present == wanted:
            return []
        kept = set(wanted)
        for child in list(node.children):
            if child.data is not None and child.data.place not in kept:
                self._remove(child)
        new = []
        for position, place in enumerate(wanted):
            known = self.row_nodes.get(place)
            if known is not None and known.parent is node:
                if node.children[position] is known:
                    continue
                self._remove(known)
            elif known is not None:
                self._remove(known)
            new.append(self._add(node, place, position))
        return new

    def _add(self, parent: Node, place: Place, position: int) -> Node:
        node = parent.add(
            Text(" "),
            Row(place),
            before=position if position < len(parent.children) else None,
            expand=place.kind != "session" and self._should_expand(place),
            allow_expand=place.kind != "session",
        )
        self.row_nodes[place] = node
        return node

    def _remove(self, node: Node) -> None:
        for child in list(node.children):
            self._remove(child)
        if node.data is not None:
            self.row_nodes.pop(node.data.place, None)
            self._working.discard(node.data.place)
        node.remove()

    # Rendering ----------------------------------------------------------------------------------

    @property
    def _has_few_rows(self) -> bool:
        return self.index is not None and self.index.is_small

    @property
    def expansion_state(self) -> dict[Place, bool]:
        """Rows whose expansion differs from the default, also if they do not exist any more."""
        few, states = self._has_few_rows, self.folds.items()
        return {place: is_open for place, is_open in states if place != ROOT and is_open != few}

    def _should_expand(self, place: Place) -> bool:
        """Whether to expand a row: as the user left it, by default if the tree is small."""
        return bool(self.filter) or self.folds.get(place, self._has_few_rows)

    def _draw(self, node: Node) -> None:
        row, index = node.data, self.index
        assert row is not None and index is not None
        row.icon = index.icon_of(row.place)
        holds = bool(index.children_of(row.place))
        parts = tuple(
            row_parts(row, index.state, index.single, self._clock, folded=not node.is_expanded)
        )
        if (parts, holds) != (row.parts, row.has_children):
            self._set_row(node, parts, holds)
            if any(is_turning(*part) for part in parts):
                self._working.add(row.place)
                self.wake()
            else:
                self._working.discard(row.place)

    def _set_row(self, node: Node, parts: tuple[Part, ...], holds: bool) -> None:
        assert node.data is not None
        node.data.parts, node.data.has_children = parts, holds
        self._refresh_row(node)

    # The cursor -----------------------------------------------------------------------------------

    def move_cursor_to(self, place: Place, *, expand: bool = True) -> None:
        """Move the cursor to this row, and expand its ancestors.

        Without `expand`, rows that the user collapsed stay collapsed, and the cursor moves to the
        outermost of them.
        """
        if self.index is None:
            return
        place = self.index.row_of(place)
        for holder in self.index.ancestors_of(place):
            node = self.row_nodes.get(holder)
            if node is not None and not node.is_expanded:
                if not expand and not self.folds.get(holder, True):
                    place = holder
                    break
                node.expand()
                self._sync_children(holder)
        if place in self.row_nodes:
            self.call_after_refresh(self._move_to, place)

    def _move_to(self, place: Place) -> None:
        self._pending_place = None
        if place in self.row_nodes:
            self.move_cursor(self.row_nodes[place])

    @property
    def place(self) -> Place | None:
        """The place under the cursor."""
        node = self.cursor_node
        return node.data.place if node is not None and node.data is not None else None
