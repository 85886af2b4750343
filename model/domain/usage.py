"""Usage windows of accounts: how much of a subscription's limits is used."""

from pydantic import Field

from model.domain.resources import Resource


class UsageWindow(Resource):
    """One limit of an account, such as what may be used within five hours."""

    id: str
    """The provider's name for it, such as `five_hour`; of Codex `LIMIT:primary`, `:secondary`."""
    used: float | None = None
    """The used fraction; 1 is all of it. Null if the provider did not say."""
    resets_at: float | None = None
    """When it is empty again, in seconds of the epoch."""
    minutes: int | None = None
    """How long the window is."""
    reached: bool = False
    """Whether the provider refuses requests because of it."""


class AccountLimits(Resource):
    """The last known windows of an account."""

    id: str
    """The agent and, if there is one, the provider profile: `backend_a`, `backend_a:work`."""
    backend: str
    profile: str = ""
    windows: list[UsageWindow] = Field(default_factory=list)
    updated_at: float
