"""Notes what agents report about their use. Belongs to the core's event loop.

Nothing of a turn that has ended stays in memory: sums are queries. The row of a running turn is
written whenever its agent reports what it used, so that a turn that is cut off counts as well.
"""

import asyncio
import time
import uuid
from collections.abc import Callable
from typing import Final, NamedTuple

from model.base.text import clean_line
from model.domain.events.sessions import SessionUpdated, UsageRecorded
from model.domain.sessions import Session
from model.domain.usage import Cost, CostSource, TurnUsage, Usage, UsageWindow
from model.domain.worktrees import Worktree
from model.store.store import Store
from model.store.usage_queries import TurnCondition
from model.usage.accounts import account_of
from model.usage.days import day_of
from model.usage.limits import KnownLimits
from model.usage.prices import Price, PriceLookup, look_up_prices

LOOKUP_DELAY: Final = 2.0
"""Seconds until unknown prices are looked up, together with those of turns that end meanwhile."""

_MAX_MODEL: Final = 200
"""Characters of a model's name."""
_MAX_PENDING: Final = 1000
"""Turns of an earlier run whose costs are looked up at start."""


class SessionSums(NamedTuple):
    """What the turns of a session used together."""

    usage: Usage
    cost: Cost | None


class UsageMeter:
    """Where conversations and writers report what their agents used."""

    def __init__(
        self,
        store: Store,
        look_up: PriceLookup = look_up_prices,
        now: Callable[[], float] = time.time,
        delay: float = LOOKUP_DELAY,
    ) -> None:
        self._store = store
        self._look_up = look_up
        self._now = now
        self._delay = delay
        self.limits = KnownLimits(store, now)
        self._started: dict[str, float] = {}
        """When the running turns began, by session."""
        self._turns: dict[str, TurnUsage] = {}
        """What was recorded of running turns, and of those whose end was not reported yet."""
        self._prices: dict[str, Price | None] = {}
        """Of the models that were looked up; `None` if the price is unknown."""
        self._pending: list[TurnUsage] = []
        """Turns whose price is being looked up."""
        self._pricing: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Read what was known when Spinney ended, and look up prices that were not found then."""
        await self.limits.load()
        condition = TurnCondition(is_pending=True)
        for turn in await self._store.turn_usage(condition, _MAX_PENDING):
            self._price_later(turn)

    async def close(self) -> None:
        """Stop looking up prices; the next start does it."""
        if self._pricing is not None:
            self._pricing.cancel()
            await asyncio.gather(self._pricing, return_exceptions=True)

    # Limits ------------------------------------------------------------------------------------

    def note_limits(self, session: Session, windows: tuple[UsageWindow, ...]) -> None:
        """Note the usage windows of the session's account."""
        self.limits.update(account_of(self._store.state, session), windows)

    def limits_of(self, account: str) -> tuple[UsageWindow, ...]:
        """Return the last known usage windows of an account (see `account_of`)."""
        return self.limits.windows_of(account)

    # Turns -------------------------------------------------------------------------------------

    def begin_turn(self, session_id: str) -> None:
        """Note that a turn begins now."""
        self._started[session_id] = self._now()
        self._turns.pop(session_id, None)

    def note_usage(self, session: Session, usage: Usage, cost_usd: float | None) -> SessionSums:
        """Record what the running turn used so far, and return the session's new sums.

        Its cost is added when it ends, or at the next start if it never does.
        """
        turn = self._make_turn(session, usage, cost_usd)
        turn = turn.model_copy(update={"cost_usd": cost_usd, "cost_source": "pending"})
        sums = self._add(session, turn)
        self._turns[session.id] = turn
        self._store.record(UsageRecorded(turn=turn))
        return sums

    def end_turn(self, session: Session, usage: Usage, cost_usd: float | None) -> SessionSums:
        """Record what a turn used, and return the session's new sums, for its caller to record.

        `cost_usd` is the cost as the agent reported it. If it reported nothing, the turn was cut
        off, and what it used so far counts, until its end is reported after all.
        """
        noted, is_running = self._turns.get(session.id), session.id in self._started
        is_reported = bool(usage.total or cost_usd)
        if not is_reported and (noted is None or not is_running):
            self._started.pop(session.id, None)
            return SessionSums(session.usage, session.cost)
        if not is_reported and noted is not None:
            usage, cost_usd = noted.usage, noted.cost_usd
        turn = self._make_turn(session, usage, cost_usd)
        sums = self._add(session, turn)
        self._started.pop(session.id, None)
        if is_reported:
            self._turns.pop(session.id, None)
        else:
            self._turns[session.id] = turn
        self._record(turn)
        return sums

    def _make_turn(self, session: Session, usage: Usage, cost_usd: float | None) -> TurnUsage:
        """Return the row of the session's turn, with the id under which it was recorded before."""
        noted = self._turns.get(session.id)
        turn = self._make_row(
            session_id=session.id,
            worktree=self._store.state.worktrees.get(session.worktree_id),
            backend=session.backend,
            account=account_of(self._store.state, session),
            model=session.answering_model or session.model,
            started_at=noted.started_at if noted else self._started.get(session.id),
            usage=usage,
            cost_usd=cost_usd,
        )
        return turn.model_copy(update={"id": noted.id}) if noted else turn

    def _add(self, session: Session, turn: TurnUsage) -> SessionSums:
        """Return the session's sums with this turn in place of what was recorded of it."""
        usage, cost = session.usage, session.cost
        if (noted := self._turns.get(session.id)) is not None:
            usage -= noted.usage
            if cost is not None and noted.cost_source != "pending":
                cost = cost.model_copy(update={"usd": cost.usd - (noted.cost_usd or 0.0)})
        is_pending = turn.cost_source == "pending"
        return SessionSums(usage + turn.usage, cost if is_pending else add_cost(cost, turn))

    def note_text(
        self,
        worktree: Worktree,
        purpose: str,
        backend: str,
        account: str,
        model: str,
        started_at: float,
        usage: Usage,
        cost_usd: float | None,
    ) -> None:
        """Record what a short text used, such as a commit message."""
        if usage.total or cost_usd:
            turn = self._make_row(
                purpose=purpose,
                worktree=worktree,
                backend=backend,
                account=account,
                model=model,
                started_at=started_at,
                usage=usage,
                cost_usd=cost_usd,
            )
            self._record(turn)

    def _make_row(
        self,
        *,
        worktree: Worktree | None,
        backend: str,
        account: str,
        model: str,
        started_at: float | None,
        usage: Usage,
        cost_usd: float | None,
        session_id: str = "",
        purpose: str = "",
    ) -> TurnUsage:
        now, name = self._now(), clean_line(model)[:_MAX_MODEL]
        cost, source = self._find_cost(name, usage, cost_usd)
        return TurnUsage(
            id=str(uuid.uuid4()),
            session_id=session_id,
            worktree_id=worktree.id if worktree else "",
            project_id=worktree.project_id if worktree else "",
            purpose=purpose,
            backend=backend,
            account=account,
            model=name,
            started_at=now if started_at is None else min(started_at, now),
            ended_at=now,
            day=day_of(now),
            usage=usage,
            cost_usd=cost,
            cost_source=source,
        )

    def _find_cost(
        self, model: str, usage: Usage, reported: float | None
    ) -> tuple[float | None, CostSource]:
        if reported is not None:
            return reported, "reported"
        if not model:
            return None, "unknown"
        if model not in self._prices:
            return None, "pending"
        price = self._prices[model]
        return (None, "unknown") if price is None else (price.estimate(usage), "estimated")

    def _record(self, turn: TurnUsage) -> None:
        self._store.record(UsageRecorded(turn=turn))
        if turn.cost_source == "pending":
            self._price_later(turn)

    async def await_costs(self) -> None:
        """Return when the costs of the turns that have ended are known, or cannot be."""
        if self._pricing is not None:
            await asyncio.wait((self._pricing,))

    # Prices ------------------------------------------------------------------------------------

    def _price_later(self, turn: TurnUsage) -> None:
        self._pending.append(turn)
        if self._pricing is None or self._pricing.done():
            self._pricing = asyncio.create_task(self._price())

    async def _price(self) -> None:
        while self._pending:
            await asyncio.sleep(self._delay)
            pending, self._pending = self._pending, []
            models = {turn.model for turn in pending if turn.model} - set(self._prices)
            if models:
                self._prices |= await self._look_up(models)
            for turn in pending:
                self._record_price(turn)

    def _record_price(self, turn: TurnUsage) -> None:
        noted = self._turns.get(turn.session_id)
        cost, source = self._find_cost(turn.model, turn.usage, turn.cost_usd)
        priced = turn.model_copy(update={"cost_usd": cost, "cost_source": source})
        if noted is not None and noted.id == turn.id:
            self._turns[turn.session_id] = priced
        self._store.record(UsageRecorded(turn=priced))
        session = self._store.state.sessions.get(turn.session_id)
        if session is not None:
            updates = {"cost": add_cost(session.cost, priced).model_dump()}
            self._store.record(SessionUpdated(session_id=session.id, updates=updates))


def add_cost(cost: Cost | None, turn: TurnUsage) -> Cost:
    """Return a session's cost with that of a turn."""
    old = cost or Cost()
    return Cost(
        usd=old.usd + (turn.cost_usd or 0.0),
        is_estimated=old.is_estimated or turn.cost_source == "estimated",
        is_partial=old.is_partial or turn.cost_usd is None,
    )
