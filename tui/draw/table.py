"""Tables as lines: columns that share the width, or stacked cells if the columns do not fit."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment

from model.richtext.blocks import Align
from tui.draw.colors import Palette
from tui.draw.wrap import Line, Piece, line_width, wrap

MIN_COLUMN: Final = 5

Cell = list[Piece]


def table_lines(
    header: Sequence[Cell],
    rows: Sequence[Sequence[Cell]],
    aligns: Sequence[Align],
    width: int,
    palette: Palette,
) -> list[Line]:
    """Render a table in at most `width` cells; the widest columns shrink first and wrap."""
    columns = [max(map(_natural_width, column)) for column in zip(header, *rows, strict=True)]
    available = width - 3 * (len(columns) - 1)
    if sum(columns) > available:
        if available < MIN_COLUMN * len(columns):
            return _stack_cells(header, rows, width, palette)
        columns = _shrink_columns(columns, available)
    across, crossing = palette.glyphs.horizontal, palette.glyphs.cross
    rule = [
        Segment(f"{across}{crossing}{across}".join(across * n for n in columns), palette.border)
    ]
    wrapped_rows = [_row(row, columns, aligns, palette) for row in rows]
    lines = [*_row(header, columns, aligns, palette), rule]
    spaced = any(len(row) > 1 for row in wrapped_rows)
    for number, row in enumerate(wrapped_rows):
        if number and spaced:  # separates rows of several lines
            lines.append(rule)
        lines += row
    return lines


def _natural_width(cell: Cell) -> int:
    text = "".join(text for text, _ in cell)
    return max(1, *map(cell_len, text.split("\n")))


def _shrink_columns(columns: Sequence[int], available: int) -> list[int]:
    """Column widths that fill `available`: narrow columns keep theirs, the others share equally."""
    widths = list(columns)
    wide = list(range(len(columns)))
    while True:
        share, remainder = divmod(available, len(wide))
        narrow = [at for at in wide if columns[at] <= share]
        if not narrow:
            break
        available -= sum(columns[at] for at in narrow)
        wide = [at for at in wide if at not in narrow]
    for number, at in enumerate(wide):
        widths[at] = share + (number < remainder)
    return widths


def _row(
    cells: Sequence[Cell], columns: Sequence[int], aligns: Sequence[Align], palette: Palette
) -> list[Line]:
    wrapped = [wrap(cell, width) for cell, width in zip(cells, columns, strict=True)]
    between = Segment(f" {palette.glyphs.vertical} ", palette.border)
    lines: list[Line] = []
    for parts in zip_longest(*wrapped, fillvalue=()):
        line: Line = []
        for part, width, align in zip(parts, columns, aligns, strict=True):
            line += ([between] if line else []) + _align(list(part), width, align)
        lines.append(line)
    return lines


def _align(part: Line, width: int, align: Align) -> Line:
    space = width - line_width(part)
    left = {"left": 0, "center": space // 2, "right": space}[align]
    return [Segment(" " * left), *part, Segment(" " * (space - left))]


def _stack_cells(
    header: Sequence[Cell], rows: Sequence[Sequence[Cell]], width: int, palette: Palette
) -> list[Line]:
    """Each cell below its heading, for tables with more columns than fit into the width."""
    rule = [Segment(palette.glyphs.horizontal * width, palette.border)]
    lines: list[Line] = []
    for row in rows or [[[] for _ in header]]:
        lines += [rule] if lines else []
        for title, cell in zip(header, row, strict=True):
            lines += wrap(title, width)
            lines += [[Segment("  "), *line] for line in wrap(cell, width - 2)] if cell else []
    return lines
