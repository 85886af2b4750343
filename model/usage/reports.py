"""Tables of what turns used, with the names that people know."""

import datetime
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from model.api.usage import UsageBy, UsageReport, UsageRow
from model.base.errors import SpinneyError
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.usage import TurnUsage, Usage
from model.domain.worktrees import Worktree
from model.state import State
from model.store.store import Store
from model.store.usage_queries import TurnCondition, UsageKey, UsageSelection, UsageSum
from model.usage.days import day_of

MAX_TURNS: Final = 200
"""Turns of a session that are listed."""

_KEYS: Final[Mapping[UsageBy, UsageKey]] = {
    "day": "day",
    "model": "model",
    "agent": "account",
    "project": "project_id",
    "worktree": "worktree_id",
    "session": "session_id",
}

_UNKNOWN_MODEL: Final = "Unknown model"
_SHORT_TEXTS: Final = "Short texts, such as commit messages"
_DELETED: Final = {
    "project": "Removed projects",
    "worktree": "Removed worktrees",
    "session": "Deleted sessions",
}


class UsageReports:
    """Reads sums from the store. `label_of` returns the name of a backend's agents."""

    def __init__(
        self,
        store: Store,
        label_of: Callable[[str], str],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._label_of = label_of
        self._now = now

    async def make(
        self,
        by: UsageBy,
        since: str | None = None,
        until: str | None = None,
        only: Mapping[UsageKey, str] | None = None,
    ) -> UsageReport:
        """Return a report. Raises `invalid_request` for days in another form."""
        days = _check_day(since), _check_day(until)
        only = only or {}
        if by == "turn":
            turns = await self._store.turn_usage(
                TurnCondition(session_id=only.get("session_id", "")), MAX_TURNS
            )
            rows = [_make_turn_row(turn) for turn in turns if _is_within(turn.day, *days)]
        else:
            selection = UsageSelection((_KEYS[by],), *days, only)
            rows = self._name_rows(by, await self._store.usage(selection))
        whole = await self._store.usage(UsageSelection((), *days, only))
        return UsageReport(
            by=by,
            since=since,
            until=until,
            today=day_of(self._now()),
            rows=rows if by in ("day", "turn") else sorted(rows, key=_rank),
            total=_make_row("", "Total", whole),
        )

    def _name_rows(self, by: UsageBy, sums: Iterable[UsageSum]) -> list[UsageRow]:
        state = self._store.state
        named: dict[tuple[str, str], list[UsageSum]] = {}
        for each in sums:
            named.setdefault(self._name(by, each.key[0], state), []).append(each)
        return [_make_row(key, label, group) for (key, label), group in named.items()]

    def _name(self, by: UsageBy, key: str, state: State) -> tuple[str, str]:
        """Return the key and the label of the row that these turns are part of."""
        match by:
            case "day":
                return key, key
            case "model":
                return key, key or _UNKNOWN_MODEL
            case "agent":
                backend, _, profile = key.partition(":")
                label = self._label_of(backend)
                return key, f"{label} · {profile}" if profile else label
            case "session" if not key:
                return "", _SHORT_TEXTS
        known: Mapping[str, Mapping[str, Project | Worktree | Session]] = {
            "project": state.projects,
            "worktree": state.worktrees,
            "session": state.sessions,
        }
        resource = known[by].get(key)
        return (key, resource.name) if resource else ("", _DELETED[by])


def _check_day(day: str | None) -> str:
    if not day:
        return ""
    try:
        return datetime.date.fromisoformat(day).isoformat()
    except ValueError:
        raise SpinneyError(
            f"Not a day: {day[:40]}. Write it as 2026-11-27.", "invalid_request"
        ) from None


def _is_within(day: str, since: str, until: str) -> bool:
    return (not since or day >= since) and (not until or day <= until)


def _rank(row: UsageRow) -> tuple[float, int]:
    return -(row.cost_usd or 0.0), -row.tokens


def _make_row(key: str, label: str, sums: Iterable[UsageSum]) -> UsageRow:
    group = list(sums)
    tokens = [sum(counts) for counts in zip(*(each.tokens for each in group), strict=True)]
    turns = sum(each.turns for each in group)
    unknown = sum(each.unknown_turns for each in group)
    return UsageRow(
        key=key,
        label=label,
        turns=turns,
        seconds=sum(each.seconds for each in group),
        usage=Usage(**dict(zip(Usage.model_fields, tokens, strict=bool(tokens)))),
        tokens=sum(tokens),
        cost_usd=None if turns and unknown == turns else sum(each.cost_usd for each in group),
        estimated_turns=sum(each.estimated_turns for each in group),
        unknown_turns=unknown,
    )


def _make_turn_row(turn: TurnUsage) -> UsageRow:
    at = datetime.datetime.fromtimestamp(turn.ended_at)
    return UsageRow(
        key=turn.id,
        label=f"{at:%Y-%m-%d %H:%M} {turn.model}".rstrip(),
        turns=1,
        seconds=turn.ended_at - turn.started_at,
        usage=turn.usage,
        tokens=turn.usage.total,
        cost_usd=turn.cost_usd,
        estimated_turns=int(turn.cost_source == "estimated"),
        unknown_turns=int(turn.cost_usd is None),
    )
