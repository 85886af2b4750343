"""What agents use: tokens and cost of turns, and the limits of accounts."""

from typing import Literal

from pydantic import Field

from model.domain.resource import Resource


class Usage(Resource):
    """Tokens used by one response, or the sum over a session."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    @property
    def total(self) -> int:
        """All tokens read, cached or not, and written."""
        read = self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens
        return read + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_creation_input_tokens=self.cache_creation_input_tokens
            + other.cache_creation_input_tokens,
            cache_read_input_tokens=self.cache_read_input_tokens + other.cache_read_input_tokens,
        )

    def __sub__(self, other: "Usage") -> "Usage":
        """The difference, without negative numbers."""
        counts = {
            name: max(0, getattr(self, name) - getattr(other, name)) for name in Usage.model_fields
        }
        return Usage(**counts)


class Cost(Resource):
    """The cost of a session's turns so far, at list prices."""

    usd: float = 0.0
    """In dollars."""
    is_estimated: bool = False
    """Whether it includes turns whose cost the agent did not report."""
    is_partial: bool = False
    """Whether the cost of some turns is unknown, and not included."""


CostSource = Literal["reported", "estimated", "unknown", "pending"]
"""`reported` by the agent program, `estimated` from the model's price, `unknown` because its price
is not known, `pending` while the turn runs and until the price was looked up."""


class TurnUsage(Resource):
    """What one turn used, or one short text such as a commit message."""

    id: str
    session_id: str = ""
    """Empty for a short text, which belongs to no session."""
    worktree_id: str = ""
    project_id: str = ""
    purpose: str = ""
    """The prompt of a short text, such as `commit_message`; empty for a turn."""
    backend: str
    account: str
    """The agent and its provider profile; see `AccountLimits`."""
    model: str = ""
    """As the agent program names it; empty if it was not reported."""
    started_at: float
    ended_at: float
    day: str
    """The day on which it ended, in local time: `2026-11-27`."""
    usage: Usage
    cost_usd: float | None = None
    cost_source: CostSource


class UsageWindow(Resource):
    """One limit of an account, such as what may be used within five hours."""

    id: str
    """The provider's name for it, such as `five_hour`; of Codex `LIMIT:primary`, `:secondary`."""
    label: str = ""
    """What people call it, such as `5 hours`; only in `list_usage_limits`."""
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
    label: str = ""
    """What people call it, such as `Claude Code (work)`; only in `list_usage_limits`."""
    backend: str
    profile: str = ""
    windows: list[UsageWindow] = Field(default_factory=list)
    updated_at: float
