"""The last known usage windows of each account. Belongs to the core's event loop."""

import time
from collections.abc import Callable, Iterable
from typing import Final

from model.base.text import clean_line
from model.domain.events import LimitsUpdated
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


def _merge(old: UsageWindow | None, new: UsageWindow) -> UsageWindow:
    if old is None:
        return new
    known = {name: value for name, value in new if value is not None}
    return old.model_copy(update=known)
