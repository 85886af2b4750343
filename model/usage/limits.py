"""The last known usage windows of each account. Belongs to the core's event loop."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from model.base.text import clean_line
from model.domain.events.program import LimitsUpdated
from model.domain.usage import AccountLimits, UsageWindow
from model.store.store import Store

_MAX_WINDOWS: Final = 40
"""Windows of an account that are kept; the oldest go."""

_MAX_NAME: Final = 100
"""Characters of a window's id, which the provider chooses."""


class KnownLimits:
    """Keeps the windows that agents report; those of earlier runs are read once, at start."""

    def __init__(self, store: Store, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._now = now
        self._accounts: dict[str, AccountLimits] = {}

    async def load(self) -> None:
        """Read what was known when Spinney ended."""
        self._accounts = {each.id: each for each in await self._store.account_limits()}

    def list(self) -> list[AccountLimits]:
        """Return the windows of all accounts, by account."""
        return [self._accounts[account] for account in sorted(self._accounts)]

    def windows_of(self, account: str) -> tuple[UsageWindow, ...]:
        """Return the windows of an account; none if nothing is known."""
        found = self._accounts.get(account)
        return tuple(found.windows) if found else ()

    def update(self, account: str, windows: Iterable[UsageWindow]) -> None:
        """Note what an agent reported; values that are `None` stay as they were."""
        known = {window.id: window for window in self.windows_of(account)}
        for window in windows:
            name = clean_line(window.id)[:_MAX_NAME]
            named = window.model_copy(update={"id": name})
            known[name] = _merge(known.get(name), named)
        newest = [*known.values()][-_MAX_WINDOWS:]
        if newest == [*self.windows_of(account)]:
            return
        backend, _, profile = account.partition(":")
        self._accounts[account] = AccountLimits(
            id=account, backend=backend, profile=profile, windows=newest, updated_at=self._now()
        )
        self._store.record(LimitsUpdated(account=self._accounts[account]))


def name_limits(
    accounts: Iterable[AccountLimits], label_of: Callable[[str], str]
) -> Iterator[AccountLimits]:
    """Yield the accounts with the labels of themselves and of their windows.

    `label_of` returns the name of a backend's agents.
    """
    for account in accounts:
        profile = f" ({clean_line(account.profile)})" if account.profile else ""
        yield account.model_copy(
            update={
                "label": f"{label_of(account.backend)}{profile}",
                "windows": [
                    window.model_copy(update={"label": _name_window(window)})
                    for window in account.windows
                ],
            }
        )


def _name_window(window: UsageWindow) -> str:
    """Return the length of a window, and what it is about if that is not everything."""
    if not window.minutes:
        return window.id
    days, minutes = divmod(window.minutes, 24 * 60)
    length = f"{days} days" if days and not minutes else f"{window.minutes / 60:g} hours"
    _, _, kind = window.id.partition("_day_")
    subject = window.id.partition(":")[0] if ":" in window.id else kind
    return f"{length} {subject}" if subject and subject != "codex" else length


def _merge(old: UsageWindow | None, new: UsageWindow) -> UsageWindow:
    if old is None:
        return new
    known = {name: value for name, value in new if value is not None}
    return old.model_copy(update=known)
