"""The pause of an account: its sessions have a usage limit in common."""

from model.domain.resources import Pause
from model.state import State


def find_account_pause(state: State, account: str, now: float) -> Pause | None:
    """Return the pause at the usage limit that an account has reached, if any.

    Of several the one that lasts longest, and one without an end last of all. A pause whose end is
    past does not count: its session is about to go on, after others of the account.
    """
    found: Pause | None = None
    for session in state.sessions.values():
        pause = session.pause
        if pause is None or pause.kind != "usage_limit" or pause.account != account:
            continue
        if _end(pause) <= now:
            continue
        if session.archived_at is None and (found is None or _end(pause) > _end(found)):
            found = pause
    return found


def _end(pause: Pause) -> float:
    return float("inf") if pause.until is None else pause.until
