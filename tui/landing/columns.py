"""The columns of the landing desk: what each says of a worktree, and which ones fit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from rich.cells import cell_len

from model.base.text import clean_line
from tui.draw.line_parts import one_line
from tui.terminal.screen_reader import format_count

if TYPE_CHECKING:
    from model.domain.landing import CheckResult, DeskPullRequest, LandingRow, NextStep

Tone = Literal["strong", "text", "muted", "accent", "success", "warning", "error"]
"""A color of the palette, by the name of its field."""
Part = tuple[str, Tone]
Names = Mapping[str, str]
"""The names of worktrees by their ids."""

NEXT_TONES: "Final[Mapping[NextStep, Tone]]" = {
    "answer": "warning",
    "wait": "muted",
    "commit": "accent",
    "resolve": "error",
    "fix": "error",
    "review": "accent",
    "check": "accent",
    "update": "accent",
    "land": "success",
    "merge": "success",
    "archive": "muted",
}
_PHASES: Final = {
    "changes_requested": "changes requested",
    "in_conflict": "in conflict",
}
_CHECK_SIGNS: Final[Mapping[str, Part]] = {
    "passed": ("✓", "success"),
    "failed": ("✗", "error"),
    "cancelled": ("✗", "error"),
    "queued": ("…", "muted"),
    "running": ("…", "muted"),
    "waiting": ("…", "muted"),
}
_CHECK_TONES: Final[Mapping[str, Tone]] = {
    "passed": "success", "failed": "error", "running": "accent", "none": "muted",
    "stopped": "muted",
}  # fmt: skip
_GAP: Final = 2
_MIN_NAME: Final = 16
"""Cells that the name of a worktree keeps, before other columns are left out."""
_MAX_NAME: Final = 44
_MAX_CELL: Final = 26


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the desk."""

    title: str
    describe: "Callable[[LandingRow, Names], list[Part]]"
    """What it says of a row; nothing if there is nothing to say."""
    is_spare: bool = False
    """Whether a narrow terminal does without it; the detail below the list has it, too."""


@dataclass(frozen=True, slots=True)
class FittedColumn:
    """A column with its width in cells."""

    column: Column
    width: int


def describe_next(row: "LandingRow", names: Names) -> list[Part]:
    """The next step."""
    return [(row.next, NEXT_TONES[row.next])]


def describe_name(row: "LandingRow", names: Names) -> list[Part]:
    """The worktree, and its branch if that has another name."""
    name, branch = clean_line(row.name), clean_line(row.branch)
    return [(name, "strong"), *([(f"  {branch}", "muted")] if branch != name else [])]  # type: ignore[list-item]


def describe_changes(row: "LandingRow", names: Names) -> list[Part]:
    """The lines that differ from the base."""
    parts: list[Part] = []
    if row.added:
        parts.append((format_count(row.added, "+", "added"), "success"))
    if row.removed:
        parts.append((format_count(row.removed, "−", "removed"), "error"))
    return _spaced(parts)


def describe_commits(row: "LandingRow", names: Names) -> list[Part]:
    """The commits ahead of the base and behind it."""
    parts: list[Part] = []
    if row.ahead:
        parts.append((format_count(row.ahead, "↑", "ahead"), "text"))
    if row.behind:
        parts.append((format_count(row.behind, "↓", "behind"), "muted"))
    return _spaced(parts)


def describe_conflicts(row: "LandingRow", names: Names) -> list[Part]:
    """What it would be in conflict with."""
    partners = conflict_partners(row, names)
    return [(", ".join(partners), "warning")] if partners else []


def conflict_partners(row: "LandingRow", names: Names) -> list[str]:
    """The names of the branches and worktrees that it would be in conflict with."""
    return [clean_line(names.get(c.partner, c.partner)) for c in row.conflicts]


def describe_review(row: "LandingRow", names: Names) -> list[Part]:
    """How many of its hunks a person has decided about."""
    review = row.review
    if not review.hunks:
        return []
    is_done = review.accepted >= review.hunks
    decided = f"{review.accepted} of {review.hunks}"
    parts: list[Part] = [
        (decided, "success" if is_done else "text" if review.accepted else "muted")
    ]
    if review.rejected:
        parts.append((f"{review.rejected} rejected", "warning"))
    return _spaced(parts)


def describe_check(row: "LandingRow", names: Names) -> list[Part]:
    """The result of the `check` script."""
    word = check_word(row.check)
    return (
        [(word, "warning" if word == "stale" else _CHECK_TONES[row.check.status])] if word else []
    )


def check_word(check: "CheckResult") -> str:
    """The result of the `check` script in a word; empty if there is no such script."""
    if not check.has_script:
        return ""
    if check.is_stale and check.status in ("passed", "failed"):
        return "stale"
    return "not run" if check.status == "none" else check.status


def describe_pull_request(row: "LandingRow", names: Names) -> list[Part]:
    """The pull request, where it stands, and its checks."""
    request = row.pull_request
    if request is None:
        return []
    tone: Tone = "success" if request.phase in ("approved", "queued") else "text"
    if request.phase in ("changes_requested", "in_conflict"):
        tone = "warning"
    parts: list[Part] = [(f"#{request.number}", "text")]
    if request.phase is not None:
        parts.append((phase_words(request), tone))
    if request.checks is not None and (sign := _CHECK_SIGNS.get(request.checks)) is not None:
        parts.append(sign)
    if request.unresolved:
        parts.append((f"{request.unresolved} unresolved", "warning"))
    if request.unanswered:
        parts.append((f"{request.unanswered} unanswered", "warning"))
    return _spaced(parts)


def phase_words(request: "DeskPullRequest") -> str:
    """Where a pull request stands."""
    return _PHASES.get(request.phase or "", request.phase or "state not known yet")


def _spaced(parts: list[Part]) -> list[Part]:
    return [(text if at == 0 else f" {text}", tone) for at, (text, tone) in enumerate(parts)]


NAME: Final = Column("Worktree", describe_name)
COLUMNS: Final = (
    Column("Next", describe_next),
    NAME,
    Column("Changes", describe_changes, is_spare=True),
    Column("Commits", describe_commits, is_spare=True),
    Column("Conflicts", describe_conflicts),
    Column("Reviewed", describe_review),
    Column("Check", describe_check),
    Column("Pull request", describe_pull_request),
)
"""From left to right."""


def fit_columns(rows: "Sequence[LandingRow]", names: Names, width: int) -> list[FittedColumn]:
    """The columns that say something of any row, as wide as they need, so that all fit.

    What is left goes to the name. Where there is too little, the spare columns are left out, the
    last of them first, and then the widest ones are cut.
    """
    if not rows:
        return []
    used = [column for column in COLUMNS if any(column.describe(row, names) for row in rows)]
    widths = {column.title: _needed(column, rows, names) for column in used}

    def left_for_name() -> int:
        return width - sum(widths[c.title] + _GAP for c in used if c is not NAME)

    while left_for_name() < _MIN_NAME and (spare := [c for c in used if c.is_spare]):
        used.remove(spare[-1])
    others = [column.title for column in used if column not in (COLUMNS[0], NAME)]
    while others and left_for_name() < _MIN_NAME:
        widest = max(others, key=lambda title: widths[title] - len(title))
        if widths[widest] <= len(widest):
            break
        widths[widest] -= 1
    widths[NAME.title] = max(8, min(left_for_name(), _needed(NAME, rows, names, _MAX_NAME)))
    return [FittedColumn(column, widths[column.title]) for column in used]


def _needed(
    column: Column, rows: "Iterable[LandingRow]", names: Names, most: int = _MAX_CELL
) -> int:
    texts = ("".join(text for text, _ in column.describe(row, names)) for row in rows)
    return min(most, max(map(cell_len, (column.title, *texts))))


def lay_out(parts: Sequence[Part], width: int) -> list[Part]:
    """The parts in exactly `width` cells, cut or followed by spaces."""
    result: list[Part] = []
    left = width
    for text, tone in parts:
        if left <= 0:
            break
        shown = text
        if cell_len(text) > left:
            gap = len(text) - len(text.lstrip())  # between two parts
            shown = text[:gap] + one_line(text, left - gap) if left > gap + 1 else " " * left
        result.append((shown, tone))
        left -= cell_len(shown)
    return [*result, (" " * left, "text")] if left > 0 else result


def join_words(row: "LandingRow", names: Names) -> str:
    """A row in words, for screen readers: only what there is to say, with the columns' names."""
    said = []
    for column in sorted(COLUMNS[2:], key=lambda column: column.is_spare):
        if parts := column.describe(row, names):
            said.append(f"{column.title.lower()}: {''.join(text for text, _ in parts)}")
    name = "".join(text for text, _ in describe_name(row, names))
    return ", ".join([f"{row.next}: {name}", *said])
