"""Queries on what turns used."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import ValidationError

from model.domain.usage import TurnUsage, Usage
from model.store.damaged_rows import to_text
from model.store.queries import DatabaseReader
from model.store.usage_rows import SUMS, TURN_COLUMNS

UsageKey = Literal[
    "day", "session_id", "worktree_id", "project_id", "purpose", "backend", "account", "model"
]

_EFFECT: Final = "the usage cannot be read"
_MAX_ROWS: Final = 10_000
"""Sums that one query returns."""


@dataclass(frozen=True, slots=True)
class UsageSum:
    """What several turns used."""

    key: tuple[str, ...]
    """Their common values of the keys they are summed by."""
    turns: int
    seconds: float
    """How long they took together."""
    tokens: tuple[int, ...]
    """In the order of the fields of `Usage`. A report by session has thousands of sums."""
    cost_usd: float
    """Of the turns whose cost is known."""
    estimated_turns: int
    unknown_turns: int
    """Turns whose cost is unknown, and their tokens."""
    unknown_tokens: int

    @property
    def usage(self) -> Usage:
        """The tokens by their kind."""
        return Usage(**dict(zip(Usage.model_fields, self.tokens, strict=True)))


@dataclass(frozen=True, slots=True)
class UsageSelection:
    """Which turns are summed, and by what; by nothing gives the sum of all in one."""

    by: tuple[UsageKey, ...] = ()
    since: str = ""
    """The first day, `2026-11-27`; empty for no limit."""
    until: str = ""
    """The last day."""
    only: Mapping[UsageKey, str] = field(default_factory=dict)
    """Turns with these values only."""


@dataclass(frozen=True, slots=True)
class TurnCondition:
    """Which turns are listed: those of a session, or those whose price is to be looked up."""

    session_id: str = ""
    is_pending: bool = False


async def read_usage(database: DatabaseReader, selection: UsageSelection) -> list[UsageSum]:
    """Return the sums that `selection` describes, ordered by their keys."""
    conditions = ["(?1 = '' OR day >= ?1)", "(?2 = '' OR day <= ?2)"]
    values: list[Any] = [selection.since, selection.until]
    for name, value in selection.only.items():
        values.append(value)
        conditions.append(f"{name} = ?{len(values)}")
    keys = ", ".join(selection.by)
    columns = ", ".join([*selection.by, *(f"coalesce(sum({name}), 0)" for name in SUMS)])
    # A turn that went on with another model or on another day leaves a sum of none behind.
    grouped = f" GROUP BY {keys} HAVING sum(turns) > 0 ORDER BY {keys}" if keys else ""
    query = f"SELECT {columns} FROM daily_usage WHERE {' AND '.join(conditions)}{grouped}"
    rows = await database.rows(f"{query} LIMIT {_MAX_ROWS}", tuple(values), _EFFECT)
    return [_make_sum(tuple(row), len(selection.by)) for row in rows]


async def read_turn_usage(
    database: DatabaseReader, condition: TurnCondition, limit: int
) -> list[TurnUsage]:
    """Return the newest turns that meet the condition, the newest first; not damaged ones."""
    where = "cost_source = 'pending'" if condition.is_pending else "session_id = ?1"
    query = (
        f"SELECT {', '.join(TURN_COLUMNS)} FROM turn_usage WHERE {where}"
        " ORDER BY ended_at DESC LIMIT ?2"
    )
    turns = []
    for row in await database.rows(query, (condition.session_id, limit), _EFFECT):
        with suppress(ValidationError):
            turns.append(_make_turn(dict(zip(TURN_COLUMNS, row, strict=True))))
    return turns


def _make_sum(row: tuple[Any, ...], key_count: int) -> UsageSum:
    turns, seconds, *tokens, cost, estimated, unknown, unknown_tokens = row[key_count:]
    return UsageSum(
        key=tuple(map(to_text, row[:key_count])),
        turns=int(turns),
        seconds=float(seconds),
        tokens=tuple(map(int, tokens)),
        cost_usd=float(cost),
        estimated_turns=int(estimated),
        unknown_turns=int(unknown),
        unknown_tokens=int(unknown_tokens),
    )


def _make_turn(row: dict[str, Any]) -> TurnUsage:
    fields = {
        name: to_text(cell) if isinstance(cell, bytes) else cell for name, cell in row.items()
    }
    usage = Usage(
        input_tokens=int(row["input_tokens"]),
        output_tokens=int(row["output_tokens"]),
        cache_creation_input_tokens=int(row["cache_write_tokens"]),
        cache_read_input_tokens=int(row["cache_read_tokens"]),
    )
    return TurnUsage.model_validate({**fields, "usage": usage})
