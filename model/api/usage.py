"""What agents use: tokens and cost of their turns, and the limits of their accounts."""

from typing import Literal

from pydantic import Field

from model.api.command import command
from model.domain.resource import Resource
from model.domain.usage import AccountLimits, Usage

BudgetScope = Literal["day", "project", "session"]
UsageBy = Literal["day", "model", "agent", "project", "worktree", "session", "turn"]


class UsageRow(Resource):
    """What the turns of a day, a model, … used together."""

    key: str
    """The day, or the id; empty for what was deleted, and for short texts in `by: session`."""
    label: str
    """What people call it."""
    turns: int = 0
    seconds: float = 0.0
    """How long the turns took together, with the time that they waited for a person."""
    usage: Usage = Field(default_factory=Usage)
    tokens: int = 0
    """The sum of the four numbers in `usage`."""
    cost_usd: float | None = 0.0
    """At list prices; null if it is unknown of all turns."""
    estimated_turns: int = 0
    """Turns whose cost is estimated from the model's list price: the agent reported none."""
    unknown_turns: int = 0
    """Turns whose cost is unknown, and not included."""


class UsageReport(Resource):
    """The reply to `get_usage`."""

    by: UsageBy
    since: str | None
    """The first and the last day."""
    until: str | None
    today: str
    """The day that it is now, in the time zone in which turns are counted."""
    rows: list[UsageRow]
    total: UsageRow


class Budget(Resource):
    """What may be spent in a session, in a project and a day, or in a day overall."""

    scope: BudgetScope
    id: str
    """The project or session; empty for that of the day."""
    label: str
    limit_usd: float
    spent_usd: float
    """With the tokens of turns of unknown cost, at the rate of the preference."""
    used: float
    """The spent fraction; 1 is all of it."""
    resets_at: float | None
    """When the next day begins, in seconds of the epoch; null for a session."""


@command
async def get_usage(
    by: UsageBy = "day",
    since: str | None = None,
    until: str | None = None,
    project_id: str | None = None,
    worktree_id: str | None = None,
    session_id: str | None = None,
) -> UsageReport:
    """Sum up the tokens and the cost of turns and of short texts such as commit messages.

    Turns belong to the local day on which they ended. Forks do not count the turns of the session
    they come from, undone turns stay counted, and so do those of deleted sessions, together.

    Args:
        by: What the rows are about. Days are in order, all others by cost, the highest first.
            `turn` lists the newest 200 turns of a session, which must be given.
        since: The first day, such as `2026-11-27`.
        until: The last day.
        project_id: Only turns in this project.
        worktree_id: Only turns in this worktree.
        session_id: Only turns of this session.
    """


@command
async def list_usage_limits() -> list[AccountLimits]:
    """List the usage windows of all accounts as their agents last reported them.

    An account is an agent with a provider profile. Programs report windows of subscriptions only,
    and with their answers: those of an account that was not used for a while may have been reset.
    """


@command
async def list_budgets(session_id: str | None = None) -> list[Budget]:
    """List the budgets of the day and of projects, and that of a session, with what is spent."""


@command
async def set_budget(
    usd: float | None, session_id: str | None = None, project_id: str | None = None
) -> Budget | None:
    """Set the budget of a session, or of a project for each day.

    Sessions that paused because of it go on if it is no longer used up. The other budgets, such as
    that of a day overall, are preferences.

    Args:
        usd: In dollars; 0 for no limit, null for that of the preferences.
        session_id: The session; give either it or a project.
        project_id: The project.
    """
