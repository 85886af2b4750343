"""The times that people choose for paused sessions and queued messages."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from model.base.errors import SpinneyError
from model.base.moments import check_moment, parse_moment
from model.domain.sessions import Session
from model.domain.usage import UsageWindow
from model.limits.account_pause import find_account_pause
from model.state import State
from model.usage.accounts import account_of

RESET: Final = "reset"
"""Stands for the end of the limit that the session's account has reached, or reaches next."""


WindowsOf = Callable[[str], Sequence[UsageWindow]]
"""Returns the last known usage windows of an account."""


def resolve_time(
    state: State, session: Session, at: float | str | None, windows_of: WindowsOf
) -> float | None:
    """Return a chosen time in seconds since 1970. Raises `invalid_request` if it is none."""
    if at is None:
        return None
    if is_reset(at):
        return _find_reset(state, session, windows_of)
    now = time.time()
    return parse_moment(at, now) if isinstance(at, str) else check_moment(at, now)


def is_reset(at: float | str | None) -> bool:
    """Whether a time is not chosen, but that of the limit's end."""
    return isinstance(at, str) and at.strip().lower() == RESET


def _find_reset(state: State, session: Session, windows_of: WindowsOf) -> float:
    """Return when the limit ends that is reached, or else the one that resets next."""
    account, now = account_of(state, session), time.time()
    pause = session.pause or find_account_pause(state, account, now)
    moment = (pause.resets_at or pause.until) if pause is not None else None
    if moment is None:
        resets = [each.resets_at for each in windows_of(account) if each.resets_at is not None]
        moment = min((each for each in resets if each > now), default=None)
    if moment is None:
        raise SpinneyError(
            "It is not known when the limit of this session's agent ends. Choose a time, such as"
            " 18:00."
        )
    return moment
