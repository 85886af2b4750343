"""A page of rows with a cursor, in which several rows may belong to one thing."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from tui.draw.colors import Palette
from tui.draw.line_parts import one_line, wrap_prose
from tui.widgets.row_list import RowList

Part = Literal["", "heading", "link", "body", "reviewer", "check", "thread", "folded"]
"""What a row belongs to."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row; those with the same part and id belong together."""

    part: Part
    id: str
    line: int
    """Its number among those of the same part and id."""
    segments: tuple[Segment, ...] = ()


class PageWriter:
    """Collects rows of a certain width."""

    def __init__(self, palette: Palette, width: int) -> None:
        self.palette = palette
        self.width = max(20, width)
        self.rows: list[Row] = []

    def add(self, part: Part, id: str, *segments: Segment) -> None:
        """Add a row."""
        before = self.rows[-1] if self.rows else None
        is_next = before is not None and (before.part, before.id) == (part, id)
        line = before.line + 1 if before is not None and is_next else 0
        self.rows.append(Row(part, id, line, segments))

    def add_heading(self, title: str, about: str = "", style: Style | None = None) -> None:
        """Add an empty row, and the title of a section with what is to be known of it."""
        if self.rows:
            self.add("", f"before {title}")
        self.add(
            "heading",
            title,
            Segment(f" {title}  ", self.palette.headings[1]),
            Segment(one_line(about, self.width - len(title) - 4), style or self.palette.muted),
        )

    def add_text(
        self, part: Part, id: str, indent: int, text: str, style: Style, limit: int
    ) -> None:
        """Add a text as prose; what exceeds `limit` rows is replaced by a hint.

        At most so many characters are laid out as could fill these rows.
        """
        width = self.width - indent - 1
        cut = text[: limit * 2 * width]
        lines = wrap_prose(cut, width, style)
        is_cut = len(lines) > limit or len(cut) < len(text)
        space = Segment(" " * indent)
        for line in lines[: limit - 1] if is_cut else lines:
            self.add(part, id, space, *line)
        if is_cut:
            hint = f"{self.palette.glyphs.more} enter shows all of it"
            self.add(part, id, space, Segment(hint, self.palette.muted))

    def add_columns(
        self,
        part: Part,
        id: str,
        left: Sequence[Segment],
        name: str,
        style: Style,
        right: Sequence[Segment],
    ) -> None:
        """Add a row whose name takes the room between its fixed columns."""
        taken = sum(cell_len(segment.text) for segment in (*left, *right))
        room = max(8, self.width - taken - 2)
        shown = one_line(name, room)
        space = " " * (room - cell_len(shown) + 1)
        self.add(part, id, *left, Segment(shown, style), Segment(space), *right)


class PageList(RowList[Row]):
    """The rows; the cursor stays on its thing, and that on its place of the screen."""

    def key(self, item: Row) -> Hashable:
        """Return what the row belongs to, and its number."""
        return item.part, item.id, item.line

    def draw(self, item: Row, width: int) -> list[Segment]:
        """Return the row."""
        return list(item.segments)

    def show(self, items: Sequence[Row]) -> None:
        """Show these rows without moving the one under the cursor."""
        below_top = self.here - round(self.scroll_y)
        super().show(items)
        if self.is_mounted and 0 <= below_top < self.size.height:
            self.scroll_to(y=max(0, self.here - below_top), animate=False, immediate=True)

    def go_to_section(self, step: int) -> None:
        """Move the cursor below the next (1) or previous (-1) heading."""
        headings = [n for n, row in enumerate(self.items) if row.part == "heading"]
        starts = [0, *(n + 1 for n in headings if n + 1 < len(self.items))]
        if step > 0:
            at = next((n for n in starts if n > self.here), starts[0])
        else:
            at = next((n for n in reversed(starts) if n < self.here), starts[-1])
        self.action_move(at - self.here)
