"""A tree whose rows are painted from parts, with spinners that turn where something runs.

The colors are no rules of the style sheet: those are parsed and applied again for each theme.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from themes.contrast import ensure_contrast
from themes.loader import Kind, load_chrome
from tui.draw.status_icons import StatusIcon
from tui.store.places import ROOT, Place
from tui.terminal import screen_reader
from tui.tree.filter import find_occurrences
from tui.tree.rows import NAME_ROLES, TAIL_ROLES, Part, Row, depth_of, fit_parts

if TYPE_CHECKING:
    from tui.draw.motion import Motion

Node = TreeNode[Row]

_COLORS: Mapping[str, tuple[str, str]] = {
    "text": ("text", ""),
    "muted": ("text_muted", ""),
    "session": ("text_muted", ""),
    "strong": ("text", "bold"),
    "match": ("accent", "bold underline"),
    "added": ("success", ""),
    "removed": ("error", ""),
    "count": ("text_muted", ""),
    "conflict": ("warning", ""),
    "reason": ("warning", ""),
    "activity": ("accent", ""),
    "elapsed": ("text_muted", ""),
    "age": ("text_muted", ""),
    StatusIcon.IDLE.role: ("text_muted", ""),
    StatusIcon.CREATING.role: ("text_muted", ""),
    StatusIcon.RUNNING.role: ("accent", ""),
    StatusIcon.PAUSED.role: ("text_muted", ""),
    StatusIcon.UNREAD.role: ("info", ""),
    StatusIcon.FAILED.role: ("error", ""),
    StatusIcon.NEEDS_YOU.role: ("warning", "bold"),
}
"""The color of each role in the chrome, and how it is written."""
ROLES_OF_TEXT = ("text", "muted", "strong", "session", "match")
"""Roles whose colors are not made for the cursor's background."""
FOLDING_WIDTH = 2
"""Cells of the sign before a row that folds it."""
MIN_WIDTH = 4
"""Cells that a row keeps for its first parts, however much is at its right edge."""


@lru_cache(maxsize=256)
def role_style(role: str, kind: Kind, *, on_cursor: bool) -> Style:
    """The style of a role, or of a color that a user chose, such as `#3f7a50`."""
    ui = load_chrome(kind).ui
    if role.startswith("#"):
        return Style(color=ensure_contrast(role, ui["background"]))
    name, written = _COLORS[role]
    # The cursor's background is made for text; icons keep their color on it.
    is_plain = on_cursor and role in ROLES_OF_TEXT
    return Style.parse(written) + Style(color=None if is_plain else ui[name])


def paint_row(
    folding: str,
    parts: tuple[Part, ...],
    width: int,
    ground: Style,
    style_of: Callable[[str], Style],
    *,
    searched: str = "",
) -> list[Segment]:
    """The row, `width` cells wide, with what changes most at its right edge.

    `folding`: what comes before the parts; `ground`: the style of empty cells; `style_of`: that
    of a role on it; `searched`: a text to mark in names.
    """
    left, tail = [Segment(folding, ground + style_of("muted"))], []
    if searched:
        # A session is found by its name, which then is more important than what follows.
        parts = tuple((part, _found(part, role, searched)) for part, role in parts)
    for part, role in fit_parts(parts, width - left[0].cell_length):
        style = ground + style_of(role)
        if role in TAIL_ROLES or role.startswith("#"):
            tail.append(Segment(part, style))
        elif searched and role in NAME_ROLES:
            left += _mark(part, style, style + style_of("match"), searched)
        else:
            left.append(Segment(part, style))
    available = max(MIN_WIDTH, width - sum(part.cell_length for part in tail))
    return [*_fit(left, available, ground), *tail]


def _fit(segments: list[Segment], width: int, empty: Style) -> Iterable[Segment]:
    """Fill up to `width` cells, or end in an ellipsis there."""
    missing = width - sum(part.cell_length for part in segments)
    if missing >= 0:
        return [*segments, Segment(" " * missing, empty)] if missing else segments
    kept = list(Strip(segments).crop(0, width - 1))
    return [*kept, Segment("…", kept[-1].style)]


def _mark(text: str, style: Style, marked: Style, searched: str) -> list[Segment]:
    end, pieces = 0, []
    for first, behind in find_occurrences(searched, text):
        pieces += [Segment(text[end:first], style), Segment(text[first:behind], marked)]
        end = behind
    return [piece for piece in (*pieces, Segment(text[end:], style)) if piece.text]


def _found(text: str, role: str, searched: str) -> str:
    is_match = role == "session" and any(find_occurrences(searched, text))
    return "text" if is_match else role


def is_turning(text: str, role: str) -> bool:
    """Whether a part of a row is the icon of something that runs."""
    return role == StatusIcon.RUNNING.role and StatusIcon.RUNNING.symbol in text


class PaintedTree(Tree[Row]):
    """Rows by place, each drawn on its own; their labels stay empty."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(Text(), Row(ROOT), id=id)  # A string would load all emoji.
        self.show_root = False
        self.guide_depth = 2
        self.show_guides = False
        self.auto_expand = False
        self.filter = ""
        """The filter text; empty shows all rows."""
        self.moves = False
        """Whether spinners turn."""
        self.row_nodes: dict[Place, Node] = {ROOT: self.root}
        """The rows that exist, by what they show."""
        self._working: set[Place] = set()
        """Rows with the icon of something that runs."""
        self._numbers: dict[Place, int] | None = None
        """The numbers of rows; `None` while none are shown."""
        self._motion: Motion | None = None
        self._ground = Style()

    @abstractmethod
    def _draw(self, node: Node) -> None:
        """Update the parts of a row, and draw it again if they differ."""

    def wake(self) -> None:
        """Turn spinners and count seconds; called when rows may have become visible."""
        if not self._working or screen_reader.is_enabled():
            return
        if self._motion is None:
            from tui.draw.motion import Motion  # the first frame has no running rows

            self._motion = Motion(self, self._turn, self._count_seconds, moves=self.moves)
        self._motion.wake()

    def on_show(self) -> None:
        """Go on where the tree was hidden."""
        self.wake()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Go on where running rows come into view."""
        super().watch_scroll_y(old_value, new_value)
        self.wake()

    def _turn(self) -> int:
        """Draw the visible spinners again; how many there are."""
        nodes = self._visible_working
        if self.moves:
            for node in nodes:
                self._refresh_row(node)
        return len(nodes)

    def _count_seconds(self) -> None:
        for node in self._visible_working:
            self._draw(node)

    @property
    def _visible_working(self) -> list[Node]:
        """The rows in view that run; none behind a dialog."""
        if self.app.screen is not self.screen or not self.is_on_screen:
            return []
        first = int(self.scroll_offset.y)
        lines = range(first, first + self.size.height)
        nodes = (self.row_nodes.get(place) for place in self._working)
        return [node for node in nodes if node is not None and node.line in lines]

    def _refresh_row(self, node: Node) -> None:
        """Draw a row again; setting a label would search the whole tree for its row."""
        if node.line >= 0:
            self.refresh(Region(0, node.line - self.scroll_offset.y, self.size.width, 1))

    def get_label_width(self, node: Node) -> int:
        """Return 0: rows are as wide as the tree, so that it never scrolls sideways."""
        return 0

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw rows, which share what they are drawn on."""
        self._ground = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Draw a row; the tree's own way, over labels, costs five times as much."""
        node, width = self.get_node_at_line(y + self.scroll_offset.y), self.size.width
        if node is None or node.data is None:
            return Strip.blank(width, self._ground)
        indent = " " * (depth_of(node) * self.guide_depth)
        row = self._paint(node, node.data, width - len(indent))
        strip = Strip([Segment(indent, self._ground), *row], width)
        turns = self.moves and node.data.place in self._working
        return self._motion.draw(strip) if turns and self._motion is not None else strip

    def _paint(self, node: Node, row: Row, width: int) -> list[Segment]:
        """The row's parts in the colors of their roles."""
        folding = "  "
        if self._numbers and (number := self._numbers.get(row.place)):
            folding = f"{number} "
        if row.has_children:
            folding = "▾ " if node.is_expanded else "▸ "
        on_cursor = node is self.cursor_node
        ground = self.get_component_rich_style("tree--cursor") if on_cursor else self._ground
        kind: Kind = "dark" if self.app.current_theme.dark else "light"
        return paint_row(
            folding,
            row.parts,
            width,
            ground,
            lambda role: role_style(role, kind, on_cursor=on_cursor),
            searched=self.filter,
        )

    async def on_click(self, event: events.Click) -> None:
        """Choose the row, or fold it by the sign before it."""
        offset = event.get_content_offset(self)
        node = self.get_node_at_line(offset.y + self.scroll_offset.y) if offset else None
        if node is None or offset is None:
            return
        if node.allow_expand and 0 <= offset.x - depth_of(node) * self.guide_depth < FOLDING_WIDTH:
            node.toggle()
        else:
            self.cursor_line = node.line
            await self.run_action("select_cursor")
