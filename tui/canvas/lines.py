"""Draws a cell of the canvas: an entry of two to four lines in a list, or a box in a grid."""

from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.canvas.cells import Cell
from tui.draw.colors import Palette
from tui.draw.line_parts import one_line, to_strip, wrap_prose
from tui.draw.status_icons import StatusIcon
from tui.draw.wrap import Line
from tui.terminal import screen_reader
from tui.transcript.parts import get_styles

LIST_HEIGHT: Final = 4
GRID_HEIGHT: Final = 8
GRID_WIDTH: Final = 44
"""Minimum width of a box, if there is space for two."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The number of columns, and the width and height of cells."""

    columns: int
    width: int
    height: int

    @classmethod
    def of(cls, name: str, width: int) -> "Layout":
        """Return the layout for the preference `canvas_layout` on a screen of this width."""
        if name == "list" or screen_reader.is_enabled():
            return cls(1, width, LIST_HEIGHT)
        columns = max(1, width // GRID_WIDTH)
        return cls(columns, width // columns, GRID_HEIGHT)

    @property
    def first_row(self) -> int:
        """The row of a cell that has its name."""
        return 1 if self.height == GRID_HEIGHT else 0

    @property
    def lines(self) -> int:
        """How many of a session's last lines fit into a cell."""
        return self.height - (4 if self.columns > 1 or self.height == GRID_HEIGHT else 2)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A cell with everything that its drawing depends on."""

    cell: Cell
    agent: str
    lines: tuple[str, ...]
    activity: str
    """What it does at the moment, and for how long; '' if it does not run."""
    is_marked: bool
    is_here: bool
    """Whether the cursor is on it."""


def rows(drawn: Drawn, layout: Layout, palette: Palette) -> list[Strip]:
    """Return the cell's rows, exactly as many and as wide as the layout requires."""
    if layout.height == GRID_HEIGHT:
        lines = _box(drawn, layout, palette)
    else:
        lines = _entry(drawn, layout, palette)
    return [to_strip(line, layout.width, palette.kind) for line in lines]


def _entry(drawn: Drawn, layout: Layout, palette: Palette) -> list[Line]:
    """Draw a list entry: name, location, and last lines or request."""
    edge = _edge(drawn, palette)
    location = " ".join([_location(drawn), *drawn.cell.git])
    width = (
        layout.width - 3 - sum(segment.cell_length for segment in _tick_and_icon(drawn, palette))
    )
    name = one_line(drawn.cell.name, max(width - cell_len(location) - 2, width // 2))
    location = one_line(location, max(width - cell_len(name) - 2, 4))
    gap = " " * max(width - cell_len(name) - cell_len(location), 2)
    head = [
        edge, *_tick_and_icon(drawn, palette), Segment(name, _name_style(drawn, palette)),
        Segment(gap), Segment(location, palette.muted),
    ]  # fmt: skip
    lines = _content_lines(drawn, layout.lines, width, palette)
    body: list[Line] = [[edge, Segment("   "), *line] for line in lines]
    return [head, *body, *([[edge]] * (layout.height - 2 - len(body))), []]


def _box(drawn: Drawn, layout: Layout, palette: Palette) -> list[Line]:
    """Draw a box of a grid: its border has the color of the state, and is thick at the cursor."""
    inner = layout.width - 5
    frame = icon_style(drawn.cell.icon, palette) if drawn.cell.icon else palette.border
    top, side, bottom = ("┏━┓", "┃", "┗━┛") if drawn.is_here else ("┌─┐", "│", "└─┘")
    name = one_line(drawn.cell.name, inner - 2 - cell_len(drawn.cell.icon.symbol))
    content: list[Line] = [
        [*_tick_and_icon(drawn, palette), Segment(name, _name_style(drawn, palette))],
        _beside_git(Segment(_location(drawn), palette.muted), drawn.cell.git, inner, palette),
        *_content_lines(drawn, layout.lines, inner, palette),
    ]
    content += [[]] * (layout.height - 2 - len(content))
    across = top[1] * (layout.width - 3)
    framed: list[Line] = [[Segment(f"{top[0]}{across}{top[2]}", frame)]]
    for line in content:
        rest = " " * max(inner - sum(segment.cell_length for segment in line), 0)
        framed.append([Segment(f"{side} ", frame), *line, Segment(f"{rest} {side}", frame)])
    return [*framed, [Segment(f"{bottom[0]}{across}{bottom[2]}", frame)]]


def _content_lines(drawn: Drawn, count: int, width: int, palette: Palette) -> list[Line]:
    """Return the last lines, followed by the session's request or what it does."""
    asks = drawn.cell.asks or drawn.activity
    # Wrapped and not cut, so that streamed text is seen to grow before its first line ends.
    lines = (line for line in drawn.lines if line != asks)  # a question is in the message, too
    wrapped = [row for line in lines for row in wrap_prose(line, width, palette.text)]
    result: list[Line] = wrapped[-(count - bool(asks)) :] if count > bool(asks) else []
    if not result and not asks and not drawn.cell.session.message_count:
        result.append([Segment("no messages yet", palette.faint)])
    if asks:
        color = palette.warning if drawn.cell.asks else palette.accent
        result.append([Segment(one_line(asks, width), color)])
    return result


def _beside_git(left: Segment, git: tuple[str, ...], width: int, palette: Palette) -> Line:
    """A text, and at the right what git says of the worktree, each part in its color."""
    colors = {"+": palette.success, "−": palette.error}
    parts = [Segment(f" {part}", colors.get(part[0], palette.muted)) for part in git]
    while parts and sum(part.cell_length for part in parts) > width // 2:
        parts.pop()
    available = width - sum(part.cell_length for part in parts)
    text = one_line(left.text, available)
    return [Segment(text, left.style), Segment(" " * (available - cell_len(text))), *parts]


def _edge(drawn: Drawn, palette: Palette) -> Segment:
    return Segment("▌" if drawn.is_here else " ", palette.accent)


def _tick_and_icon(drawn: Drawn, palette: Palette) -> Line:
    sign = "marked " if screen_reader.is_enabled() else "✓"
    tick = Segment(sign if drawn.is_marked else " ", palette.accent)
    return [tick, Segment(f"{drawn.cell.icon.symbol} ", icon_style(drawn.cell.icon, palette))]


def icon_style(icon: StatusIcon, palette: Palette) -> Style:
    """Return the color of a status icon; its shape differs as well."""
    match icon:
        case StatusIcon.NEEDS_YOU:
            return palette.warning + Style(bold=True)
        case StatusIcon.FAILED:
            return palette.error
        case StatusIcon.UNREAD:
            return palette.info
        case StatusIcon.RUNNING:
            return palette.accent
        case _:
            return palette.muted


def _name_style(drawn: Drawn, palette: Palette) -> Style:
    return (
        get_styles(palette.kind).strong if drawn.cell.icon >= StatusIcon.RUNNING else palette.text
    )


def _location(drawn: Drawn) -> str:
    cell = drawn.cell
    where = f"{cell.project} ▸ {cell.worktree}" if cell.project else cell.worktree
    return f"{where} · {drawn.agent}" if drawn.agent else where
