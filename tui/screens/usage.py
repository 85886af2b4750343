"""The dialog with what agents use: meters of limits, a plot over 30 days, sums by day or model."""

import datetime
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from model.api.usage import (
    Budget,
    UsageBy,
    UsageReport,
    UsageRow,
    get_usage,
    list_budgets,
    list_usage_limits,
)
from model.base.amounts import format_cost, format_number
from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.usage import AccountLimits
from tui.desk import Desk
from tui.draw.colors import ASCII_GLYPHS
from tui.screens import usage_lines as draw
from tui.screens.dialog import Dialog
from tui.terminal import screen_reader
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from model.domain.sessions import Session
    from tui.store.mirror import Change

_RANGES: Final[tuple[tuple[str, int | None], ...]] = (
    ("today", 1),
    ("7 days", 7),
    ("30 days", 30),
    ("all", None),
)
"""Names and lengths in days."""
_GROUPS: Final[tuple[UsageBy, ...]] = ("model", "project", "session", "agent", "day")
_SORTS: Final[Mapping[str, Callable[[UsageRow], float]]] = {
    "cost": lambda row: -(row.cost_usd or 0.0),
    "tokens": lambda row: -row.tokens,
    "turns": lambda row: -row.turns,
    "time": lambda row: -row.seconds,
}
_LOW: Final = 30
"""Rows of a terminal below which the table comes before the plot."""
_NARROW: Final = 74
"""Cells below which meters are shorter."""
_RELOAD_DELAY: Final = 1.0
"""Seconds between reading the sums again while turns end."""


class Usage(Dialog[None]):
    """Sums of all sessions, which follow the turns that end; the open session above them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "change_range(-1)", show=False),
        Binding("right", "change_range(1)", show=False),
        Binding("b", "change_group", show=False),
        Binding("s", "change_sort", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
    ]

    def __init__(self, desk: Desk) -> None:
        super().__init__("Usage")
        self._desk = desk
        self._range = 0
        self._group = 0
        self._sort = "cost"
        self._report: UsageReport | None = None
        self._days: UsageReport | None = None
        self._limits: list[AccountLimits] = []
        self._budgets: list[Budget] = []
        self._problem = ""
        self.is_shown = False
        """Whether the sums have been read."""

    def body(self) -> list[Widget]:
        """The text, which scrolls, and the keys."""
        keys = keys_line(("←→", "range"), ("b", "by"), ("s", "sort"), ("esc", "close"))
        return [
            VerticalScroll(Static("Adding up…", id="usage", markup=False), classes="page"),
            Static(keys, classes="keys"),
        ]

    def on_mount(self) -> None:
        """Read the sums, and follow the turns that end."""
        self._desk.mirror.followers.append(self._follow)
        self._reload()

    def on_unmount(self) -> None:
        """Stop following."""
        self._desk.mirror.followers.remove(self._follow)

    def on_resize(self) -> None:
        """Draw in the new width."""
        self._draw()

    def action_change_range(self, by: int) -> None:
        """Show the sums of more or fewer days."""
        self._range = max(0, min(len(_RANGES) - 1, self._range + by))
        self._reload()

    def action_change_group(self) -> None:
        """Sum by something else."""
        self._group = (self._group + 1) % len(_GROUPS)
        self._reload()

    def action_change_sort(self) -> None:
        """Sort by another column."""
        names = list(_SORTS)
        self._sort = names[(names.index(self._sort) + 1) % len(names)]
        self._draw()

    def action_scroll(self, rows: int) -> None:
        """Scroll the text."""
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)

    def _follow(self, change: "Change") -> None:
        ended = (
            session_id in change.before.sessions
            and change.before.sessions[session_id].usage != session.usage
            for session_id in change.sessions
            if (session := change.state.sessions.get(session_id)) is not None
        )
        if change.loaded or any(ended):
            self.set_timer(_RELOAD_DELAY, self._reload)

    def _reload(self) -> None:
        self.run_worker(self._load(), exclusive=True, exit_on_error=False)

    async def _load(self) -> None:
        call = self._desk.client.call
        try:
            self._limits = await call(list_usage_limits)
            session = self._desk.session
            budgets = await call(list_budgets, session_id=session.id if session else None)
            self._budgets = [budget for budget in budgets if budget.used or budget.scope == "day"]
            # The length of the range counts from the server's day, not from that of this machine.
            self._days = await call(get_usage, by="day")
            self._report = await call(
                get_usage, by=_GROUPS[self._group], since=self._since(self._days.today)
            )
            self._problem, self.is_shown = "", True
        except SpinneyError as error:
            self._problem = error.message
        self._draw()

    def _since(self, today: str) -> str | None:
        days = _RANGES[self._range][1]
        if days is None:
            return None
        first = datetime.date.fromisoformat(today) - datetime.timedelta(days=days - 1)
        return first.isoformat()

    def _draw(self) -> None:
        if self._problem:
            self._show(Content.styled(self._problem, "$error"))
        elif self._report is not None and self._days is not None:
            width = max(40, self.query_one(VerticalScroll).scrollable_content_region.width)
            self._show(Content("\n").join(self._lines(self._report, self._days, width)))

    def _show(self, content: Content) -> None:
        self.query_one("#usage", Static).update(content)

    def _lines(self, report: UsageReport, days: UsageReport, width: int) -> list[Content]:
        is_ascii = self._desk.palette.glyphs is ASCII_GLYPHS
        lines: list[Content] = []
        if (session := self._desk.session) is not None and session.usage.total:
            lines += [_describe_session(session), Content("")]
        if meters := self._meters(width, is_ascii):
            lines += [*meters, Content("")]
        if not days.total.turns:
            return [*lines, Content("No turn has ended yet that reported what it used.")]
        plot = [] if screen_reader.is_enabled() else draw.plot_lines(days, is_ascii=is_ascii)
        if plot and self.app.size.height >= _LOW:
            lines, plot = [*lines, *plot, Content("")], []
        lines += [self._choices(), Content(draw.describe_total(report.total)), Content("")]
        rows = report.rows
        group = _GROUPS[self._group]
        if group == "day":
            rows = rows[::-1]
        elif self._sort != "cost":
            rows = sorted(rows, key=_SORTS[self._sort])
        sorted_by = "" if group == "day" else self._sort
        lines += draw.table_lines(f"By {group}", rows, width, sorted_by)
        lines += _notes(report.total)
        return [*lines, Content(""), *plot] if plot else lines

    def _choices(self) -> Content:
        """The ranges, with the chosen one marked by more than its color."""
        parts: list[tuple[str, str] | str] = []
        for number, (name, _) in enumerate(_RANGES):
            chosen = number == self._range
            parts += [(f"[{name}]" if chosen else f" {name} ", "bold" if chosen else "$text-muted")]
            parts.append(" ")
        return Content.assemble(*parts)

    def _meters(self, width: int, is_ascii: bool) -> list[Content]:
        meters = [
            (
                f"{clean_line(account.label)}, {clean_line(window.label)}",
                window.used,
                "reached, " * window.reached + draw.describe_reset(window.resets_at),
            )
            for account in self._limits
            for window in account.windows
        ]
        meters += [
            (
                f"Budget: {clean_line(budget.label)}",
                budget.used,
                f"{format_cost(budget.spent_usd)} of {format_cost(budget.limit_usd)}",
            )
            for budget in self._budgets
        ]
        is_short = width < _NARROW
        longest = max((len(name) for name, _, _ in meters), default=0)
        size = min(28 if is_short else 34, longest)
        return [
            draw.meter_line(name, used, rest, size, is_ascii=is_ascii, is_short=is_short)
            for name, used, rest in meters
        ]


def _describe_session(session: "Session") -> Content:
    parts = [f"{format_number(session.usage.total)} tokens"]
    if (cost := session.cost) is not None:
        cost_text = format_cost(
            cost.usd, is_estimated=cost.is_estimated, is_partial=cost.is_partial and cost.usd > 0
        )
        parts.insert(0, "cost unknown" if cost.is_partial and not cost.usd else cost_text)
    if session.context_tokens and session.context_window:
        share = 100 * session.context_tokens // session.context_window
        left = max(0, session.context_window - session.context_tokens)
        parts.append(f"context {share} %, {format_number(left)} left")
    return Content.assemble(("This session  ", "$text-muted"), " · ".join(parts))


def _notes(total: UsageRow) -> list[Content]:
    """What the marks at costs mean, of those that are shown."""
    notes = []
    if total.estimated_turns:
        notes.append("~ estimated from list prices: the agent reports no cost")
    if total.unknown_turns > 0:
        notes.append("+ and turns of models without a known price")
    return [Content(""), *(Content.styled(note, "$text-muted") for note in notes)] if notes else []
