"""Messages of a conversation and the blocks that they consist of."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from model.domain.modes import ExecutionMode, WorkingMode
from model.domain.requests import Question
from model.domain.resource import Resource
from model.domain.usage import Usage

MessageStatus = Literal["sent", "processing", "completed"]


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
    part: Literal["block", "message"] = Field(
        default="block", exclude_if=lambda part: part == "block"
    )
    """`message` if what is damaged says who wrote the message, and when. Present only then."""

    @property
    def notice(self) -> str:
        """The notice that screens show instead of the block."""
        if self.part == "message":
            return (
                "This message is damaged in the database: who wrote it and when may be wrong, and"
                " parts of it may be missing."
            )
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
