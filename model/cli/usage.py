"""`spinney usage`: what agents used, as a table, as JSON or as CSV."""

import csv
import io
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from model.base.amounts import format_cost, format_duration, format_number
from model.base.moments import format_moment
from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.quick_call import request_here

_COLUMNS: Final = ("turns", "tokens", "time", "cost")
_CSV_COLUMNS: Final = (
    "key", "label", "turns", "seconds", "input_tokens", "output_tokens",
    "cache_creation_input_tokens", "cache_read_input_tokens", "tokens", "cost_usd",
    "estimated_turns", "unknown_turns",
)  # fmt: skip


def usage(options: Namespace) -> int:
    """Print what agents used; returns the exit code."""
    report = request_here("get_usage", by=options.by, since=options.since, until=options.until)
    if options.csv:
        write_output(_to_csv(report["rows"]))
        return 0
    limits = request_here("list_usage_limits")
    if options.json:
        write_json({**report, "limits": limits})
        return 0
    lines = [*_table(options.by, report["rows"], report["total"])]
    if limits:
        lines += ["", *_describe_limits(limits)]
    write_output("\n".join(lines) + "\n")
    return 0


def _to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CSV_COLUMNS)
    for row in rows:
        cells = {**row, **row["usage"]}
        writer.writerow([_to_cell(cells[name]) for name in _CSV_COLUMNS])
    return text.getvalue()


def _to_cell(value: object) -> object:
    """A cell that no spreadsheet takes for a formula; names are other people's."""
    text = clean_line(value) if isinstance(value, str) else value
    return f"'{text}" if isinstance(text, str) and text.startswith(("=", "+", "-", "@")) else text


def _table(by: str, rows: Sequence[Mapping[str, Any]], total: Mapping[str, Any]) -> Iterator[str]:
    cells = [(clean_line(row["label"]), *_numbers(row)) for row in (*rows, total)]
    table = [(by, *_COLUMNS), *cells]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for label, *numbers in table:
        right = (number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True))
        yield "  ".join([label.ljust(widths[0]), *right])
    if total["estimated_turns"]:
        yield "~ estimated from list prices: the agent reports no cost"
    if total["unknown_turns"]:
        yield "+ and turns of models without a known price"


def _numbers(row: Mapping[str, Any]) -> tuple[str, ...]:
    cost = format_cost(
        row["cost_usd"],
        is_estimated=row["estimated_turns"] > 0,
        is_partial=0 < row["unknown_turns"] < row["turns"],
    )
    return str(row["turns"]), format_number(row["tokens"]), format_duration(row["seconds"]), cost


def _describe_limits(accounts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for account in accounts:
        for window in account["windows"]:
            used = "unknown" if window["used"] is None else f"{round(100 * window['used'])} % used"
            resets = ""
            if window["resets_at"] is not None:
                resets = f", resets {format_moment(window['resets_at'], time.time())}"
            yield f"{clean_line(account['label'])}, {clean_line(window['label'])}: {used}{resets}"
