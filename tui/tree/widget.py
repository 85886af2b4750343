"""The tree on the left: projects, worktrees and sessions, each with a status icon.

Typed letters filter the rows, whose names are never parsed as markup.
"""

from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Tree

from tui.keys import keymap
from tui.store.places import ROOT, Place
from tui.tree.edge import MovableEdge
from tui.tree.following import FollowingTree
from tui.tree.rows import Row, walk


class ProjectTree(FollowingTree, MovableEdge):
    """Projects, worktrees, sessions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *keymap.make_bindings("projects"),
        Binding("right", "unfold", show=False),
        Binding("left", "fold", show=False),
    ]

    class Opened(Message):
        """A row was opened."""

        def __init__(self, place: Place) -> None:
            super().__init__()
            self.place = place

    class Filtered(Message):
        """The filter changed."""

    takes_bursts = True

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._start_place: Place | None = None
        """The cursor's place before filtering."""

    # Filtering ----------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Filter by typed letters; while filtering, space is one of them."""
        if self.index is None:
            return
        if not self.filter and event.character == "?":
            self.call_later(self.run_action, "screen.do('help')")
            wanted = ""
        elif event.is_printable and event.character and (self.filter or event.character != " "):
            # A slash begins a filter in other programs.
            typed = event.character if self.filter else event.character.removeprefix("/")
            wanted = self.filter + typed
        elif self.filter and event.key in ("escape", "backspace"):
            wanted = self.filter[:-1] if event.key == "backspace" else ""
        elif event.key == "enter" and self._pending_place is not None:
            # Enter was pressed before the cursor moved to the first match.
            self.post_message(self.Opened(self._pending_place))
            wanted = self.filter
        else:
            return
        event.stop()
        event.prevent_default()
        self.set_filter(wanted)

    def on_focus(self) -> None:
        """Prepare the outline, because letters may be typed from now on."""
        if self.index is not None:
            self.index.outline()

    def on_blur(self) -> None:
        """Clear the filter, unless only the terminal window lost focus."""
        place = self.place
        if self.filter and self.app.app_focus:
            self.set_filter("")
            if place is not None:
                self.move_cursor_to(place)

    def set_filter(self, text: str) -> None:
        """Show only rows whose names contain `text`, with their ancestors and descendants."""
        if text == self.filter or self.index is None:
            return
        if not self.filter:
            self._start_place = self.place
            nodes = (n for n in walk(self.root) if n.data is not None and n.allow_expand)
            self.folds.update((n.data.place, n.is_expanded) for n in nodes if n.data)
        self.filter = text
        for place, node in self.row_nodes.items():
            if node.allow_expand and place != ROOT:
                node.expand() if self._should_expand(place) else node.collapse()
        self._sync_all()
        first = self._found.matches[0] if self._found and self._found.matches else self._start_place
        if first is not None and first in self.row_nodes:
            self._pending_place = first
            self.call_after_refresh(self._move_to, first)

    def _sync_all(self) -> None:
        """Sync every row, and say what the filter found."""
        super()._sync_all()
        self._update_title()

    def _update_title(self) -> None:
        """Show the filter in the border."""
        count = len(self._found.matches) if self._found is not None else 0
        self.border_title = Content(f"Filter: {self.filter}" if self.filter else "Projects")
        summary = f"{count} found" if count else "nothing found"
        self.border_subtitle = Content(f"{summary} · esc: all" if self.filter else "")
        self.post_message(self.Filtered())

    @property
    def filter_lines(self) -> tuple[str, ...]:
        """The filter, and what it found; empty while nothing is filtered."""
        return (str(self.border_title), str(self.border_subtitle)) if self.filter else ()

    # Navigation -----------------------------------------------------------------------------------

    @property
    def session_ids(self) -> list[str]:
        """The ids of all sessions from top to bottom, those in collapsed rows too."""
        return self.index.session_ids if self.index is not None else []

    @property
    def labels(self) -> list[str]:
        """The text of every row from top to bottom, collapsed ones too."""
        return [
            "".join(text for text, _ in node.data.parts)
            for node in walk(self.root)
            if node.data is not None and node is not self.root
        ]

    def action_unfold(self) -> None:
        """Expand the row."""
        if self.cursor_node is not None:
            self.cursor_node.expand()

    def action_fold(self) -> None:
        """Collapse the row, or move to its parent."""
        node = self.cursor_node
        if node is None:
            return
        if node.allow_expand and node.is_expanded and node.children:
            node.collapse()
        elif node.parent is not None and node.parent is not self.root:
            self.move_cursor(node.parent)

    @on(Tree.NodeSelected)
    def _node_selected(self, event: "Tree.NodeSelected[Row]") -> None:
        event.stop()
        if event.node.data is not None:
            self.post_message(self.Opened(event.node.data.place))

    @on(Tree.NodeExpanded)
    @on(Tree.NodeCollapsed)
    def _node_toggled(self, event: "Tree.NodeExpanded[Row] | Tree.NodeCollapsed[Row]") -> None:
        event.stop()
        node = event.node
        if node.data is None or node is self.root or node.data.place not in self.row_nodes:
            return
        if not self.filter:
            self.folds[node.data.place] = node.is_expanded
        if node.is_expanded and not node.children:
            self._sync_children(node.data.place)
        else:
            self._draw(node)
