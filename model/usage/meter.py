"""Notes what agents report about their use. Belongs to the core's event loop."""

from model.domain.resources import Session
from model.domain.usage import UsageWindow
from model.store.store import Store
from model.usage.accounts import account_of
from model.usage.limits import KnownLimits


class UsageMeter:
    """Where conversations report what their agents used."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.limits = KnownLimits(store)

    def note_limits(self, session: Session, windows: tuple[UsageWindow, ...]) -> None:
        """Note the usage windows of the session's account."""
        self.limits.update(account_of(self._store.state, session), windows)

    def limits_of(self, account: str) -> tuple[UsageWindow, ...]:
        """Return the last known usage windows of an account (see `account_of`)."""
        return self.limits.windows_of(account)
