"""Projects, worktrees, sessions and messages: frozen models with the field names of the wire.

The fields are those of the public interface (2.1 to 2.4) and its extensions. Unknown fields
written by a newer version are kept, so that an older version never loses them.
"""

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
)

ExecutionMode = Literal["plan", "build", "yolo"]
WorkingMode = Literal["build", "yolo"]  # in which a plan is executed
ThinkingLevel = Literal["off", "think", "megathink", "ultrathink"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]
EFFORTS: Final[tuple[Effort, ...]] = get_args(Effort)
SessionStatus = Literal["idle", "running", "waiting", "failed", "paused"]
PauseKind = Literal["usage_limit", "overloaded", "network", "budget"]
WaitingFor = Literal["plan", "question", "permission"]
MessageStatus = Literal["sent", "processing", "completed"]
Decision = Literal["allow", "allow_session", "deny"]


class Resource(BaseModel):
    """An immutable value: `model_copy(update=…)` returns a changed copy."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)


class Label(Resource):
    """A colored label of a worktree."""

    name: str
    color: str
    """Hex color code, `#rrggbb`."""


class Project(Resource):
    """A git repository, or a folder of projects (`is_folder`)."""

    id: str
    name: str
    path: str = ""
    default_branch: str = ""
    added_at: float
    order: float = 0
    parent_id: str | None = None
    is_folder: bool = False
    avatar_path: str | None = None
    enabled_mcp_servers: list[str] | None = None
    known_mcp_servers: list[str] = Field(default_factory=list)
    custom_system_prompt: str | None = None
    default_provider: str | None = None
    default_backend: str | None = None
    worktrees_dir: str | None = None
    branch_template: str | None = Field(default=None, exclude_if=lambda each: each is None)
    """What its new branches are named, if not as the preference says."""
    tracker_api_key: str | None = None
    tracker_team_id: str | None = None
    landing_method: Literal["merge", "squash", "rebase"] | None = Field(
        default=None, exclude_if=lambda method: method is None
    )
    """How branches land in it, if not as the preference says."""
    budget_usd: float | None = Field(default=None, exclude_if=lambda budget: budget is None)
    """What its agents may use in a day, in dollars, if not as the preference says; 0: no limit."""
    outside_worktrees: int = Field(default=0, exclude_if=lambda number: number == 0)
    """How many worktrees of its repository were created outside Spinney and may be adopted."""
    ignored_worktrees: list[str] = Field(default_factory=list, exclude_if=lambda paths: not paths)
    """The paths of those that are not offered any more."""
    trusted_scripts: list[str] = Field(default_factory=list)
    """Hashes of the repository's scripts that are allowed to run."""
    allowed_secrets: dict[str, str] = Field(default={}, exclude_if=lambda allowed: not allowed)
    """What `find_secrets` found and is allowed to be published: by fingerprint, what it is."""


class CopiedFiles(Resource):
    """The ignored files that a worktree got from the main checkout, by `.worktreeinclude`."""

    count: int = 0
    """How many were copied; while the worktree is `creating`, so far."""
    size: int = 0
    """Their bytes."""
    total: int = 0
    """How many match."""
    problems: list[str] = []
    """Sentences about those that were not copied."""


class Worktree(Resource):
    """A working directory on a branch of its own, or the project's own directory (`base`)."""

    id: str
    project_id: str
    name: str
    path: str
    branch: str
    created_at: float
    session_type: Literal["worktree", "base"] = "worktree"
    order: float = 0
    pr_number: int | None = None
    pr_url: str | None = None
    issue_number: int | None = None
    label: Label | None = None
    archived_at: float | None = None
    last_opened_at: float | None = None
    base_branch: str | None = None
    """The branch it was created from; `None` is the project's default branch."""
    branch_pattern: str | None = Field(default=None, exclude_if=lambda each: each is None)
    """What its branch was named by, with `{slug}` for its name; `None` is the name alone."""
    port: int | None = None
    """The first of its ten ports (`SPINNEY_PORT`), which no other worktree has."""
    started_from: str | None = None
    """The kind and id of what it was created from, such as `tracker_issue/ENG-12`."""
    status: Literal["creating", "ready", "missing", "removing"] = "ready"
    """`missing`: its directory was removed outside Spinney."""
    detached_at: str | None = None
    """The commit checked out instead of a branch (detached HEAD); `branch` is the last branch."""
    renaming_to: str | None = None
    """The new name while a rename is in progress."""
    restored_from: str | None = Field(default=None, exclude_if=lambda point: point is None)
    """The recovery point that it is being restored from, while it is `creating`."""
    copied_files: CopiedFiles | None = Field(default=None, exclude_if=lambda files: files is None)
    """Set if there were ignored files to copy."""
    dismissed_pr: int | None = None
    """The pull request that the user cleared: it is not detected automatically again."""
    comments_noted_at: float | None = None
    """The time of the newest comment of others on its pull request that was noted, 0 if there was
    none."""
    running_scripts: list[Literal["setup", "run", "teardown", "check"]] = []
    """The repository's own scripts that are running in it."""
    adopted: bool = False
    """Created outside Spinney: its folder and its branch are never moved, renamed or deleted."""
    keeps_branch: bool = False
    """Its branch existed before it: it is never renamed or deleted."""
    named_by_user: bool = False
    """The user chose its name: no agent renames it."""
    setup_hold: Literal["running", "failed"] | None = None
    """Why the first message of its sessions is held: `setup` is running, or failed. The
    repository's file may set `"wait_for_setup": false`; `send_queued_messages` sends it anyway."""
    archive_when_idle: bool = False
    """Its pull request was merged: it is archived as soon as no session is active in it."""
    cached_pr_status: Literal["draft", "open", "review", "merged", "closed"] | None = None
    cached_check_status: Literal["success", "failure", "pending", "error"] | None = None
    cached_behind_count: int | None = None
    cached_ahead_count: int | None = None
    cached_uncommitted_added: int | None = None
    cached_uncommitted_removed: int | None = None
    cached_branch_diff_added: int | None = None
    cached_branch_diff_removed: int | None = None
    cached_unpushed_count: int | None = None
    cached_conflict_count: int | None = None
    """Files with unresolved conflicts."""
    conflicts_with: list[str] = []
    """The ids of the worktrees that changed the same places; found again after each start."""
    conflicts_with_base: bool = False
    """Whether its base branch changed the same places."""
    cached_status_at: float | None = None


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
    resets_at: float | None = None
    """When the limit ends, as the agent's provider reported it."""
    account: str = ""
    """The account at whose limit it is, as `set_resume_time` takes it."""
    is_joined: bool = False
    """Whether another session of the account had reached the limit before."""
    text: str = ""
    """What happened, in one sentence."""
    attempts: int = 0
    """How many turns in a row have failed for this reason."""
    goes_on: Literal["queue", "message", "turn"] = "queue"
    """With what it goes on: its queued messages, its last message, which the agent has not
    received yet, or the turn that was cut off. Queued messages follow each."""
    message_id: str | None = None
    """That last message."""


class QuestionOption(Resource):
    """One of the answers that an agent's question offers."""

    label: str
    description: str = ""
    preview: str = ""
    """A multi-line preview of the choice; Claude Code provides one."""


class Question(Resource):
    """A question of an agent; a free-text answer is always allowed."""

    question: str
    header: str = ""
    multi_select: bool = Field(
        default=False, validation_alias=AliasChoices("multi_select", "multiSelect")
    )
    options: list[QuestionOption] = Field(default_factory=list)


class Request(Resource):
    """What a waiting session needs from the user."""

    id: str
    kind: WaitingFor
    message_id: str = ""
    """The assistant message in which it was asked."""
    plan: str = ""
    questions: list[Question] = Field(default_factory=list)
    tool_name: str = ""
    tool_input: dict[str, Any] = Field(default_factory=dict)
    description: str = ""
    execution_mode: ExecutionMode | None = None
    """The mode in which the permission is requested."""
    directory: str = ""
    """The directory in which the action would run."""
    session_scope: str = ""
    """A description of what `allow_session` would allow."""


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


class TextBlock(Resource):
    """Markdown."""

    type: Literal["text"] = "text"
    text: str = ""


class ThinkingBlock(Resource):
    """The model's reasoning; every screen shows it collapsed."""

    type: Literal["thinking"] = "thinking"
    text: str = ""
    seconds: float | None = None
    """How long it thought; `None` while it is thinking."""


class ToolUseBlock(Resource):
    """A tool call. An edit is `edit` with `{file_path, old_content, new_content}`."""

    type: Literal["tool_use"] = "tool_use"
    id: str
    name: str
    input: dict[str, Any] = Field(default_factory=dict)
    parent_tool_use_id: str | None = None
    output_so_far: str | None = None
    """The end of its output while it runs; never stored."""
    running_for: int | None = None
    """Seconds, updated now and then while it runs; never stored."""


class ToolResultBlock(Resource):
    """The result of a tool call."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: str = ""
    is_error: bool = False
    denied: str | None = None
    """The user's reason for denying it, which may be empty; `None` if it was not denied."""


class ImageBlock(Resource):
    """An image attached by the user, by its path."""

    type: Literal["image"] = "image"
    path: str


class PlanBlock(Resource):
    """A proposed plan; `approved` is the mode in which it was executed."""

    type: Literal["plan"] = "plan"
    text: str
    approved: WorkingMode | None = None


class QuestionBlock(Resource):
    """Questions to the user, and the answer once it is given."""

    type: Literal["question"] = "question"
    id: str
    questions: list[Question]
    answer: str | dict[str, str] | None = None


class UnreadableBlock(Resource):
    """A stored block that is damaged; `text` is the readable rest of it."""

    type: Literal["unreadable"] = "unreadable"
    text: str = ""

    @property
    def notice(self) -> str:
        """The notice that screens show instead of the block."""
        suffix = " What is left of it:" if self.text else ""
        return f"This part is damaged in the database.{suffix}"


class UnknownBlock(Resource):
    """A block type of a newer version, kept unchanged."""

    type: str


_KNOWN_BLOCKS = {
    "text", "thinking", "tool_use", "tool_result", "image", "plan", "question",
    "unreadable",
}  # fmt: skip


def _block_tag(value: Any) -> str:
    tag = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return tag if tag in _KNOWN_BLOCKS else "unknown"


Block = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ThinkingBlock, Tag("thinking")]
    | Annotated[ToolUseBlock, Tag("tool_use")]
    | Annotated[ToolResultBlock, Tag("tool_result")]
    | Annotated[ImageBlock, Tag("image")]
    | Annotated[PlanBlock, Tag("plan")]
    | Annotated[QuestionBlock, Tag("question")]
    | Annotated[UnreadableBlock, Tag("unreadable")]
    | Annotated[UnknownBlock, Tag("unknown")],
    Discriminator(_block_tag),
]


class MessageError(Resource):
    """Why a response failed."""

    error: str
    error_type: str


class Message(Resource):
    """One entry of a conversation."""

    id: str
    role: Literal["user", "assistant"]
    content: list[Block] = Field(default_factory=list)
    timestamp: float
    usage: Usage | None = None
    session_id: str = ""
    status: MessageStatus = "completed"
    stop_reason: str | None = None
    error: MessageError | None = None
    model: str | None = None
    backend: str | None = None
    execution_mode: ExecutionMode | None = None
    files: list[str] = Field(default_factory=list)
    context: str | None = None
    """The attached file with the contents of the worktree's issue or pull request."""
    send_at: float | None = Field(default=None, exclude_if=lambda moment: moment is None)
    """When a queued message is sent, in seconds since 1970; `None` as soon as it is its turn."""
    steered: bool = Field(default=False, exclude_if=lambda steered: not steered)
    """Whether it was sent into the running turn. While it is queued, the agent has not read it; in
    the conversation, it is where the agent read it. Present only if true."""
    rewound: bool = Field(default=False, exclude_if=lambda rewound: not rewound)
    """Whether it was taken back: kept and shown folded, and no agent knows of it. Present only if
    true."""

    @property
    def text(self) -> str:
        """The message's text blocks, joined by blank lines."""
        return "\n\n".join(block.text for block in self.content if isinstance(block, TextBlock))


class Branch(Resource):
    """A branch of a repository."""

    name: str
    current: bool


class Remote(Resource):
    """A remote of a repository; `url` contains no credentials."""

    name: str
    url: str


HostingService = Literal["github", "gitlab"]


class HostingRemote(Resource):
    """A remote at a hosting service."""

    name: str
    url: str
    owner: str
    """At GitLab with all groups: `group/subgroup`."""
    repo: str
    service: HostingService = "github"
    host: str = ""
    pull_requests_url: str = ""
    """The URL of a pull request without its number."""


class AgentCommand(Resource):
    """A slash command of an agent, for a message that begins with `/name`."""

    name: str
    """Without the slash."""
    description: str = ""
    argument_hint: str = ""
    """The arguments that may follow the name, such as `[file]`."""


class SessionMessage(Resource):
    """A message that a command sent to a session of its choice."""

    session_id: str
    message_id: str
    status: Literal["sent", "processing"]
    """As in `send_chat_message`: `sent` waits behind another one."""


class SentMessage(Resource):
    """The reply to a sent message: `processing` when its run starts, `sent` when it is queued."""

    message_id: str
    status: MessageStatus


class MessagePage(Resource):
    """A page of a conversation, oldest first."""

    messages: list[Message]
    total: int = 0


class SessionWithMessages(Session):
    """A session and its newest messages, oldest first."""

    messages: list[Message] = Field(default_factory=list)
