"""Budgets: what agents may use in a session, in a project and a day, and in a day overall.

They are checked when a turn ends, before the session's queue goes on. At 80 % of a budget people
are notified; at 100 % the sessions that it is about pause. A turn that runs goes to its end: cut
off, it would have cost as much and left its work half done. Only one that the agent began by itself
is stopped (`Conversation`).
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from model.api.usage import Budget, BudgetScope
from model.base.amounts import format_cost
from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.events.base import Event
from model.domain.events.program import PreferencesUpdated, TaskCompleted
from model.domain.events.projects import ProjectUpdated
from model.domain.events.sessions import SessionUpdated, UsageRecorded
from model.domain.sessions import Session
from model.domain.usage import TurnUsage
from model.limits.pauses import begin_budget_pause, end_pause, update_pause
from model.state import State
from model.store.bus import EventBus
from model.store.store import Store
from model.store.usage_queries import UsageKey, UsageSelection
from model.usage.days import day_of, start_of_next_day

WARNING: Final = 0.8
"""The used part at which people are notified."""

_SETTINGS: Final = frozenset({
    "budget_per_day", "budget_per_project", "budget_per_session", "tokens_per_dollar",
})  # fmt: skip

_log = logging.getLogger(__name__)


class Budgets:
    """Follows the ends of turns, and pauses sessions whose budget is used up.

    Args:
        store: Provides the state and the sums.
        bus: The source of the events after which a budget may be used up, or is not any more.
        await_costs: Returns when the costs of the turns that have ended are known.
        now: Returns seconds since 1970.
    """

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        await_costs: Callable[[], Awaitable[None]],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._bus = bus
        self._await_costs = await_costs
        self._now = now
        self._reader = bus.reader()
        self._taken: deque[Event] = deque()
        """Events that were read and not handled yet."""
        self._lock = asyncio.Lock()
        self._wake = asyncio.Event()

    async def read_all(self, session_id: str | None = None) -> list[Budget]:
        """Return the budgets of the day and of projects, and that of a session."""
        state = self._store.state
        subjects: list[tuple[BudgetScope, str]] = [("day", "")]
        subjects += [("project", each.id) for each in state.projects.values() if not each.is_folder]
        subjects += [("session", session_id)] if session_id else []
        found = [await self._read(scope, subject) for scope, subject in subjects]
        return [budget for budget in found if budget is not None]

    async def run(self) -> None:
        """Follow the events until canceled."""
        stop_listening = self._bus.listen(self._wake.set)
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                await self._handle_events()
        finally:
            stop_listening()

    def apply_to(self, session: Session) -> bool:
        """Whether the session has a budget."""
        subjects = self._subjects_of(session)
        return any(find_limit(self._store.state, *each)[0] for each in subjects)

    async def settle(self) -> None:
        """Return when it is decided, of all turns that have ended, which sessions pause."""
        await self._await_costs()
        self._bus.seal()
        await self._handle_events()

    async def _handle_events(self) -> None:
        async with self._lock:
            self._taken.extend(entry.event for entry in self._reader.take()[0])
            is_changed = False
            while self._taken:  # A caller that is canceled leaves the rest to the next.
                is_changed |= _changes_budgets(event := self._taken[0])
                try:
                    if isinstance(event, UsageRecorded) and event.turn.cost_source != "pending":
                        await self._check(event.turn)
                except Exception as error:
                    known = isinstance(error, SpinneyError)
                    _log.warning("a budget was not checked", exc_info=None if known else error)
                self._taken.popleft()
            if is_changed:
                await self.reconsider()

    async def reconsider(self) -> None:
        """Let sessions go on whose budgets were raised or lifted."""
        for session in list(self._store.state.sessions.values()):
            if session.pause is None or session.pause.kind != "budget" or session.archived_at:
                continue
            budgets = [await self._read(*each) for each in self._subjects_of(session)]
            if not any(budget and budget.used >= 1 for budget in budgets):
                await self._store.accept(partial(_go_on, session.id, self._now()))

    # Internal ----------------------------------------------------------------------------------

    async def _check(self, turn: TurnUsage) -> None:
        """Notify or pause if a budget's mark was passed with this turn."""
        subjects: list[tuple[BudgetScope, str]] = [("day", ""), ("project", turn.project_id)]
        subjects += [("session", turn.session_id)] if turn.session_id else []
        amount = self._amount(turn.cost_usd or 0.0, 0 if turn.cost_usd else turn.usage.total)
        for scope, subject in subjects:
            budget = await self._read(scope, subject)
            if budget is None or budget.used < WARNING:
                continue
            before = (budget.spent_usd - amount) / budget.limit_usd
            if budget.used >= 1:
                await self._pause_sessions(budget, turn)
            if budget.used >= 1 > before or (budget.used < 1 and before < WARNING):
                worktree = turn.worktree_id or None
                event = TaskCompleted(
                    task="budget", ok=False, detail=_describe(budget), worktree_id=worktree
                )
                self._store.record(event)

    async def _pause_sessions(self, budget: Budget, turn: TurnUsage) -> None:
        """Pause the session of the turn, and all that work at the moment within the budget."""
        state = self._store.state
        is_joined = False
        for session in sorted(state.sessions.values(), key=lambda one: one.id != turn.session_id):
            worktree = state.worktrees.get(session.worktree_id)
            project_id = worktree.project_id if worktree else ""
            is_meant = {
                "day": True,
                "project": project_id == budget.id,
                "session": session.id == budget.id,
            }[budget.scope]
            works = session.is_active or session.id == turn.session_id
            if is_meant and works and session.pause is None:
                pause = partial(_pause, session.id, budget, self._now(), is_joined)
                await self._store.accept(pause)
                is_joined = True

    def _subjects_of(self, session: Session) -> list[tuple[BudgetScope, str]]:
        worktree = self._store.state.worktrees.get(session.worktree_id)
        project_id = worktree.project_id if worktree else ""
        return [("day", ""), ("project", project_id), ("session", session.id)]

    async def _read(self, scope: BudgetScope, subject: str) -> Budget | None:
        """Return a budget with what was spent of it; `None` if there is none."""
        limit, label = find_limit(self._store.state, scope, subject)
        if not limit:
            return None
        now = self._now()
        only: dict[UsageKey, str] = {}
        if scope != "day":
            only["project_id" if scope == "project" else "session_id"] = subject
        today = "" if scope == "session" else day_of(now)
        [total] = await self._store.usage(UsageSelection((), today, today, only))
        spent = self._amount(total.cost_usd, total.unknown_tokens)
        return Budget(
            scope=scope,
            id=subject,
            label=label,
            limit_usd=limit,
            spent_usd=spent,
            used=spent / limit,
            resets_at=None if scope == "session" else start_of_next_day(now),
        )

    def _amount(self, cost_usd: float, unknown_tokens: int) -> float:
        """Return dollars: tokens of turns whose cost is unknown count at a rate people choose."""
        rate = self._store.state.preferences.tokens_per_dollar
        return cost_usd + (unknown_tokens / rate if rate else 0.0)


def find_limit(state: State, scope: BudgetScope, subject: str) -> tuple[float, str]:
    """Return a budget's dollars, 0 for none, and what it is called."""
    preferences = state.preferences
    match scope:
        case "day":
            return preferences.budget_per_day, "All projects, today"
        case "project":
            project = state.projects.get(subject)
            own = project.budget_usd if project else 0.0
            name = clean_line(project.name) if project else ""
            limit = preferences.budget_per_project if own is None else own
            return limit, f"{name}, today"
        case "session":
            session = state.sessions.get(subject)
            own = session.budget_usd if session else 0.0
            name = clean_line(session.name) if session else ""
            return preferences.budget_per_session if own is None else own, name


def _describe(budget: Budget) -> str:
    spent, limit = format_cost(budget.spent_usd), format_cost(budget.limit_usd)
    about = f"{spent} of the budget of {limit} is used: {budget.label}."
    if budget.used < 1:
        return about
    return f"{about} Raise the budget, or resume the session for one more turn."


def _pause(
    session_id: str, budget: Budget, now: float, is_joined: bool, state: State
) -> list[Event]:
    session = state.sessions.get(session_id)
    if session is None:
        return []
    text, until = _describe(budget), budget.resets_at
    return [begin_budget_pause(session, state, text, until, now, is_joined=is_joined)]


def _go_on(session_id: str, now: float, state: State) -> list[Event]:
    """Return the event by which a session goes on; the timer starts what waits in it."""
    session = state.sessions.get(session_id)
    if session is None or session.pause is None or session.pause.kind != "budget":
        return []
    return [end_pause(session) if session.is_active else update_pause(session, until=now)]


def _changes_budgets(event: Event) -> bool:
    match event:
        case PreferencesUpdated():
            return bool(event.changes.keys() & _SETTINGS)
        case SessionUpdated():
            return "budget_usd" in event.updates
        case ProjectUpdated():
            return True
        case _:
            return False
