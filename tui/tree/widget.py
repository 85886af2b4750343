"""The tree on the left: projects, worktrees and sessions, each with one mark.

Rows are found by key and changed in place; the tree is never cleared. Labels are composed while
they are drawn, from plain text and roles, so that no name can ever be read as markup. Letters
that are typed here filter the rows.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from rich.text import Text
from textual import events, on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from themes.contrast import readable
from tui.draw.status_icons import Mark
from tui.keys import keymap
from tui.store.places import ROOT, Place
from tui.tree.filter import Found, occurrences
from tui.tree.index import TreeIndex
from tui.tree.rows import (
    NAME_ROLES,
    TAIL_ROLES,
    Part,
    Row,
    SavedRow,
    depth_of,
    fitting,
    parents_of_moved,
    row_parts,
    walk,
)

if TYPE_CHECKING:
    from tui.store.mirror import Change

Node = TreeNode[Row]


class ProjectTree(Tree[Row]):
    """Projects, worktrees, sessions."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"project-tree--{role}"
        for role in ("text", "muted", "strong", "match", *TAIL_ROLES, *(m.role for m in Mark))
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        *keymap.bindings("projects"),
        Binding("right", "unfold", show=False),
        Binding("left", "fold", show=False),
    ]

    class Opened(Message):
        """A row was chosen."""

        def __init__(self, place: Place) -> None:
            super().__init__()
            self.place = place

    takes_bursts = True

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(Text(), Row(ROOT), id=id)  # Of a string all emoji would be loaded.
        self.show_root = False
        self.guide_depth = 2
        self.show_guides = False
        self.auto_expand = False
        self._rows: dict[Place, Node] = {ROOT: self.root}
        self._index: TreeIndex | None = None
        self.filter = ""
        """What the rows shown have in their names; empty: all are shown."""
        self._found: Found | None = None
        self._unfolded: dict[Place, bool] = {}
        """How somebody left rows, which may not exist by now."""
        self._came_from: Place | None = None
        """Where the cursor was before the filter."""
        self._moving_to: Place | None = None
        """Where the cursor will be once the rows stand."""

    # Before anything is known -------------------------------------------------------------------

    def restore(self, rows: Iterable[SavedRow], folds: Mapping[Place, bool]) -> None:
        """Show what the rows said last; the first state puts right what is not so any more."""
        self._unfolded = dict(folds)
        above = [self.root]
        for row in rows:
            del above[max(1, row.depth + 1) :]
            if row.place not in self._rows:
                if row.place.kind != "session":
                    self._unfolded[row.place] = row.is_open
                node = self._add(above[-1], row.place, len(above[-1].children))
                self._say(node, row.parts, row.holds)
                above.append(node)

    # What the mirror tells ----------------------------------------------------------------------

    def follow(self, change: "Change") -> None:
        """Change the rows that are concerned."""
        before, state = change.before, change.state
        if change.is_only_text and self._index is not None:
            self._index.state = state
            return
        moved = parents_of_moved(change)
        if self._index is None or change.loaded or change.projects or moved:
            self._index = TreeIndex(state)
        self._index.state = state
        if change.loaded or change.projects or self.filter:
            self._reconcile_all()
            self._entitle()
            return
        for parent in moved:
            self._put_children(parent)
        sessions = (state.sessions.get(key) or before.sessions.get(key) for key in change.sessions)
        worktrees = {session.worktree_id for session in sessions if session is not None}
        self._redraw(
            *(Place("session", key) for key in change.sessions),
            *(Place("worktree", key) for key in change.worktrees | worktrees),
        )

    def _redraw(self, *places: Place) -> None:
        """Draw these rows and what holds them, the mark of which may be another now."""
        assert self._index is not None
        above = {holder for place in places for holder in self._index.above(place)}
        for place in above.union(places):
            if (node := self._rows.get(place)) is not None:
                self._draw(node)

    def _reconcile_all(self) -> None:
        assert self._index is not None
        self._found = self._index.find(self.filter) if self.filter else None
        self._put_children(ROOT)

    def _put_children(self, parent: Place) -> None:
        """Make the rows below a row those that there are; below a folded one there are none."""
        node = self._rows.get(parent)
        if node is None or self._index is None:
            return
        wanted: list[Place] = []
        if node is self.root or node.is_expanded:
            wanted = self._index.under(parent)
            if self._found is not None:
                wanted = [place for place in wanted if place in self._found.shown]
        self._order(node, wanted)
        for place in wanted:
            if place.kind == "session":
                self._draw(self._rows[place])
            else:
                self._put_children(place)
        if node is not self.root:
            self._draw(node)

    def _order(self, node: Node, wanted: list[Place]) -> list[Node]:
        """Make the node's children exactly `wanted`, touching only what differs."""
        present = [child.data.place for child in node.children if child.data is not None]
        if present == wanted:
            return []
        kept = set(wanted)
        for child in list(node.children):
            if child.data is not None and child.data.place not in kept:
                self._forget(child)
        new = []
        for position, place in enumerate(wanted):
            known = self._rows.get(place)
            if known is not None and known.parent is node:
                if node.children[position] is known:
                    continue
                self._forget(known)
            elif known is not None:
                self._forget(known)
            new.append(self._add(node, place, position))
        return new

    def _add(self, parent: Node, place: Place, position: int) -> Node:
        node = parent.add(
            Text(" "),
            Row(place),
            before=position if position < len(parent.children) else None,
            expand=place.kind != "session" and self._is_unfolded(place),
            allow_expand=place.kind != "session",
        )
        self._rows[place] = node
        return node

    def _forget(self, node: Node) -> None:
        for child in list(node.children):
            self._forget(child)
        if node.data is not None:
            self._rows.pop(node.data.place, None)
        node.remove()

    # What is drawn ------------------------------------------------------------------------------

    @property
    def _are_few(self) -> bool:
        return self._index is not None and self._index.is_small

    @property
    def folds(self) -> dict[Place, bool]:
        """How somebody left rows, where they would be otherwise by themselves; gone ones, too."""
        few, left = self._are_few, self._unfolded.items()
        return {place: is_open for place, is_open in left if place != ROOT and is_open != few}

    def _is_unfolded(self, place: Place) -> bool:
        """Whether a row shows what is below it: as somebody left it, or else where rows are few."""
        return bool(self.filter) or self._unfolded.get(place, self._are_few)

    def _draw(self, node: Node) -> None:
        row, index = node.data, self._index
        assert row is not None and index is not None
        row.mark = index.mark(row.place)
        holds = bool(index.under(row.place))
        parts = tuple(row_parts(row, index.state, folded=not node.is_expanded))
        if (parts, holds) != (row.parts, row.holds):
            self._say(node, parts, holds)

    def _say(self, node: Node, parts: tuple[Part, ...], holds: bool) -> None:
        assert node.data is not None
        node.data.parts, node.data.holds = parts, holds
        # The label is what the tree measures; what is drawn comes from the parts.
        node.set_label(Text("".join(text for text, _ in parts) or " "))

    def get_label_width(self, node: Node) -> int:
        """Nothing: rows are as wide as the tree, so that it never scrolls sideways."""
        return 0

    def render_label(self, node: Node, base_style: Style, style: Style) -> Text:
        """The row's parts in the colours of their roles."""
        row = node.data
        folding = "  "
        if row is not None and row.holds:
            folding = "▾ " if node.is_expanded else "▸ "
        on_cursor = node is self.cursor_node
        text = Text(folding, style=style + self._role("muted", on_cursor))
        if node.allow_expand:
            text.stylize(Style(meta={"toggle": True}))
        tail = Text()
        width = self.scrollable_content_region.width - depth_of(node) * self.guide_depth
        for part, role in fitting(row.parts, width - len(folding)) if row else ():
            side = tail if role in TAIL_ROLES or role.startswith("#") else text
            start = len(side)
            side.append(part, style + self._role(role, on_cursor))
            if self.filter and role in NAME_ROLES:
                for first, last in occurrences(self.filter, part):
                    side.stylize(self._role("match", on_cursor), start + first, start + last)
        room = width - tail.cell_len
        text.truncate(max(4, room), overflow="ellipsis")
        text.append(" " * max(0, room - text.cell_len), style)
        return text.append_text(tail)

    def _role(self, role: str, on_cursor: bool) -> Style:
        if role.startswith("#"):
            # People choose any colour; it is moved as far as it must be to be read.
            return Style(color=readable(role, self.styles.background.hex6.lower()))
        found = self.get_component_rich_style(f"project-tree--{role}", partial=True)
        # A cursor's background is made for text; marks keep their colour on it.
        return (
            found.without_color
            if on_cursor and role in ("text", "muted", "strong", "match")
            else found
        )

    # Filtering ----------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Letters filter; with a filter, space is one of them, too."""
        if self._index is None:
            return
        if event.is_printable and event.character and (self.filter or event.character != " "):
            wanted = self.filter + event.character
        elif self.filter and event.key in ("escape", "backspace"):
            wanted = self.filter[:-1] if event.key == "backspace" else ""
        elif event.key == "enter" and self._moving_to is not None:
            # Enter came before the cursor got to the first row found.
            self.post_message(self.Opened(self._moving_to))
            wanted = self.filter
        else:
            return
        event.stop()
        event.prevent_default()
        self.narrow(wanted)

    def on_focus(self) -> None:
        """Letters may be typed from now on."""
        if self._index is not None:
            self._index.outline()

    def on_blur(self) -> None:
        """Who goes elsewhere finds every row again; another window is not elsewhere."""
        place = self.place
        if self.filter and self.app.app_focus:
            self.narrow("")
            if place is not None:
                self.point_at(place)

    def narrow(self, text: str) -> None:
        """Show only rows with this in their names, with what holds them and what they hold."""
        if text == self.filter or self._index is None:
            return
        if not self.filter:
            self._came_from = self.place
            nodes = (n for n in walk(self.root) if n.data is not None and n.allow_expand)
            self._unfolded.update((n.data.place, n.is_expanded) for n in nodes if n.data)
        self.filter = text
        for place, node in self._rows.items():
            if node.allow_expand and place != ROOT:
                node.expand() if self._is_unfolded(place) else node.collapse()
        self._reconcile_all()
        first = self._found.matches[0] if self._found and self._found.matches else self._came_from
        if first is not None and first in self._rows:
            self._moving_to = first
            self.call_after_refresh(self._move_to, first)
        self._entitle()

    def _move_to(self, place: Place) -> None:
        self._moving_to = None
        if place in self._rows:
            self.move_cursor(self._rows[place])

    def _entitle(self) -> None:
        """Name the filter in the frame."""
        count = len(self._found.matches) if self._found is not None else 0
        self.border_title = Content(f"Filter: {self.filter}" if self.filter else "Projects")
        found = f"{count} found" if count else "nothing found"
        self.border_subtitle = Content(f"{found} · esc: all" if self.filter else "")

    # What people do -----------------------------------------------------------------------------

    def point_at(self, place: Place, *, unfold: bool = True) -> None:
        """Put the cursor on this row, and unfold what hides it.

        Without `unfold`, rows that somebody folded stay so, and the cursor goes to the outermost.
        """
        if self._index is None:
            return
        for holder in self._index.above(place):
            node = self._rows.get(holder)
            if node is not None and not node.is_expanded:
                if not unfold and not self._unfolded.get(holder, True):
                    place = holder
                    break
                node.expand()
                self._put_children(holder)
        if place in self._rows:
            self.call_after_refresh(self._move_to, place)

    @property
    def place(self) -> Place | None:
        """Where the cursor is."""
        node = self.cursor_node
        return node.data.place if node is not None and node.data is not None else None

    @property
    def labels(self) -> list[str]:
        """Every row's text from top to bottom, folded ones too."""
        return [
            "".join(text for text, _ in node.data.parts)
            for node in walk(self.root)
            if node.data is not None and node is not self.root
        ]

    def action_unfold(self) -> None:
        """Unfold the row."""
        if self.cursor_node is not None:
            self.cursor_node.expand()

    def action_fold(self) -> None:
        """Fold the row, or go to the one above it."""
        node = self.cursor_node
        if node is None:
            return
        if node.allow_expand and node.is_expanded and node.children:
            node.collapse()
        elif node.parent is not None and node.parent is not self.root:
            self.move_cursor(node.parent)

    @on(Tree.NodeSelected)
    def _chosen(self, event: "Tree.NodeSelected[Row]") -> None:
        event.stop()
        if event.node.data is not None:
            self.post_message(self.Opened(event.node.data.place))

    @on(Tree.NodeExpanded)
    @on(Tree.NodeCollapsed)
    def _folded(self, event: "Tree.NodeExpanded[Row] | Tree.NodeCollapsed[Row]") -> None:
        event.stop()
        node = event.node
        if node.data is None or node is self.root or node.data.place not in self._rows:
            return
        if not self.filter:
            self._unfolded[node.data.place] = node.is_expanded
        if node.is_expanded and not node.children:
            self._put_children(node.data.place)
        else:
            self._draw(node)
