"""Usage windows that agents report: merged by account, sent to clients and kept over a restart."""

from collections.abc import Awaitable, Callable

from model.backends import agent_events
from model.domain.usage import UsageWindow
from model.usage.limits import KnownLimits
from tests.model.chat.harness import Harness

FIVE_HOURS = UsageWindow(id="five_hour", used=0.91, resets_at=5_000.0, minutes=300)
WEEK = UsageWindow(id="seven_day", used=0.4, resets_at=90_000.0, minutes=10_080)


async def test_windows_are_kept_by_account_and_survive_a_kill(
    harness: Harness, reopen_after_kill: Callable[[], Awaitable[Harness]]
) -> None:
    puppet = await harness.start_turn("go")
    puppet.say(agent_events.LimitsReported((FIVE_HOURS, WEEK)))
    await harness.wait_until(lambda: harness.meter.limits_of("demo") == (FIVE_HOURS, WEEK))
    await harness.store.flush()
    later = (await reopen_after_kill()).meter
    assert later.limits_of("demo") == ()
    await later.limits.load()
    assert later.limits_of("demo") == (FIVE_HOURS, WEEK)


async def test_what_is_not_reported_again_stays_as_it_was(harness: Harness) -> None:
    times = iter((1.0, 2.0, 3.0))
    limits = KnownLimits(harness.store, lambda: next(times))
    limits.update("backend_b:work", (FIVE_HOURS, WEEK))
    limits.update("backend_b:work", (UsageWindow(id="five_hour", used=1, reached=True),))
    [account] = limits.list()
    assert (account.backend, account.profile, account.updated_at) == ("backend_b", "work", 2.0)
    assert account.windows == [
        FIVE_HOURS.model_copy(update={"used": 1.0, "reached": True}),
        WEEK,
    ]
    limits.update("backend_b:work", (WEEK,))
    assert limits.list() == [account]  # nothing new


async def test_names_and_numbers_of_windows_are_bounded(harness: Harness) -> None:
    limits = KnownLimits(harness.store)
    limits.update("demo", (UsageWindow(id=f"\x1b[2J{number}{'x' * 500}") for number in range(99)))
    names = [window.id for window in limits.windows_of("demo")]
    assert len(names) == 40
    assert all(len(name) == 100 and "\x1b" not in name for name in names)
