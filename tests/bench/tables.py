"""Tables of figures and goals, printed as Markdown or as JSON."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field

Figure = float | int | str


@dataclass(frozen=True)
class Row:
    """One thing measured; `figures` by column name, units in the names."""

    name: str
    figures: dict[str, Figure]


@dataclass(frozen=True)
class Goal:
    """A limit for a figure, and the measured value."""

    text: str
    found: float
    met: bool


@dataclass
class Table:
    """The results of one benchmark."""

    name: str
    title: str
    rows: list[Row] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, **figures: Figure) -> None:
        """Add a row."""
        self.rows.append(Row(name, figures))

    def at_most(self, text: str, found: float, limit: float) -> None:
        """Add a goal that is met at or below its limit."""
        self.goals.append(Goal(text, round(found, 3), found <= limit))

    def at_least(self, text: str, found: float, limit: float) -> None:
        """Add a goal that is met at or above its limit."""
        self.goals.append(Goal(text, round(found, 3), found >= limit))

    def text(self) -> str:
        """Return the table as Markdown."""
        columns = list(dict.fromkeys(key for row in self.rows for key in row.figures))
        lines = [["", *(column.replace("_", " ") for column in columns)]]
        for row in self.rows:
            lines.append([row.name, *(_format(row.figures.get(column)) for column in columns)])
        widths = [max(len(line[i]) for line in lines) for i in range(len(columns) + 1)]
        formatted = [_format_line(line, widths) for line in lines]
        formatted.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        goals = [f"{'met' if g.met else 'MISSED'}: {g.text} (found {g.found})" for g in self.goals]
        return "\n".join([f"## {self.name}: {self.title}", "", *formatted, "", *goals, *self.notes])


def as_json(tables: Iterable[Table]) -> str:
    """Return all tables as JSON."""
    return json.dumps([asdict(table) for table in tables], indent=2)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def _format_line(cells: list[str], widths: list[int]) -> str:
    first, *rest = zip(cells, widths, strict=True)
    padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
    return "| " + " | ".join(padded) + " |"


def _format(figure: Figure | None) -> str:
    match figure:
        case None:
            return ""
        case float() if abs(figure) >= 100:
            return f"{figure:,.0f}"
        case float():
            return f"{figure:.3g}"
        case int():
            return f"{figure:,}"
        case _:
            return figure


def format_clients(count: int) -> str:
    """Return "1 client" or "10 clients"."""
    return f"{count} client" if count == 1 else f"{count} clients"
