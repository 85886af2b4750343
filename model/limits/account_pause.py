"""The pause of an account: its sessions have a usage limit in common."""

from model.domain.sessions import Pause
from model.state import State


def find_account_pause(state: State, account: str, now: float) -> Pause | None:
    """Return the pause at the usage limit that an account has reached, if any.

    Of several the one that lasts longest. One whose limit is over does not count: its session is
    about to go on, after others of the account, or waits for a person.
    """
    found: Pause | None = None
    for session in state.sessions.values():
        pause = session.pause
        if pause is None or pause.kind != "usage_limit" or pause.account != account:
            continue
        if limit_end(pause) <= now:
            continue
        if session.archived_at is None and (found is None or limit_end(pause) > limit_end(found)):
            found = pause
    return found


def limit_end(pause: Pause) -> float:
    """Return when the limit of a pause is over; infinity if that is not known.

    A time that a person chose says when one session goes on, and only stands for the end of a limit
    whose end is not known.
    """
    is_own = pause.until is None or (pause.is_time_chosen and pause.resets_at is not None)
    end = pause.resets_at if is_own else pause.until
    return float("inf") if end is None else end
