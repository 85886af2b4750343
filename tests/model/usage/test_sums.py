"""Sums of what turns used, compared with sums made in Python; days of all time zones."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.domain.usage import CostSource, TurnUsage, Usage
from model.store.database import Database
from model.store.usage_queries import UsageKey, UsageSelection, read_usage
from model.store.usage_rows import usage_rows
from model.usage.days import day_of

NAMES = st.sampled_from(["", "a", "b"])
COUNTS = st.integers(0, 10**9)
YEARS = st.floats(1_700_000_000, 1_800_000_000)
COSTS: st.SearchStrategy[tuple[float | None, CostSource]] = st.one_of(
    st.tuples(st.integers(0, 1000).map(float), st.sampled_from(["reported", "estimated"])),
    st.tuples(st.none(), st.sampled_from(["unknown", "pending"])),
)
SETTINGS = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@st.composite
def turns(draw: st.DrawFn) -> TurnUsage:
    """A turn of few sessions, models and days, with few ids: some are recorded again."""
    at, (cost, source) = draw(YEARS), draw(COSTS)
    return TurnUsage(
        id=str(draw(st.integers(0, 10_000))),
        session_id=draw(NAMES),
        worktree_id=draw(NAMES),
        project_id=draw(NAMES),
        purpose=draw(NAMES),
        backend=draw(NAMES),
        account=draw(NAMES),
        model=draw(NAMES),
        started_at=at - 60,
        ended_at=at,
        day=draw(st.sampled_from(["2026-03-28", "2026-03-29", "2026-10-25"])),
        usage=Usage(
            input_tokens=draw(COUNTS),
            output_tokens=draw(COUNTS),
            cache_creation_input_tokens=draw(COUNTS),
            cache_read_input_tokens=draw(COUNTS),
        ),
        cost_usd=cost,
        cost_source=source,
    )


def sum_in_python(
    recorded: list[TurnUsage], by: tuple[UsageKey, ...]
) -> dict[tuple[str, ...], tuple[int, int, float, int, int, int]]:
    """Sum as the database should: turns, tokens, cost, estimated and unknown turns and tokens."""
    sums: dict[tuple[str, ...], tuple[int, int, float, int, int, int]] = {}
    for turn in recorded:
        unknown = turn.cost_usd is None
        added = (
            1,
            turn.usage.total,
            turn.cost_usd or 0.0,
            int(turn.cost_source == "estimated"),
            int(unknown),
            turn.usage.total if unknown else 0,
        )
        key = tuple(str(getattr(turn, name)) for name in by)
        old = sums.get(key, (0, 0, 0.0, 0, 0, 0))
        sums[key] = tuple(map(sum, zip(old, added, strict=True)))  # type: ignore[assignment]
    return sums


@given(
    st.lists(turns(), max_size=20, unique_by=lambda turn: turn.id),
    st.lists(st.tuples(st.integers(0, 19), COSTS), max_size=5),
    st.lists(
        st.sampled_from(["day", "session_id", "project_id", "model", "account"]),
        max_size=2,
        unique=True,
    ),
)
@SETTINGS
async def test_the_database_sums_as_python_does(
    tmp_path: Path,
    recorded: list[TurnUsage],
    priced: list[tuple[int, tuple[float | None, CostSource]]],
    by: list[UsageKey],
) -> None:
    path = tmp_path / "db"
    path.unlink(missing_ok=True)
    database, _ = await Database.open(path)
    try:
        await database.write([row for turn in recorded for row in usage_rows(turn)])
        for place, (cost, source) in priced:
            if place < len(recorded):
                update = {"cost_usd": cost, "cost_source": source}
                recorded[place] = recorded[place].model_copy(update=update)
                await database.write(usage_rows(recorded[place]))
        found = await read_usage(database, UsageSelection(tuple(by)))
    finally:
        await database.close()
    sums = {
        each.key: (
            each.turns,
            each.usage.total,
            each.cost_usd,
            each.estimated_turns,
            each.unknown_turns,
            each.unknown_tokens,
        )
        for each in found
    }
    nothing = {(): (0, 0, 0.0, 0, 0, 0)} if not by else {}
    assert sums == (sum_in_python(recorded, tuple(by)) or nothing)


@pytest.fixture
def time_zone(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("time_zone", "timestamp", "day"),
    [
        ("UTC", 1774742399, "2026-03-28"),
        ("Europe/Berlin", 1774742399, "2026-03-29"),
        ("Europe/Berlin", 1774742400 + 3600 * 21.9, "2026-03-29"),  # a day of 23 hours
        ("Europe/Berlin", 1774742400 + 3600 * 22, "2026-03-30"),
        ("Europe/Berlin", 1792879200 + 3600 * 24.9, "2026-10-25"),  # a day of 25 hours
        ("Europe/Berlin", 1792879200 + 3600 * 25, "2026-10-26"),
        ("Pacific/Kiritimati", 1774742399, "2026-03-29"),
        ("America/Los_Angeles", 1774742399, "2026-03-28"),
    ],
    indirect=["time_zone"],
)
@pytest.mark.usefixtures("time_zone")
def test_turns_belong_to_the_local_day(timestamp: float, day: str) -> None:
    assert day_of(timestamp) == day
