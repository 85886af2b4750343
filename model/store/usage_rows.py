"""The tables of what turns used: one row for each turn, and their sums by day.

The sums are kept by statements beside the turn's and not by triggers: with the text of triggers the
schema would not fit the first page, and a file that lost its end could not be read at all.
"""

from typing import Any, Final

from model.domain.usage import TurnUsage

Statement = tuple[str, tuple[Any, ...]]

TURN_COLUMNS: Final = (
    "id", "session_id", "worktree_id", "project_id", "purpose", "backend", "account", "model",
    "started_at", "ended_at", "day", "input_tokens", "output_tokens", "cache_write_tokens",
    "cache_read_tokens", "cost_usd", "cost_source",
)  # fmt: skip

KEYS: Final = (
    "day", "session_id", "worktree_id", "project_id", "purpose", "backend", "account", "model"
)  # fmt: skip
"""What the sums of `daily_usage` are kept by."""

SUMS: Final = {
    "turns": "1",
    "seconds": "max(0, ended_at - started_at)",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_write_tokens": "cache_write_tokens",
    "cache_read_tokens": "cache_read_tokens",
    "cost_usd": "coalesce(cost_usd, 0)",
    "estimated_turns": "cost_source = 'estimated'",
    "unknown_turns": "cost_usd IS NULL",
    "unknown_tokens": "CASE WHEN cost_usd IS NULL THEN input_tokens + output_tokens"
    " + cache_write_tokens + cache_read_tokens ELSE 0 END",
}
"""The columns of `daily_usage`, with what a row of `turn_usage` adds to them."""

USAGE_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS turn_usage (id TEXT PRIMARY KEY, session_id TEXT NOT NULL,"
    " worktree_id TEXT NOT NULL, project_id TEXT NOT NULL, purpose TEXT NOT NULL,"
    " backend TEXT NOT NULL, account TEXT NOT NULL, model TEXT NOT NULL, started_at REAL NOT NULL,"
    " ended_at REAL NOT NULL, day TEXT NOT NULL, input_tokens INTEGER NOT NULL,"
    " output_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL,"
    " cache_read_tokens INTEGER NOT NULL, cost_usd REAL, cost_source TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS turn_usage_by_session ON turn_usage (session_id, ended_at)",
    "CREATE INDEX IF NOT EXISTS turn_usage_pending ON turn_usage (ended_at)"
    " WHERE cost_source = 'pending'",
    # A sum over all turns takes half a second for 100,000; over the sums of days it takes 10 ms.
    f"CREATE TABLE IF NOT EXISTS daily_usage ({', '.join(f'{key} TEXT NOT NULL' for key in KEYS)},"
    f" {', '.join(f'{name} NUMERIC NOT NULL' for name in SUMS)}, PRIMARY KEY ({', '.join(KEYS)}))"
    " WITHOUT ROWID",
)
"""The statements that create the tables."""

REBUILD_DAILY_USAGE: Final = (
    "DROP TABLE IF EXISTS daily_usage",
    *USAGE_TABLES,
    f"INSERT INTO daily_usage ({', '.join([*KEYS, *SUMS])}) SELECT {', '.join(KEYS)},"
    f" {', '.join(f'sum({each})' for each in SUMS.values())} FROM turn_usage"
    f" GROUP BY {', '.join(KEYS)}",
)
"""Rebuilds the sums from the turns."""

_PUT_TURN: Final = (
    f"INSERT INTO turn_usage ({', '.join(TURN_COLUMNS)})"
    f" VALUES ({', '.join('?' * len(TURN_COLUMNS))}) ON CONFLICT (id)"
    f" DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in TURN_COLUMNS[1:])}"
)


def _add_to_sums(sign: str) -> str:
    return (
        f"INSERT INTO daily_usage ({', '.join([*KEYS, *SUMS])})"
        f" SELECT {', '.join([*KEYS, *(f'{sign}({each})' for each in SUMS.values())])}"
        f" FROM turn_usage WHERE id = ? ON CONFLICT ({', '.join(KEYS)}) DO UPDATE SET"
        f" {', '.join(f'{name} = {name} + excluded.{name}' for name in SUMS)}"
    )


_TAKE_FROM_SUMS: Final = _add_to_sums("-")
_ADD_TO_SUMS: Final = _add_to_sums("+")


def usage_rows(turn: TurnUsage) -> list[Statement]:
    """Return the statements that save what a turn used, or what is new of one that is saved."""
    usage = turn.usage
    values = (
        turn.id, turn.session_id, turn.worktree_id, turn.project_id, turn.purpose, turn.backend,
        turn.account, turn.model, turn.started_at, turn.ended_at, turn.day, usage.input_tokens,
        usage.output_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens,
        turn.cost_usd, turn.cost_source,
    )  # fmt: skip
    # The first one changes nothing if the turn is new.
    return [(_TAKE_FROM_SUMS, (turn.id,)), (_PUT_TURN, values), (_ADD_TO_SUMS, (turn.id,))]
