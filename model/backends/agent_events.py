"""What agent programs report: the events of their sessions.

Everything is keyed by id, never by position, because programs report blocks, tools and questions
out of order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from model.backends.model_lists import ModelList
from model.base.errors import ErrorType
from model.domain.agent_commands import AgentCommand
from model.domain.modes import ExecutionMode
from model.domain.requests import Question
from model.domain.usage import Usage, UsageWindow

Limit = Literal["usage_limit", "overloaded", "network"]
"""Why a turn cannot go on now but can later: the account's limit, a provider that is overloaded or
fails, one that cannot be reached."""


OUTPUT_LIMIT: Final = 16 * 1024
"""Characters kept of a running tool's output: the last ones."""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn began without a prompt from Spinney (background work reporting back)."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of text or thinking for the block with this key; a new key opens a new block."""

    block: str
    text: str
    kind: Literal["text", "thinking"] = "text"


@dataclass(frozen=True, slots=True)
class TextFinal:
    """The complete text of a block; replaces the streamed text if they differ."""

    block: str
    text: str
    kind: Literal["text", "thinking"] = "text"


@dataclass(frozen=True, slots=True)
class BlockDropped:
    """The block was provisional and did not become part of the answer."""

    block: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call. The same id again replaces name and input (they arrive in two steps)."""

    id: str
    name: str
    input: Mapping[str, Any]
    parent_tool_use_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """Output of a running tool: the next piece, or (`is_whole`) all of it so far."""

    tool_use_id: str
    text: str
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call, as text."""

    tool_use_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class PlanProposed:
    """The agent proposes a plan; its turn waits until the plan is approved or discussed."""

    request_id: str
    text: str


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """The agent asks questions; its turn waits for the answers."""

    request_id: str
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class PermissionRequested:
    """The agent wants to use a tool that needs the user's permission."""

    request_id: str
    tool_name: str
    input: Mapping[str, Any]
    description: str = ""
    tool_use_id: str | None = None
    directory: str = ""
    """Where it would run, if the program reports it; empty for the agent's own directory."""


@dataclass(frozen=True, slots=True)
class RequestWithdrawn:
    """A plan, question or permission request no longer needs an answer."""

    request_id: str


@dataclass(frozen=True, slots=True)
class SteerTaken:
    """The agent reads a message that was sent into its turn; what follows may answer it."""

    message_id: str


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """The program changed the execution mode on its own or confirmed a change."""

    mode: ExecutionMode


@dataclass(frozen=True, slots=True)
class TurnModeReported:
    """The mode of the running turn; a mode chosen since applies from the next turn on.

    Emitted after each `configure` during a turn that cannot switch at once; carries the mode of the
    settings when that applies again.
    """

    mode: ExecutionMode


@dataclass(frozen=True, slots=True)
class Notice:
    """A short transient status message, such as "Retrying (2 of 4)"."""

    text: str


@dataclass(frozen=True, slots=True)
class ConversationNote:
    """A lasting message in the conversation, such as one about hooks that will not run.

    Shown once, or `each_time` that it is emitted.
    """

    text: str
    each_time: bool = False


@dataclass(frozen=True, slots=True)
class ConversationIdentified:
    """The program's own id for this conversation, used to resume it."""

    resume_token: str


@dataclass(frozen=True, slots=True)
class TurnMarked:
    """The program's own id of the turn, with which a copy of its conversation can end.

    Emitted before the turn's end, by backends that can fork.
    """

    mark: str


@dataclass(frozen=True, slots=True)
class McpServersListed:
    """The MCP servers configured in the program; disabled ones may be missing."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommandsListed:
    """All slash commands that the program accepts here; replaces the previous list."""

    commands: tuple[AgentCommand, ...]


@dataclass(frozen=True, slots=True)
class ModelsListed:
    """The models that the program offers; replaces the previous list."""

    models: ModelList


@dataclass(frozen=True, slots=True)
class ModelReported:
    """The model in use from now on, by the program's name for it."""

    name: str
    is_user_choice: bool = False
    """Whether the user chose it with a command of the program."""


@dataclass(frozen=True, slots=True)
class LimitsReported:
    """Usage windows of the agent's account. Windows that are not in it, and values that are
    `None`, are as reported before.
    """

    windows: tuple[UsageWindow, ...]


@dataclass(frozen=True, slots=True)
class UsageReported:
    """What the running turn used so far. It is what counts if the turn's end is never reported."""

    usage: Usage
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn ended normally; `stop_reason` is `stopped` if the user stopped it."""

    stop_reason: str
    usage: Usage
    context_tokens: int | None = None
    context_window: int | None = None
    cost_usd: float | None = None
    """The turn's cost in dollars as the program says; `None` if it does not know."""


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn ended with an error to show to the user."""

    error: str
    error_type: ErrorType
    usage: Usage = field(default_factory=Usage)
    retry_after: float | None = None
    """Seconds, if a rate limit reported them."""
    limit: Limit | None = None
    """Set if the turn can go on later by itself."""
    has_message: bool = True
    """Whether the program kept the user's message in its conversation, so that it can be asked to
    continue; otherwise the message is sent again."""
    cost_usd: float | None = None


ContentEvent = TextDelta | TextFinal | BlockDropped | ToolUse | ToolOutput | ToolResult
"""Events that add to an answer or remove from it."""


AgentEvent = (
    TurnStarted
    | ContentEvent
    | PlanProposed
    | QuestionAsked
    | PermissionRequested
    | RequestWithdrawn
    | SteerTaken
    | ModeChanged
    | TurnModeReported
    | Notice
    | ConversationNote
    | ConversationIdentified
    | TurnMarked
    | McpServersListed
    | CommandsListed
    | ModelsListed
    | ModelReported
    | LimitsReported
    | UsageReported
    | TurnFinished
    | TurnFailed
)


OutOfTurnEvent = (
    TurnStarted
    | ModeChanged
    | Notice
    | ConversationNote
    | McpServersListed
    | CommandsListed
    | ModelsListed
    | ModelReported
    | LimitsReported
    | ConversationIdentified
    | RequestWithdrawn
)
"""Events allowed while no turn is open; any other would open an answer that never ends."""


COMPACTION_NOTE: Final = ConversationNote(
    "The conversation so far was shortened to a summary. The agent no longer sees the rest.",
    each_time=True,
)


def model_fallback_notice(agent: str, model: str) -> str:
    """The notice for a preset model that the program of `agent` does not have."""
    return f"{agent} does not have the model '{model}' here and uses its default model."
