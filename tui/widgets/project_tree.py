"""The tree on the left: projects, worktrees and sessions, each with one mark.

Rows are found by key and changed in place; the tree is never cleared. Labels are composed while
they are drawn, from plain text and roles, so that no name can ever be read as markup. Letters
that are typed here filter the rows.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from rich.text import Text
from textual import events, on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from tui import keymap
from tui.marks import Mark, mark_of, mark_of_worktree
from tui.places import ROOT, Place
from tui.tree_filter import Found, find, occurrences
from tui.tree_rows import (
    NAME_ROLES,
    TAIL_ROLES,
    Children,
    Part,
    Row,
    children,
    children_of,
    has_moved,
    name_of,
    project_parts,
    session_parts,
    worktree_parts,
)

if TYPE_CHECKING:
    from model.state import State
    from tui.mirror import Change

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

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", Row(ROOT), id=id)
        self.show_root = False
        self.guide_depth = 2
        self.show_guides = False
        self.auto_expand = False
        self._rows: dict[Place, Node] = {ROOT: self.root}
        self._state: State | None = None
        self.filter = ""
        """What the rows shown have in their names; empty: all are shown."""
        self._found: Found | None = None
        self._before_filter: tuple[Place | None, frozenset[Place]] = (None, frozenset())
        """Where the cursor was, and which rows were folded."""
        self._moving_to: Place | None = None
        """Where the cursor will be once the rows stand."""

    # What the mirror tells ----------------------------------------------------------------------

    def follow(self, change: "Change") -> None:
        """Change the rows that are concerned."""
        self._state = state = change.state
        before = change.before
        if change.loaded:
            self._reconcile_all(state)
            return
        if self.filter and (change.projects or change.worktrees or change.sessions):
            self._reconcile_all(state)
            self._entitle()
            return
        if change.projects:
            self._reconcile_all(state)
        parents = {_project_of(key, state, before) for key in change.worktrees}
        for project_id in parents - {None}:
            self._reconcile(Place("project", str(project_id)), state)
        dirty = set(change.worktrees)
        for key in change.sessions:
            session = state.sessions.get(key) or before.sessions.get(key)
            if session is None:
                continue
            dirty.add(session.worktree_id)
            if has_moved(before.sessions.get(key), state.sessions.get(key)):
                self._reconcile(Place("worktree", session.worktree_id), state)
            elif (node := self._rows.get(Place("session", key))) is not None:
                self._draw(node, state)
        self._redraw_worktrees(dirty, state)

    def _redraw_worktrees(self, worktree_ids: Iterable[str], state: "State") -> None:
        projects = set()
        for key in worktree_ids:
            if (node := self._rows.get(Place("worktree", key))) is not None:
                self._draw(node, state)
                projects.add(node.parent)
        for project in projects:
            while project is not None and project is not self.root:
                self._draw(project, state)
                project = project.parent

    def _reconcile_all(self, state: "State") -> None:
        below = children(state)
        self._found = None
        if self.filter:
            self._found = find(self.filter, below, lambda place: name_of(place, state))
        self._put_children(self.root, below, state)

    def _put_children(self, node: Node, below: Children, state: "State") -> None:
        assert node.data is not None
        wanted = below.get(node.data.place, [])
        if self._found is not None:
            wanted = [place for place in wanted if place in self._found.shown]
        self._order(node, wanted)
        for child in node.children:
            self._put_children(child, below, state)
        if node is not self.root:
            self._draw(node, state)

    def _reconcile(self, parent: Place, state: "State") -> None:
        """Bring the children of one row into order, and draw what is new."""
        node = self._rows.get(parent)
        if node is None:
            return
        for new in self._order(node, children_of(parent, state)):
            assert new.data is not None
            if new.data.place.kind == "worktree":
                self._reconcile(new.data.place, state)
            self._draw(new, state)
        self._draw(node, state)

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
            expand=place.kind != "session",
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

    def _draw(self, node: Node, state: "State") -> None:
        row = node.data
        assert row is not None
        parts = tuple(self._parts(node, row, state))
        if parts == row.parts:
            return
        row.parts = parts
        # The label is what the tree measures; what is drawn comes from the parts.
        node.set_label(Text("".join(text for text, _ in parts) or " "))

    def _parts(self, node: Node, row: Row, state: "State") -> Iterator[Part]:
        match row.place.kind:
            case "session":
                if (session := state.sessions.get(row.place.id)) is not None:
                    row.mark = mark_of(session)
                    yield from session_parts(session, row.mark)
            case "worktree":
                if (worktree := state.worktrees.get(row.place.id)) is not None:
                    sessions = [
                        state.sessions[p.id] for p in _places(node) if p.id in state.sessions
                    ]
                    row.mark = mark_of_worktree(worktree, sessions)
                    yield from worktree_parts(worktree, row.mark, folded=not node.is_expanded)
            case "project":
                if (project := state.projects.get(row.place.id)) is not None:
                    marks = (child.data.mark for child in node.children if child.data)
                    row.mark = max(marks, default=Mark.IDLE)
                    yield from project_parts(project, row.mark, folded=not node.is_expanded)

    def get_label_width(self, node: Node) -> int:
        """Nothing: rows are as wide as the tree, so that it never scrolls sideways."""
        return 0

    def render_label(self, node: Node, base_style: Style, style: Style) -> Text:
        """The row's parts in the colours of their roles."""
        row = node.data
        folding = "  "
        if node.allow_expand and node.children:
            folding = "▾ " if node.is_expanded else "▸ "
        on_cursor = node is self.cursor_node
        text = Text(folding, style=style + self._role("muted", on_cursor))
        if node.allow_expand:
            text.stylize(Style(meta={"toggle": True}))
        tail = Text()
        for part, role in row.parts if row else ():
            side = tail if role in TAIL_ROLES else text
            start = len(side)
            side.append(part, style + self._role(role, on_cursor))
            if self.filter and role in NAME_ROLES:
                for first, last in occurrences(self.filter, part):
                    side.stylize(self._role("match", on_cursor), start + first, start + last)
        width = self.scrollable_content_region.width
        room = width - self._depth(node) * self.guide_depth - tail.cell_len
        text.truncate(max(4, room), overflow="ellipsis")
        text.append(" " * max(0, room - text.cell_len), style)
        return text.append_text(tail)

    def _depth(self, node: Node) -> int:
        depth = 0
        while (parent := node.parent) is not None and parent is not self.root:
            node, depth = parent, depth + 1
        return depth

    def _role(self, role: str, on_cursor: bool) -> Style:
        if role.startswith("label "):
            return Style() if on_cursor else Style(color=role.removeprefix("label "))
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

    def on_blur(self) -> None:
        """Who goes elsewhere finds every row again; another window is not elsewhere."""
        place = self.place
        if self.filter and self.app.app_focus:
            self.narrow("")
            if place is not None:
                self.point_at(place)

    def narrow(self, text: str) -> None:
        """Show only rows with this in their names, with what holds them and what they hold."""
        if text == self.filter or self._state is None:
            return
        if not self.filter:
            folded = (n.data.place for n in _walk(self.root) if n.data and not n.is_expanded)
            self._before_filter = (self.place, frozenset(folded))
        self.filter = text
        self._reconcile_all(self._state)
        came_from, folded_before = self._before_filter
        for place, node in self._rows.items():
            if node.allow_expand and place != ROOT:
                node.collapse() if not text and place in folded_before else node.expand()
        first = self._found.matches[0] if self._found and self._found.matches else came_from
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

    def point_at(self, place: Place) -> None:
        """Put the cursor on this row, and unfold what hides it."""
        node = self._rows.get(place)
        if node is None:
            return
        above = node.parent
        while above is not None:
            if not above.is_expanded:
                above.expand()
            above = above.parent
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
            for node in _walk(self.root)
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
        if self._state is not None and event.node is not self.root:
            self._draw(event.node, self._state)


def _project_of(worktree_id: str, state: "State", before: "State") -> str | None:
    worktree = state.worktrees.get(worktree_id) or before.worktrees.get(worktree_id)
    return worktree.project_id if worktree is not None else None


def _places(node: Node) -> list[Place]:
    return [child.data.place for child in node.children if child.data is not None]


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _walk(child)
