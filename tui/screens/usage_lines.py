"""The lines of the usage dialog: meters, a plot over days, a table."""

import datetime
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from textual.content import Content

from model.base.amounts import format_cost, format_duration, format_number
from model.base.text import clean_line
from tui.draw.line_parts import one_line

if TYPE_CHECKING:
    from model.api.usage import UsageReport, UsageRow

PLOT_DAYS: Final = 30
_PLOT_ROWS: Final = 3
_EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
_METER: Final = 20
_SHORT_METER: Final = 10
"""Cells of a meter, and of one in a narrow terminal."""
_MAX_ROWS: Final = 200
_COLUMNS: Final = (("Turns", 7), ("Tokens", 9), ("Time", 7), ("Cost", 12))


def row_cost(row: "UsageRow") -> str:
    """Return the cost of a row with its marks."""
    return format_cost(
        row.cost_usd,
        is_estimated=row.estimated_turns > 0,
        is_partial=0 < row.unknown_turns < row.turns,
    )


def describe_total(row: "UsageRow") -> str:
    """Return a sum on one line: cost, tokens, turns and time."""
    turns = f"{row.turns:,} turn{'' if row.turns == 1 else 's'}"
    parts = (row_cost(row), f"{format_number(row.tokens)} tokens", turns)
    return " · ".join((*parts, format_duration(row.seconds)) if row.turns else parts)


def meter_line(
    name: str, used: float | None, rest: str, width: int, *, is_ascii: bool, is_short: bool
) -> Content:
    """Return a meter with its name, the used part in percent and more about it."""
    size = _SHORT_METER if is_short else _METER
    label = one_line(name, width).ljust(width)
    if used is None:
        return Content.assemble((label, "$text-muted"), "  unknown", (f"  {rest}", "$text-muted"))
    share = min(1.0, max(0.0, used))
    color = "$error" if used >= 1 else "$warning" if used >= 0.8 else "$accent"
    full, empty = ("#", "-") if is_ascii else ("━", "─")
    cells = round(share * size)
    return Content.assemble(
        (label, "$text-muted"),
        "  ",
        (full * cells, color),
        (empty * (size - cells), "$text-disabled"),
        f" {round(100 * used):>3} %",
        (f"  {rest}" if rest else "", "$text-muted"),
    )


def describe_reset(resets_at: float | None) -> str:
    """Return when a window is empty again: `resets 18:40`."""
    if resets_at is None:
        return ""
    seconds = resets_at - time.time()
    if seconds <= 0:
        return "was reset since"
    try:
        at = datetime.datetime.fromtimestamp(resets_at)
    except (OverflowError, ValueError, OSError):
        return ""
    form = "%H:%M" if seconds < 24 * 3600 else "%a %H:%M" if seconds < 6 * 86_400 else "%b %d"
    return f"resets {at.strftime(form)}"


def plot_lines(report: "UsageReport", *, is_ascii: bool) -> list[Content]:
    """Return bars of the last 30 days' costs, or of tokens if no cost is known."""
    known = {row.key: row for row in report.rows}
    today = datetime.date.fromisoformat(report.today)
    days = [today - datetime.timedelta(days=PLOT_DAYS - 1 - n) for n in range(PLOT_DAYS)]
    rows = [known.get(day.isoformat()) for day in days]
    has_cost = any(row.cost_usd for row in rows if row)
    values = [(row.cost_usd or 0.0 if has_cost else row.tokens) if row else 0.0 for row in rows]
    highest = max(values)
    if not highest:
        return []
    top = format_cost(highest) if has_cost else f"{format_number(int(highest))} tokens"
    lines = [
        Content.styled("".join(_bar(value / highest, row, is_ascii) for value in values), "$accent")
        for row in reversed(range(_PLOT_ROWS))
    ]
    first, last = f"{days[0]:%b %d}", "today"
    middle = f"highest: {top} a day".center(2 * PLOT_DAYS - 1 - len(first) - len(last))
    axis = first + middle + last
    return [*lines, Content.styled(axis, "$text-muted")]


def _bar(share: float, row: int, is_ascii: bool) -> str:
    """Return the cells of a day in one row of the plot; a day with something is never empty."""
    eighths = max(1 if share else 0, round(share * 8 * _PLOT_ROWS)) - 8 * row
    if is_ascii:
        return "# " if eighths >= 4 or (share and row == 0) else "  "
    return _EIGHTHS[max(0, min(8, eighths))] + " "


def table_lines(
    title: str, rows: Sequence["UsageRow"], width: int, sorted_by: str
) -> list[Content]:
    """Return a table of the rows, with the sums at the right."""
    fixed = sum(size for _, size in _COLUMNS)
    label_width = max(8, width - fixed)
    header = title.ljust(label_width) + "".join(
        (f"{name}↓" if name.lower() == sorted_by else name).rjust(size) for name, size in _COLUMNS
    )
    lines = [Content.styled(header, "$text-muted")]
    for row in rows[:_MAX_ROWS]:
        label = one_line(clean_line(row.label), label_width - 1)
        cells = (
            f"{row.turns:,}",
            format_number(row.tokens),
            format_duration(row.seconds),
            row_cost(row),
        )
        numbers = "".join(cell.rjust(size) for cell, (_, size) in zip(cells, _COLUMNS, strict=True))
        padding = " " * max(0, label_width - cell_len(label))
        lines.append(Content.assemble(label + padding, numbers))
    if len(rows) > _MAX_ROWS:
        lines.append(Content.styled(f"… and {len(rows) - _MAX_ROWS:,} more", "$text-muted"))
    return lines
