"""The page of what agents used: sums of some days, limits and budgets."""

import datetime
import time
from typing import TYPE_CHECKING, Final

from model.api.usage import Budget, UsageBy, UsageReport, get_usage, list_budgets, list_usage_limits
from model.base.amounts import format_cost, format_duration, format_number
from model.base.moments import format_moment
from model.commands.dispatch import run
from model.domain.usage import AccountLimits
from server.lite.html import Element, make
from server.lite.layout import render_page
from server.lite.page_request import PageRequest, link, nav, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

_GROUPS: Final[tuple[UsageBy, ...]] = ("model", "project", "session", "agent", "day")
_RANGES: Final = (("1", "today"), ("7", "7 days"), ("30", "30 days"), ("all", "all"))
_MAX_ROWS: Final = 100


async def render_usage(page_request: PageRequest) -> str:
    """Sums by `by` of the last `days` days, from the query of the address."""
    by = next((each for each in _GROUPS if each == page_request.query.get("by")), _GROUPS[0])
    days = page_request.query.get("days", "1")
    days = days if days in dict(_RANGES) else "1"
    workspace, since = page_request.workspace, None
    if days != "all":
        first = datetime.date.today() - datetime.timedelta(days=int(days) - 1)
        since = first.isoformat()
    report = await run(workspace, get_usage, {"by": by, "since": since})
    limits = await run(workspace, list_usage_limits, {})
    budgets = await run(workspace, list_budgets, {})
    facts = [*_describe_limits(limits), *_describe_budgets(budgets)]
    return render_page(
        page_request,
        "Usage",
        nav(link("‹ Sessions", "/lite")),
        make("ul", [make("li", fact) for fact in facts]) if facts else None,
        nav(*(_choice(name, f"?by={by}&days={value}", value == days) for value, name in _RANGES)),
        nav(*(_choice(f"by {name}", f"?by={name}&days={days}", name == by) for name in _GROUPS)),
        _table(report),
        make("p", "Costs are list prices; ~ is estimated, + means that a part is unknown."),
    )


def _choice(name: str, query: str, is_chosen: bool) -> Element:
    return make("b", name) if is_chosen else link(name, f"/lite/usage{query}")


def _table(report: UsageReport) -> Element:
    header = (report.by.capitalize(), "Turns", "Tokens", "Time", "Cost")
    rows = [
        make(
            "tr",
            make("th", shorten(row.label)),
            make("td", str(row.turns)),
            make("td", format_number(row.tokens)),
            make("td", format_duration(row.seconds)),
            make(
                "td",
                format_cost(
                    row.cost_usd,
                    is_estimated=row.estimated_turns > 0,
                    is_partial=0 < row.unknown_turns < row.turns,
                ),
            ),
        )
        for row in [*report.rows[:_MAX_ROWS], report.total]
    ]
    head = make("thead", make("tr", [make("th", name) for name in header]))
    return make("table", head, make("tbody", rows))


def _describe_limits(accounts: list[AccountLimits]) -> "Iterator[str]":
    for account in accounts:
        for window in account.windows:
            used = "unknown" if window.used is None else f"{round(100 * window.used)} % used"
            resets = ""
            if window.resets_at is not None:
                resets = f", resets {format_moment(window.resets_at, time.time())}"
            yield f"{account.label}, {window.label}: {used}{resets}"


def _describe_budgets(budgets: list[Budget]) -> "Iterator[str]":
    for budget in budgets:
        spent, limit = format_cost(budget.spent_usd), format_cost(budget.limit_usd)
        yield f"Budget: {budget.label}: {spent} of {limit}"
