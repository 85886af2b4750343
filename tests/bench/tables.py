"""Figures in rows beside their baselines, printed for people or as JSON."""

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
    """What is asked of a figure, and what it was."""

    text: str
    found: float
    met: bool


@dataclass
class Table:
    """One bench."""

    name: str
    title: str
    rows: list[Row] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, **figures: Figure) -> None:
        """Another row."""
        self.rows.append(Row(name, figures))

    def at_most(self, text: str, found: float, limit: float) -> None:
        """A goal that is met below its limit."""
        self.goals.append(Goal(text, round(found, 3), found <= limit))

    def at_least(self, text: str, found: float, limit: float) -> None:
        """A goal that is met above its limit."""
        self.goals.append(Goal(text, round(found, 3), found >= limit))

    def text(self) -> str:
        """The table as Markdown."""
        columns = list(dict.fromkeys(key for row in self.rows for key in row.figures))
        lines = [["", *(column.replace("_", " ") for column in columns)]]
        for row in self.rows:
            lines.append([row.name, *(_shown(row.figures.get(column)) for column in columns)])
        widths = [max(len(line[i]) for line in lines) for i in range(len(columns) + 1)]
        drawn = [_line(line, widths) for line in lines]
        drawn.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        told = [f"{'met' if g.met else 'MISSED'}: {g.text} (found {g.found})" for g in self.goals]
        return "\n".join([f"## {self.name}: {self.title}", "", *drawn, "", *told, *self.notes])


def as_json(tables: Iterable[Table]) -> str:
    """All tables."""
    return json.dumps([asdict(table) for table in tables], indent=2)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def _line(cells: list[str], widths: list[int]) -> str:
    first, *rest = zip(cells, widths, strict=True)
    padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
    return "| " + " | ".join(padded) + " |"


def _shown(figure: Figure | None) -> str:
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


def of_clients(count: int) -> str:
    """«1 client», «10 clients»."""
    return f"{count} client" if count == 1 else f"{count} clients"
