"""A cell of the canvas as rows: two to four lines of a list, or a box of a grid."""

from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.canvas.cells import Cell
from tui.draw.colors import Palette
from tui.draw.line_parts import one_line, prose_rows, strip_of
from tui.draw.status_icons import Mark
from tui.draw.wrap import Line
from tui.terminal import plain
from tui.transcript.parts import tones

LIST_HEIGHT: Final = 4
GRID_HEIGHT: Final = 8
GRID_WIDTH: Final = 44
"""Cells of the screen that a box has at least, where there is room for two."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How cells stand: in so many columns, each so wide and so high."""

    columns: int
    width: int
    height: int

    @classmethod
    def of(cls, name: str, width: int) -> "Layout":
        """The layout of the preference `canvas_layout` on a screen of this width."""
        if name == "list" or plain.is_on():
            return cls(1, width, LIST_HEIGHT)
        columns = max(1, width // GRID_WIDTH)
        return cls(columns, width // columns, GRID_HEIGHT)

    @property
    def lines(self) -> int:
        """How many of a session's last lines fit a cell."""
        return self.height - (4 if self.columns > 1 or self.height == GRID_HEIGHT else 2)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A cell with all that its rows are made from."""

    cell: Cell
    agent: str
    lines: tuple[str, ...]
    is_marked: bool
    is_here: bool
    """Whether the cursor is on it."""


def rows(drawn: Drawn, layout: Layout, palette: Palette) -> list[Strip]:
    """The cell's rows, exactly as many and as wide as the layout says."""
    if layout.height == GRID_HEIGHT:
        lines = _box(drawn, layout, palette)
    else:
        lines = _entry(drawn, layout, palette)
    return [strip_of(line, layout.width, palette.kind) for line in lines]


def _entry(drawn: Drawn, layout: Layout, palette: Palette) -> list[Line]:
    """A list's entry: who, where, and what was said or is asked."""
    edge = _edge(drawn, palette)
    place = _place(drawn)
    room = layout.width - 3 - sum(segment.cell_length for segment in _mark(drawn, palette))
    name = one_line(drawn.cell.name, max(room - cell_len(place) - 2, room // 2))
    place = one_line(place, max(room - cell_len(name) - 2, 4))
    gap = " " * max(room - cell_len(name) - cell_len(place), 2)
    head = [
        edge, *_mark(drawn, palette), Segment(name, _name_style(drawn, palette)),
        Segment(gap), Segment(place, palette.muted),
    ]  # fmt: skip
    said = _said(drawn, layout.lines, room, palette)
    body: list[Line] = [[edge, Segment("   "), *line] for line in said]
    return [head, *body, *([[edge]] * (layout.height - 2 - len(body))), []]


def _box(drawn: Drawn, layout: Layout, palette: Palette) -> list[Line]:
    """A grid's box; its frame is thick where the cursor is."""
    inner = layout.width - 5
    frame = palette.accent if drawn.is_here else palette.border
    top, side, bottom = ("┏━┓", "┃", "┗━┛") if drawn.is_here else ("┌─┐", "│", "└─┘")
    name = one_line(drawn.cell.name, inner - 2 - cell_len(drawn.cell.mark.sign))
    content: list[Line] = [
        [*_mark(drawn, palette), Segment(name, _name_style(drawn, palette))],
        [Segment(one_line(_place(drawn), inner), palette.muted)],
        *_said(drawn, layout.lines, inner, palette),
    ]
    content += [[]] * (layout.height - 2 - len(content))
    across = top[1] * (layout.width - 3)
    framed: list[Line] = [[Segment(f"{top[0]}{across}{top[2]}", frame)]]
    for line in content:
        rest = " " * max(inner - sum(segment.cell_length for segment in line), 0)
        framed.append([Segment(f"{side} ", frame), *line, Segment(f"{rest} {side}", frame)])
    return [*framed, [Segment(f"{bottom[0]}{across}{bottom[2]}", frame)]]


def _said(drawn: Drawn, count: int, width: int, palette: Palette) -> list[Line]:
    """The last lines, and last of all what it asks."""
    asks = drawn.cell.asks
    # Broken and not cut: what streams is seen to grow, also where no line has ended yet.
    lines = (line for line in drawn.lines if line != asks)  # a question is part of the answer, too
    every = [row for line in lines for row in prose_rows(line, width, palette.text)]
    found: list[Line] = every[-(count - bool(asks)) :] if count > bool(asks) else []
    if not found and not asks and not drawn.cell.session.message_count:
        found.append([Segment("nothing was said yet", palette.faint)])
    if asks:
        found.append([Segment(one_line(asks, width), palette.warning)])
    return found


def _edge(drawn: Drawn, palette: Palette) -> Segment:
    return Segment("▌" if drawn.is_here else " ", palette.accent)


def _mark(drawn: Drawn, palette: Palette) -> Line:
    sign = "marked " if plain.is_on() else "✓"
    tick = Segment(sign if drawn.is_marked else " ", palette.accent)
    return [tick, Segment(f"{drawn.cell.mark.sign} ", mark_style(drawn.cell.mark, palette))]


def mark_style(mark: Mark, palette: Palette) -> Style:
    """The colour of a mark; its shape differs as well."""
    match mark:
        case Mark.NEEDS_YOU:
            return palette.warning + Style(bold=True)
        case Mark.FAILED:
            return palette.error
        case Mark.UNREAD:
            return palette.info
        case Mark.RUNNING:
            return palette.accent
        case _:
            return palette.muted


def _name_style(drawn: Drawn, palette: Palette) -> Style:
    return tones(palette.kind).strong if drawn.cell.mark >= Mark.RUNNING else palette.text


def _place(drawn: Drawn) -> str:
    cell = drawn.cell
    where = f"{cell.project} ▸ {cell.worktree}" if cell.project else cell.worktree
    return f"{where} · {drawn.agent}" if drawn.agent else where
