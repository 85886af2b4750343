"""Pauses: made of failed turns, joined by sessions of the same account, and ended by people."""

import random
from collections.abc import Callable
from typing import Any, Final

from model.backends.agent_events import Limit, TurnFailed
from model.base.text import clean_line
from model.domain.events.base import Event
from model.domain.events.sessions import SessionUpdated
from model.domain.sessions import LastRun, Pause, Session
from model.limits.account_pause import find_account_pause, limit_end
from model.state import State
from model.usage.accounts import account_of

_FIRST_DELAY: Final[dict[Limit, float]] = {"usage_limit": 60, "overloaded": 20, "network": 10}
"""Seconds until the first attempt after a failure whose end is not known; it doubles each time."""
_LONGEST_DELAY: Final[dict[Limit, float]] = {"usage_limit": 1800, "overloaded": 300, "network": 120}
_SPREAD: Final = 0.2
"""The part by which a delay is longer at most, so that sessions do not try at the same moment."""
_LATEST_RESET: Final = 31 * 86_400.0
"""Seconds; a limit that is said to last longer is taken to last this long."""
_MAX_TEXT: Final = 500

CONTINUE_PROMPT: Final = (
    "Continue. Your last turn was interrupted: the provider's limit was reached, or it could not be"
    " reached. That is over."
)
"""What an agent is sent that has the user's message already."""


def back_off(limit: Limit, attempts: int, choose: Callable[[], float] = random.random) -> float:
    """Return the seconds until the next attempt after this many failures in a row.

    `choose` returns a number from 0 to 1.
    """
    longest = _LONGEST_DELAY[limit]
    delay = min(longest, _FIRST_DELAY[limit] * 2.0 ** min(attempts - 1, 16))
    return delay * (1 + _SPREAD * choose())


def make_pause(
    failed: TurnFailed, session: Session, state: State, attempts: int, now: float
) -> Pause | None:
    """Return the pause after a failed turn, without `goes_on`; `None` if it does not go on.

    `attempts` counts the failures in a row with this one.
    """
    limit = failed.limit
    if limit is None:
        return None
    seconds = failed.retry_after if failed.retry_after and failed.retry_after > 0 else None
    is_known = limit == "usage_limit" and seconds is not None
    if not is_known and attempts > state.preferences.retry_attempts:
        return None
    resets_at = now + min(seconds, _LATEST_RESET) if seconds else None
    # A provider that names a moment and then refuses again is not believed at once.
    earliest = now + back_off(limit, attempts - is_known) if attempts > is_known else now
    until = max(resets_at or 0.0, earliest)
    account = account_of(state, session)
    is_for_person = limit == "usage_limit" and not state.preferences.resume_after_limit
    return Pause(
        kind=limit,
        since=now,
        until=None if is_for_person else until,
        resets_at=resets_at,
        account=account,
        is_joined=limit == "usage_limit" and find_account_pause(state, account, now) is not None,
        text=clean_line(failed.error)[:_MAX_TEXT],
        attempts=attempts,
    )


def join_account_pause(state: State, session: Session, now: float) -> Pause | None:
    """Return the pause of a session whose account has reached its limit in another session."""
    pause = find_account_pause(state, account_of(state, session), now)
    if pause is None:
        return None
    joined = {"since": now, "is_joined": True, "attempts": 0, "goes_on": "queue"}
    own = {"until": _until_of_others(state, pause), "is_time_chosen": False, "message_id": None}
    return pause.model_copy(update={**joined, **own})


def _until_of_others(state: State, pause: Pause) -> float | None:
    """Return when the sessions go on that join a pause."""
    if not pause.is_time_chosen:
        return pause.until
    return limit_end(pause) if state.preferences.resume_after_limit else None


def put_off_others(state: State, session_id: str, pause: Pause) -> list[Event]:
    """Return the events by which the account's other sessions wait for this pause as well.

    They would have gone on earlier, and into the same limit. A time that a person chose stays.
    """
    if pause.kind != "usage_limit" or pause.until is None:
        return []
    return [
        update_pause(
            other,
            until=other.pause.until if other.pause.is_time_chosen else pause.until,
            resets_at=pause.resets_at,
        )
        for other in state.sessions.values()
        if other.id != session_id
        and other.pause is not None
        and (other.pause.kind, other.pause.account) == (pause.kind, pause.account)
        and other.pause.until is not None
        and other.pause.until < pause.until
    ]


def lift_limit(state: State, account: str, began_at: float, now: float) -> list[Event]:
    """Return the events by which an account's sessions go on, since a turn has succeeded there.

    A turn that began before the limit was reached proves nothing. Sessions that wait for a person,
    or for a time that one chose, still do, and others no longer wait with them.
    """
    paused = [
        (session, session.pause)
        for session in state.sessions.values()
        if session.pause is not None
        and (session.pause.kind, session.pause.account) == ("usage_limit", account)
    ]
    if any(pause.goes_on != "queue" and pause.since > began_at for _, pause in paused):
        return []
    return [
        update_pause(
            session,
            resets_at=now,
            until=pause.until if pause.until is None or pause.is_time_chosen else now,
        )
        for session, pause in paused
        if limit_end(pause) > now
    ]


def update_pause(session: Session, **fields: Any) -> SessionUpdated:
    """Return the event that changes fields of a session's pause."""
    assert session.pause is not None, "the session is not paused"
    changed = session.pause.model_copy(update=fields)
    updates = {"pause": changed.model_dump(mode="json")}
    return SessionUpdated(session_id=session.id, updates=updates)


def begin_budget_pause(
    session: Session,
    state: State,
    text: str,
    until: float | None,
    now: float,
    *,
    is_joined: bool,
) -> SessionUpdated:
    """Return the event by which a session pauses at a budget.

    A turn that is in progress goes to its end, and the session pauses then.
    """
    pause = Pause(
        kind="budget",
        since=now,
        until=until,
        account=account_of(state, session),
        is_joined=is_joined,
        text=clean_line(text)[:_MAX_TEXT],
    )
    updates: dict[str, Any] = {"pause": pause.model_dump(mode="json")}
    if not session.is_active:
        updates["status"] = "paused"
    return SessionUpdated(session_id=session.id, updates=updates)


def end_pause(session: Session, *, is_stopped: bool = False) -> SessionUpdated:
    """Return the event by which a session no longer pauses; nothing of it runs, its queue stays."""
    updates: dict[str, Any] = {"pause": None}
    if session.status == "paused":
        updates["status"] = "idle"
        if is_stopped:
            run = LastRun(status="cancelled", stop_reason="stopped")
            updates["last_run"] = run.model_dump(mode="json")
    return SessionUpdated(session_id=session.id, updates=updates)


def move_pause(session: Session, changed: Session, state: State, now: float) -> Pause | None:
    """Return the pause of a session whose agent has changed; `None` if it is not paused.

    It goes on at once, unless its new account has reached its limit, too. The new agent does not
    have the message.
    """
    pause = session.pause
    if pause is None or pause.kind == "budget":
        return pause
    account = account_of(state, changed)
    limit = find_account_pause(state, account, now)
    goes_on = "message" if pause.goes_on == "turn" and pause.message_id else pause.goes_on
    moved: dict[str, Any] = {
        "account": account,
        "goes_on": goes_on,
        "attempts": 0,
        "is_joined": limit is not None,
        "is_time_chosen": False,
    }
    if limit is None:
        return pause.model_copy(update={**moved, "until": now, "resets_at": None})
    until = _until_of_others(state, limit)
    kept = {"kind": limit.kind, "until": until, "resets_at": limit.resets_at, "text": limit.text}
    return pause.model_copy(update={**moved, **kept})
