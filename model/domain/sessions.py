"""Sessions: chats with an agent, how their last turn ended, and why they are paused."""

from typing import Literal

from pydantic import Field

from model.domain.messages import Message
from model.domain.modes import ExecutionMode, ThinkingLevel
from model.domain.requests import Request, WaitingFor
from model.domain.resource import Resource
from model.domain.usage import Cost, Usage

SessionStatus = Literal["idle", "running", "waiting", "failed", "paused"]

PauseKind = Literal["usage_limit", "overloaded", "network", "budget"]


class LastRun(Resource):
    """How a session's latest turn ended."""

    status: Literal["completed", "cancelled", "failed", "interrupted", "paused"]
    stop_reason: str | None = None
    error: str | None = None
    error_type: str | None = None
    retry_after: float | None = None
    """Seconds from its end until a rate limit ends, if the agent's provider reported them."""


class Pause(Resource):
    """Why a session does not go on now, and when it does."""

    kind: PauseKind
    since: float
    until: float | None = None
    """When it goes on by itself, in seconds since 1970; `None` until a person resumes it."""
    is_time_chosen: bool = False
    """Whether a person chose `until`, which then is this session's and not its account's."""
    resets_at: float | None = None
    """When the limit ends, as the agent's provider reported it."""
    account: str = ""
    """The account at whose limit it is, as `set_resume_time` takes it."""
    is_joined: bool = False
    """Whether another session had reached the same limit or budget before."""
    text: str = ""
    """What happened, in one sentence."""
    attempts: int = 0
    """How many turns in a row have failed for this reason."""
    goes_on: Literal["queue", "message", "turn"] = "queue"
    """With what it goes on: its queued messages, its last message, which the agent has not
    received yet, or the turn that was cut off. Queued messages follow each."""
    message_id: str | None = None
    """That last message."""


class AgentMemory(Resource):
    """What a session's previous agent still knows of the conversation."""

    resume_token: str | None = None
    messages: int = 0
    """How many of the session's messages it knows, from the first on."""
    turn_mark: str | None = None
    fork_at: str | None = None


class Handover(Resource):
    """The part of the conversation that the session's agent does not know yet."""

    backend: str
    """The previous agent; the session's own if it starts over in a new conversation."""
    since: int
    """How many of the session's messages the new agent knows itself, from the first on."""


class PullRequestLoop(Resource):
    """A session's switch to fix red checks and answer new review comments by itself."""

    limit: int = 3
    """How often it may do so."""
    used: int = 0
    """How often it has done so since it was switched on."""
    waits: bool = False
    """Whether the limit is reached and there is more to do: it waits for a person."""
    handled: list[str] = Field(default_factory=list)
    """What was sent already, as hashes; the newest last."""
    since: float | None = None
    """When it was switched on. Comments of the conversation that came later are sent even if a
    commit followed before the session was idle."""


class Session(Resource):
    """A chat with an agent in a worktree."""

    id: str
    worktree_id: str
    name: str
    created_at: float
    execution_mode: ExecutionMode = "plan"
    turn_mode: ExecutionMode | None = None
    """The mode of the running turn, if `execution_mode` applies only from the next turn on."""
    model: str = ""
    answering_model: str = ""
    """The model that responds, as the agent program names it; empty until it was reported."""
    thinking_level: ThinkingLevel = "ultrathink"
    backend: str = "backend_a"
    archived_at: float | None = Field(default=None, exclude_if=lambda moment: moment is None)
    """The interface requires this field to be present only if the session is archived."""
    order: float = 0
    updated_at: float = 0
    status: SessionStatus = "idle"
    waiting_for: WaitingFor | None = None
    request: Request | None = None
    set_aside_plan: Request | None = None
    """A plan whose run was stopped or failed; it can be approved until a newer one arrives."""
    unread: bool = False
    usage: Usage = Field(default_factory=Usage)
    cost: Cost | None = None
    """What its turns cost; null until the first one that used tokens has ended."""
    budget_usd: float | None = None
    """What it may use, in dollars, if not as the preference says; 0: no limit."""
    context_tokens: int | None = None
    """Tokens in the model's context after the last response."""
    context_window: int | None = None
    message_count: int = 0
    last_run: LastRun | None = None
    named_by_user: bool = False
    resume_token: str | None = None
    """The agent program's own id of this conversation."""
    turn_mark: str | None = None
    """The agent program's own id of the newest turn, with which a copy of the conversation can
    end."""
    fork_at: str | None = None
    """Set when the next message continues in a copy of `resume_token`'s conversation, which ends
    with the turn of this mark."""
    memories: dict[str, AgentMemory] = Field(default_factory=dict)
    """The memories of previous agents, by backend name."""
    elsewhere_since: float | None = None
    """When it was continued in the agent's own screen, in seconds since 1970; until its next
    message, with which Spinney reads what was said there."""
    prompt: str | None = None
    """The key of the magic prompt that it was created for, whose provider profile it has."""
    has_context: bool = False
    """Whether its agent was given the issue or pull request that the worktree was created for."""
    handover: Handover | None = None
    """Set when the agent was changed or starts over; its first message includes a summary of what
    it does not know."""
    recap: str | None = None
    """A short summary of what happened while the user was away; kept until the next message."""
    pull_request_loop: PullRequestLoop | None = None
    """Set while it fixes red checks and answers new review comments by itself."""
    pause: Pause | None = None
    """Set while it is paused; of a session whose turn is not over yet, it begins with its end."""

    @property
    def is_active(self) -> bool:
        """Whether a turn is in progress: the agent works, or waits for the user."""
        return self.status in ("running", "waiting")

    @property
    def is_unfinished(self) -> bool:
        """Whether a turn is in progress, or is paused and goes on later."""
        return self.is_active or self.status == "paused"


class SessionWithMessages(Session):
    """A session and its newest messages, oldest first."""

    messages: list[Message] = Field(default_factory=list)
