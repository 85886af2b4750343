"""Projects, worktrees, sessions, messages: what Spinney speaks of. Frozen, in the wire's names.

The fields are those of the public interface (2.1 to 2.4) and its extensions. Fields that a
newer version wrote are kept, so that an older program never loses them.
"""

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    model_serializer,
)

ExecutionMode = Literal["plan", "build", "yolo"]
WorkingMode = Literal["build", "yolo"]  # in which a plan is carried out
ThinkingLevel = Literal["off", "think", "megathink", "ultrathink"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]
EFFORTS: Final[tuple[Effort, ...]] = get_args(Effort)
BackendName = Literal["backend_a", "backend_b", "backend_c", "demo"]
SessionStatus = Literal["idle", "running", "waiting", "failed"]
WaitingFor = Literal["plan", "question", "permission"]
MessageStatus = Literal["sent", "processing", "completed"]
Decision = Literal["allow", "allow_session", "deny"]


class Resource(BaseModel):
    """A value that never changes: a change makes a new one with `model_copy(update=…)`."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)


class Label(Resource):
    """A coloured word on a worktree."""

    name: str
    color: str
    """Hex colour code, `#rrggbb`."""


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
    tracker_api_key: str | None = None
    tracker_team_id: str | None = None
    trusted_scripts: list[str] = Field(default_factory=list)
    """Hashes of the repository's scripts that may run."""


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
    """The branch it was made from; `None` is the project's default branch."""
    status: Literal["creating", "ready", "missing", "removing"] = "ready"
    """`missing`: its directory was removed by hand."""
    detached_at: str | None = None
    """The commit checked out in place of a branch (detached HEAD); `branch` is the last one."""
    renaming_to: str | None = None
    """The name that it is just being given."""
    dismissed_pr: int | None = None
    """The pull request that a person cleared: it is not found again by itself."""
    running_scripts: list[Literal["setup", "run", "teardown"]] = []
    """The repository's own scripts that run in it now."""
    adopted: bool = False
    """Made outside Spinney: its folder and its branch are never moved, renamed or deleted."""
    named_by_user: bool = False
    """A person chose its name: no agent gives it another."""
    setup_hold: Literal["running", "failed"] | None = None
    """Why the first message of its sessions waits: `setup` runs, or failed. The repository's file
    may say `"wait_for_setup": false`; `send_queued_messages` sends what waits all the same."""
    archive_when_idle: bool = False
    """Its pull request was merged: it is archived as soon as no session works in it."""
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
    """Files with a conflict that is not solved yet."""
    cached_status_at: float | None = None


class Usage(Resource):
    """Tokens of one answer, or the sum over a session."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    @property
    def total(self) -> int:
        """All that was read, from a cache or not, and written."""
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


class LastRun(Resource):
    """How a session's newest turn ended."""

    status: Literal["completed", "cancelled", "failed", "interrupted"]
    stop_reason: str | None = None
    error: str | None = None
    error_type: str | None = None
    retry_after: float | None = None
    """Seconds from its end until a limit ends, where the agent's provider told them."""


class QuestionOption(Resource):
    """One of the answers that an agent offers."""

    label: str
    description: str = ""
    preview: str = ""
    """What the choice would look like, in several lines; Claude Code tells one."""


class Question(Resource):
    """A question of an agent; a person may always answer in words of their own."""

    question: str
    header: str = ""
    multi_select: bool = Field(
        default=False, validation_alias=AliasChoices("multi_select", "multiSelect")
    )
    options: list[QuestionOption] = Field(default_factory=list)


class Request(Resource):
    """What a waiting session needs a person for."""

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
    """The mode in which a permission is asked for."""
    directory: str = ""
    """Where what a permission is asked for would run."""
    session_scope: str = ""
    """What `allow_session` would allow, in words."""


class AgentMemory(Resource):
    """What an agent that worked in a session before still knows of it."""

    resume_token: str | None = None
    messages: int = 0
    """How many of the session's messages, from the first on."""


class Handover(Resource):
    """What the session's agent has yet to be told of the conversation."""

    backend: str
    """The agent that worked here before it."""
    since: int
    """How many of the session's messages it knows itself, from the first on."""


class Session(Resource):
    """A chat with one agent in one worktree."""

    id: str
    worktree_id: str
    name: str
    created_at: float
    execution_mode: ExecutionMode = "plan"
    turn_mode: ExecutionMode | None = None
    """The mode that the running turn keeps, where `execution_mode` holds only from the next on."""
    model: str = ""
    answering_model: str = ""
    """The one that answers, as the agent's program calls it; empty until it was told."""
    thinking_level: ThinkingLevel = "ultrathink"
    backend: str = "backend_a"
    archived_at: float | None = None
    order: float = 0
    updated_at: float = 0
    status: SessionStatus = "idle"
    waiting_for: WaitingFor | None = None
    request: Request | None = None
    set_aside_plan: Request | None = None
    """A plan whose run was stopped, or failed; it can be approved until a newer one comes."""
    unread: bool = False
    usage: Usage = Field(default_factory=Usage)
    context_tokens: int | None = None
    """How full the model's context was at the last answer, in tokens."""
    context_window: int | None = None
    message_count: int = 0
    last_run: LastRun | None = None
    named_by_user: bool = False
    resume_token: str | None = None
    """The agent program's own name for this conversation."""
    memories: dict[str, AgentMemory] = Field(default_factory=dict)
    """Of the agents that worked here before, by the names of their backends."""
    has_context: bool = False
    """Whether its agent was given the issue or pull request that the worktree is made for."""
    handover: Handover | None = None
    """Set by a change of the agent; its first message carries a summary of what it missed."""
    recap: str | None = None
    """What happened while a person was away, in a few sentences; until the next message."""

    @property
    def is_active(self) -> bool:
        """Whether a turn is under way: the agent works, or waits for a person."""
        return self.status in ("running", "waiting")

    @model_serializer(mode="wrap")
    def _without_empty_archived_at(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # The interface has this field present only when the session is archived.
        fields: dict[str, Any] = write(self)
        if fields.get("archived_at") is None:
            fields.pop("archived_at", None)
        return fields


class TextBlock(Resource):
    """Markdown."""

    type: Literal["text"] = "text"
    text: str = ""


class ThinkingBlock(Resource):
    """The model's reasoning, folded on every screen."""

    type: Literal["thinking"] = "thinking"
    text: str = ""
    seconds: float | None = None
    """How long it thought; `None` while it does."""


class ToolUseBlock(Resource):
    """A call of a tool. An edit is `edit` with `{file_path, old_content, new_content}`."""

    type: Literal["tool_use"] = "tool_use"
    id: str
    name: str
    input: dict[str, Any] = Field(default_factory=dict)
    parent_tool_use_id: str | None = None
    output_so_far: str | None = None
    """The end of what it has printed, while it runs; never kept."""
    running_for: int | None = None
    """Seconds, told now and then while it runs; never kept."""


class ToolResultBlock(Resource):
    """What a tool gave back."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: str = ""
    is_error: bool = False
    denied: str | None = None
    """What the person said who denied it, which may be nothing; `None` where nobody did."""


class ImageBlock(Resource):
    """A picture that the user sent along, by its path."""

    type: Literal["image"] = "image"
    path: str


class PlanBlock(Resource):
    """A proposed plan; `approved` tells the mode in which it was carried out."""

    type: Literal["plan"] = "plan"
    text: str
    approved: WorkingMode | None = None


class QuestionBlock(Resource):
    """Questions to the user and, once given, the answer."""

    type: Literal["question"] = "question"
    id: str
    questions: list[Question]
    answer: str | dict[str, str] | None = None


class UnreadableBlock(Resource):
    """A block that was kept and is damaged; `text` is what is left of what it said."""

    type: Literal["unreadable"] = "unreadable"
    text: str = ""

    @property
    def told(self) -> str:
        """What a screen says in its place."""
        left = " What is left of it:" if self.text else ""
        return f"This part is damaged in the database.{left}"


class UnknownBlock(Resource):
    """A block of a newer version, kept as it is."""

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
    """Why an answer failed."""

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
    """The file with what the issue or pull request of its worktree says, which goes with it."""

    @property
    def text(self) -> str:
        """The message's text blocks, joined by blank lines."""
        return "\n\n".join(block.text for block in self.content if isinstance(block, TextBlock))


class Branch(Resource):
    """A branch of a repository."""

    name: str
    current: bool


class Remote(Resource):
    """A remote of a repository; `url` shows no credentials."""

    name: str
    url: str


class HostingRemote(Resource):
    """A remote at the hosting service."""

    name: str
    url: str
    owner: str
    repo: str


class AgentCommand(Resource):
    """A command of an agent's own, for a message that begins with `/name`."""

    name: str
    """Without the slash."""
    description: str = ""
    argument_hint: str = ""
    """What may follow the name, such as `[file]`."""


class SentMessage(Resource):
    """The answer to a sent message: `processing` when its run starts, `sent` when it waits."""

    message_id: str
    status: MessageStatus


class MessagePage(Resource):
    """A page of a conversation, oldest first."""

    messages: list[Message]
    total: int = 0


class SessionWithMessages(Session):
    """A session and its newest messages, oldest first."""

    messages: list[Message] = Field(default_factory=list)
