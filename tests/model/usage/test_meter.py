"""What turns used: a row for each, with the cost that was reported or else is estimated."""

from collections.abc import Awaitable, Callable

import pytest

from model.backends import agent_events
from model.domain.events.sessions import SessionDeleted
from model.domain.usage import Cost, Usage
from model.store.usage_queries import TurnCondition, UsageSelection
from model.usage.prices import Price, look_up_prices
from model.usage.reports import UsageReports
from tests.model.chat.harness import Harness

USAGE = Usage(input_tokens=100, output_tokens=20, cache_read_input_tokens=1000)
PRICE = Price(input=0.01, output=0.1, cache_write=0.02, cache_read=0.001)


async def finish(harness: Harness, *events: agent_events.AgentEvent) -> None:
    """Run a turn of session "s" that ends with these events."""
    puppet = await harness.start_turn("go")
    puppet.say(agent_events.TextDelta("a", "Done."), *events)
    await harness.wait_for_turn()


async def test_the_cost_that_an_agent_reports_is_kept_with_the_turn(harness: Harness) -> None:
    await finish(
        harness,
        agent_events.ModelReported("loom-4"),
        agent_events.TurnFinished("end_turn", USAGE, cost_usd=0.25),
    )
    await finish(harness, agent_events.TurnFailed("Broken.", "backend_error", USAGE, cost_usd=0.5))
    assert harness.session.cost == Cost(usd=0.75)
    newest, first = await harness.store.turn_usage(TurnCondition(session_id="s"), 10)
    assert (first.model, first.backend, first.account) == ("loom-4", "demo", "demo")
    assert (first.worktree_id, first.project_id, first.purpose) == ("w", "p", "")
    assert (first.usage, first.cost_usd, first.cost_source) == (USAGE, 0.25, "reported")
    assert first.started_at <= first.ended_at <= newest.started_at
    [total] = await harness.store.usage(UsageSelection())
    assert (total.turns, total.cost_usd, total.usage) == (2, 0.75, USAGE + USAGE)


async def test_a_cost_that_is_not_reported_is_estimated_from_the_models_price(
    harness: Harness,
) -> None:
    harness.prices["loom-4"] = PRICE
    finished = agent_events.TurnFinished("end_turn", USAGE)
    await finish(harness, agent_events.ModelReported("loom-4"), finished)
    await harness.wait_until(lambda: harness.session.cost is not None)
    assert harness.session.cost == Cost(usd=4.0, is_estimated=True)
    await finish(harness, finished)  # now the price is known at once
    assert harness.session.cost == Cost(usd=8.0, is_estimated=True)
    await finish(harness, agent_events.ModelReported("a-model-of-ones-own"), finished)
    await harness.wait_until(
        lambda: harness.session.cost is not None and harness.session.cost.is_partial
    )
    [total] = await harness.store.usage(UsageSelection())
    assert total.cost_usd == pytest.approx(8.0)
    assert (total.turns, total.estimated_turns, total.unknown_turns) == (3, 2, 1)
    assert total.unknown_tokens == USAGE.total


async def test_a_price_that_was_not_looked_up_before_a_kill_is_looked_up_at_the_next_start(
    harness: Harness, reopen_after_kill: Callable[[], Awaitable[Harness]]
) -> None:
    harness.meter._delay = 1000
    await finish(
        harness, agent_events.ModelReported("loom-4"), agent_events.TurnFinished("end_turn", USAGE)
    )
    assert harness.session.cost is None
    later = await reopen_after_kill()
    later.prices["loom-4"] = PRICE
    await later.meter.load()
    await later.wait_until(lambda: later.session.cost is not None)
    assert later.session.cost == Cost(usd=4.0, is_estimated=True)
    [total] = await later.store.usage(UsageSelection())
    assert (total.turns, total.estimated_turns) == (1, 1)


async def test_what_a_turn_used_is_counted_if_its_end_comes_after_a_stop(harness: Harness) -> None:
    puppet = await harness.propose_plan("1. Look")
    await harness.chats.stop("s")
    puppet.say(agent_events.TurnFinished("stopped", USAGE, cost_usd=0.1))
    await harness.wait_until(lambda: harness.session.usage == USAGE)
    assert harness.session.cost == Cost(usd=0.1)


async def test_forks_begin_with_nothing_and_deleted_sessions_keep_their_totals(
    harness: Harness,
) -> None:
    await finish(harness, agent_events.TurnFinished("end_turn", USAGE, cost_usd=0.25))
    fork = await harness.chats.fork("s", None, "w", None)
    assert (fork.usage, fork.cost) == (Usage(), None)
    await harness.store.accept(SessionDeleted(session_id="s", worktree_id="w"))
    report = await UsageReports(harness.store, str.title).make("session")
    [row] = report.rows
    assert (row.key, row.label, row.turns, row.cost_usd) == ("", "Deleted sessions", 1, 0.25)
    assert report.total.tokens == USAGE.total


async def test_prices_are_looked_up_in_a_program_of_their_own() -> None:
    hostile = "x" * 1000
    found = await look_up_prices(["claude-sonnet-4-5", "openai/gpt-5", "stub/loom", hostile])
    assert found["claude-sonnet-4-5"] == Price(
        pytest.approx(3e-6), pytest.approx(15e-6), pytest.approx(3.75e-6), pytest.approx(0.3e-6)
    )
    assert found["openai/gpt-5"]
    assert (found["stub/loom"], found[hostile]) == (None, None)


async def test_what_a_turn_reported_before_it_was_cut_off_is_counted_once(
    harness: Harness, reopen_after_kill: Callable[[], Awaitable[Harness]]
) -> None:
    puppet = await harness.start_turn("go")
    puppet.say(
        agent_events.UsageReported(USAGE), agent_events.UsageReported(USAGE + USAGE, cost_usd=0.2)
    )
    await harness.wait_until(lambda: harness.session.usage == USAGE + USAGE)
    await harness.conversations.close()
    await harness.store.flush()
    assert harness.session.cost == Cost(usd=0.2)
    later = await reopen_after_kill()
    await later.meter.load()
    puppet = await later.start_turn("go on")
    puppet.say(
        agent_events.UsageReported(USAGE),
        agent_events.TurnFinished("end_turn", USAGE, cost_usd=0.1),
    )
    await later.wait_for_turn()
    assert later.session.usage == USAGE + USAGE + USAGE
    assert later.session.cost is not None and later.session.cost.usd == pytest.approx(0.3)
    [total] = await later.store.usage(UsageSelection())
    assert (total.turns, total.usage) == (2, later.session.usage)
    assert total.cost_usd == pytest.approx(0.3)


async def test_what_a_turn_reported_before_a_kill_is_priced_at_the_next_start(
    harness: Harness, reopen_after_kill: Callable[[], Awaitable[Harness]]
) -> None:
    puppet = await harness.start_turn("go")
    puppet.say(agent_events.ModelReported("loom-4"), agent_events.UsageReported(USAGE))
    await harness.wait_until(lambda: harness.session.usage == USAGE)
    await harness.store.flush()
    later = await reopen_after_kill()
    later.prices["loom-4"] = PRICE
    await later.meter.load()
    await later.wait_until(lambda: later.session.cost is not None)
    assert (later.session.usage, later.session.cost) == (USAGE, Cost(usd=4.0, is_estimated=True))
    [total] = await later.store.usage(UsageSelection(by=("model",)))
    assert (total.key, total.turns, total.cost_usd) == (("loom-4",), 1, pytest.approx(4.0))


async def test_the_end_of_a_turn_replaces_what_was_estimated_when_it_was_cut_off(
    harness: Harness,
) -> None:
    harness.prices["loom-4"] = PRICE
    puppet = await harness.propose_plan("1. Look")
    puppet.say(agent_events.ModelReported("loom-4"), agent_events.UsageReported(USAGE))
    await harness.wait_until(lambda: harness.session.usage == USAGE)
    await harness.chats.stop("s")
    await harness.wait_until(lambda: harness.session.cost is not None)
    puppet.say(agent_events.TurnFinished("stopped", USAGE + USAGE, cost_usd=5.0))
    await harness.wait_until(lambda: harness.session.usage == USAGE + USAGE)
    assert harness.session.cost is not None and harness.session.cost.usd == pytest.approx(5.0)
    [total] = await harness.store.usage(UsageSelection())
    assert (total.turns, total.usage) == (1, USAGE + USAGE)
    assert total.cost_usd == pytest.approx(5.0)
