"""Budgets: a notification at 80 %, a pause at 100 %, and on when one is raised."""

from collections.abc import AsyncIterator

import pytest

from model.domain.events.base import Event
from model.domain.events.program import PreferencesUpdated, TaskCompleted
from model.domain.events.projects import ProjectUpdated
from model.domain.events.sessions import SessionUpdated, UsageRecorded
from model.domain.usage import TurnUsage, Usage
from model.limits.budgets import Budgets
from model.usage.days import day_of, start_of_next_day
from tests.model.chat.harness import Harness

NOW = 1_790_000_000.0


class Recorded:
    """Budgets over a harness, and what they did."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness
        self.budgets = Budgets(
            harness.store, harness.store.bus, harness.meter.await_costs, lambda: NOW
        )
        self._notified: list[str] = []
        self._record = harness.store.record
        harness.store.record = self._record_and_note  # type: ignore[method-assign]
        self._turns = 0

    def _record_and_note(self, *events: Event) -> None:
        self._notified += [each.detail for each in events if isinstance(each, TaskCompleted)]
        self._record(*events)

    @property
    def paused(self) -> dict[str, float | None]:
        """The paused sessions, and when they go on: at `NOW` if their budget was raised."""
        sessions = self.harness.store.state.sessions.values()
        pauses = {session.id: session.pause for session in sessions if session.pause is not None}
        assert all(pause.kind == "budget" and "budget" in pause.text for pause in pauses.values())
        return {key: pause.until for key, pause in pauses.items()}

    async def spend(self, usd: float | None, session_id: str = "s", tokens: int = 10) -> list[str]:
        """Let a turn of a session end, and return the notifications after it."""
        self._turns += 1
        turn = TurnUsage(
            id=f"t{self._turns}",
            session_id=session_id,
            worktree_id="w",
            project_id="p",
            backend="demo",
            account="demo",
            started_at=NOW,
            ended_at=NOW,
            day=day_of(NOW),
            usage=Usage(output_tokens=tokens),
            cost_usd=usd,
            cost_source="unknown" if usd is None else "reported",
        )
        self._notified.clear()
        await self.record(UsageRecorded(turn=turn))
        return list(self._notified)

    async def record(self, event: Event) -> None:
        """Record an event, and let the budgets handle it."""
        self.harness.store.record(event)
        await self.budgets.settle()

    async def prefer(self, **preferences: int) -> None:
        await self.record(PreferencesUpdated(changes=preferences))


@pytest.fixture
async def recorded(harness: Harness) -> AsyncIterator[Recorded]:
    yield Recorded(harness)


async def test_without_budgets_nothing_pauses(recorded: Recorded) -> None:
    assert await recorded.spend(1_000_000) == []
    assert recorded.paused == {}
    assert await recorded.budgets.read_all("s") == []


async def test_a_used_budget_notifies_once_and_then_pauses(recorded: Recorded) -> None:
    await recorded.prefer(budget_per_session=10)
    assert await recorded.spend(7) == []
    [warning] = await recorded.spend(1)
    assert "$8.00 of the budget of $10.00 is used: s." in warning
    assert await recorded.spend(1) == []
    [reached] = await recorded.spend(2)
    assert "Raise the budget" in reached
    assert recorded.paused == {"s": None}
    assert recorded.harness.session.status == "paused"
    await recorded.prefer(budget_per_session=20)
    assert recorded.paused == {"s": NOW}


async def test_a_budget_of_the_day_pauses_until_the_next(recorded: Recorded) -> None:
    store = recorded.harness.store
    await recorded.harness.add_session("working")
    await recorded.record(SessionUpdated(session_id="working", updates={"status": "running"}))
    await recorded.prefer(budget_per_day=5)
    await recorded.spend(5)
    assert recorded.paused == dict.fromkeys(("s", "working"), start_of_next_day(NOW))
    joined = {key: one.pause.is_joined for key, one in store.state.sessions.items() if one.pause}
    assert joined == {"s": False, "working": True}  # One notice is enough.
    [budget] = await recorded.budgets.read_all()
    assert (budget.scope, budget.spent_usd, budget.used) == ("day", 5, 1)


async def test_each_budget_pauses_its_own_sessions(recorded: Recorded) -> None:
    await recorded.harness.add_session("other")
    await recorded.prefer(budget_per_project=10, budget_per_session=100)
    project = recorded.harness.store.state.projects["p"]
    await recorded.spend(10, "other")
    assert recorded.paused == {"other": start_of_next_day(NOW)}
    # Its own budget precedes that of the preference; 0 is no limit.
    free = project.model_copy(update={"budget_usd": 0.0})
    await recorded.record(ProjectUpdated(project=free))
    assert recorded.paused == {"other": NOW}
    await recorded.record(SessionUpdated(session_id="s", updates={"budget_usd": 0.5}))
    await recorded.spend(1)
    assert recorded.paused == {"other": NOW, "s": None}


async def test_tokens_of_unknown_cost_count_at_the_chosen_rate(recorded: Recorded) -> None:
    await recorded.prefer(budget_per_session=2, tokens_per_dollar=1000)
    await recorded.spend(None, tokens=1999)
    assert recorded.paused == {}
    await recorded.spend(None, tokens=1)
    assert recorded.paused == {"s": None}
    await recorded.prefer(tokens_per_dollar=0)
    assert recorded.paused == {"s": NOW}
