"""Diffs as lines: numbers, signs, changed words and syntax colors."""

from collections.abc import Iterator, Sequence

from rich.segment import Segment
from rich.style import Style

from model.base.plural import count
from model.richtext.blocks import CodeLine
from model.richtext.diff_rows import (
    DiffRow,
    Ranges,
    diff_rows,
    find_changed_words,
    highlight_rows,
    split_at_changes,
)
from tui.draw.colors import DiffStyles, Palette
from tui.draw.wrap import MIN_WIDTH, Line, Piece, pad_line, wrap_code

_SQUARES = 5


def render_diff(
    old: str,
    new: str,
    path: str,
    width: int,
    palette: Palette,
    *,
    context: int = 3,
    max_lines: int | None = None,
) -> list[Line]:
    """Render the changes between two texts, each with `context` unchanged lines around it.

    `path` determines the language. If there are more than `max_lines` rows, a last line gives the
    number of hidden ones.
    """
    rows = diff_rows(old, new, context)
    return render_diff_rows(rows, path, width, palette, max_lines=max_lines)


def change_bar(added: int, removed: int, palette: Palette) -> Line:
    """Draw added and removed lines as five squares: how large a change is, and of what kind."""
    total = added + removed
    filled = min(_SQUARES, total)
    green = round(filled * added / total) if total else 0
    if total and filled >= 2:  # a few lines of one kind are visible beside many of the other
        green = min(max(green, min(added, 1)), filled - min(removed, 1))
    parts = (
        (green, palette.success), (filled - green, palette.error),
        (_SQUARES - filled, palette.border),
    )  # fmt: skip
    return [Segment("▪" * squares, tone) for squares, tone in parts if squares]


def render_diff_rows(
    rows: Sequence[DiffRow],
    path: str,
    width: int,
    palette: Palette,
    *,
    max_lines: int | None = None,
) -> list[Line]:
    """Render the rows of an existing diff, such as git's."""
    width = max(width, MIN_WIDTH)
    shown = rows if max_lines is None else rows[:max_lines]
    numbers = max((row.new or row.old or 0 for row in shown), default=0)
    gutter = len(str(numbers)) + 1
    if width - gutter - 2 < MIN_WIDTH:
        gutter = 0
    code = highlight_rows(shown, path)
    lines: list[Line] = []
    for row, tokens, changed in zip(shown, code, find_changed_words(shown), strict=True):
        if row.hidden:
            lines += _note_lines(
                f"{palette.glyphs.more} {count(row.hidden, 'line')}", width, palette
            )
        lines += _row_lines(
            row, list(row_pieces(row, tokens, changed, palette)), gutter, width, palette
        )
    if len(shown) < len(rows):
        more = count(len(rows) - len(shown), "more line")
        lines += _note_lines(f"{palette.glyphs.more} {more}", width, palette)
    return lines


def _row_lines(
    row: DiffRow, pieces: list[Piece], gutter: int, width: int, palette: Palette
) -> list[Line]:
    side = _side(row, palette)
    background, sign_style = (side.background, side.sign) if side else (palette.code, palette.code)
    faint = palette.code_faint + side.background if side else palette.code_faint
    sign = Segment(f"{row.sign} ", sign_style)
    mark = Segment(f"{palette.glyphs.continued} ", faint)
    number = f"{row.new or row.old or ''} ".rjust(gutter) if gutter else ""
    available = width - len(number) - 2
    lines: list[Line] = []
    for at, part in enumerate(wrap_code(pieces, available, available)):
        first = Segment(" " * len(number) if at else number, faint)
        lines.append(pad_line([first, mark if at else sign, *part], width, background))
    return lines


def row_pieces(
    row: DiffRow, tokens: CodeLine, changed: Ranges, palette: Palette
) -> Iterator[Piece]:
    """A row's text in syntax colors on the background of its side; `changed` ranges stand out."""
    side = _side(row, palette)
    if side is None:
        yield from ((text, palette.tokens[kind]) for text, kind in tokens)
        return
    for (text, kind), is_changed in split_at_changes(tokens, changed):
        yield text, (side.changed_tokens if is_changed else side.tokens)[kind]
    if row.no_line_break:
        yield " (no line break at the end)", palette.code_faint + side.background


def _side(row: DiffRow, palette: Palette) -> DiffStyles | None:
    return {"+": palette.inserted, "-": palette.deleted}.get(row.sign)


def _note_lines(text: str, width: int, palette: Palette) -> list[Line]:
    style: Style = palette.code_faint
    return [pad_line(line, width, style) for line in wrap_code([(text, style)], width, width)]
