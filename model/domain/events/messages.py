"""Events of a conversation: messages, their blocks, and the progress of a run."""

from typing import Any, ClassVar, Literal

from model.domain.events.base import ChatEvent, Event
from model.domain.messages import Block, Message
from model.domain.usage import Usage


class MessageStarted(ChatEvent):
    """The agent starts a response."""

    name: ClassVar[str] = "message-started"
    numbered_only: ClassVar[frozenset[str]] = frozenset({"message"})
    message_id: str
    session_id: str
    message: Message


class ContentDelta(ChatEvent):
    """A piece of text for the block at `content_index`; a new index opens a new block."""

    name: ClassVar[str] = "content-delta"
    numbered_only: ClassVar[frozenset[str]] = frozenset({"session_id"})
    omitted_when_none: ClassVar[frozenset[str]] = frozenset({"kind"})
    message_id: str
    content: str
    content_index: int
    kind: Literal["thinking"] | None = None
    session_id: str

    def merge(self, later: "ContentDelta", longest: int) -> "ContentDelta | None":
        """Join two deltas; `None` for different blocks or more than `longest` characters."""
        if (self.message_id, self.content_index) != (later.message_id, later.content_index):
            return None
        if len(self.content) + len(later.content) > longest:
            return None
        return self.model_copy(update={"content": self.content + later.content})

    def split(self, longest: int) -> "list[ContentDelta]":
        """Split into deltas of at most `longest` characters."""
        starts = range(0, len(self.content), longest)
        texts = (self.content[start : start + longest] for start in starts)
        return [self.model_copy(update={"content": text}) for text in texts]


class ToolUsed(ChatEvent):
    """The agent uses a tool."""

    name: ClassVar[str] = "tool-use"
    numbered_only: ClassVar[frozenset[str]] = frozenset(
        {"session_id", "content_index", "tool_use_id", "parent_tool_use_id"}
    )
    message_id: str
    tool_name: str
    tool_input: dict[str, Any]
    session_id: str
    content_index: int
    tool_use_id: str
    parent_tool_use_id: str | None = None


class ToolRunning(Event):
    """Progress of a running tool: the end of its output so far, and its run time. Never stored."""

    name: ClassVar[str] = "tool-running"
    numbered: ClassVar[bool] = True
    session_id: str
    message_id: str
    content_index: int
    output: str | None
    """A few kilobytes at most; `null` if no output is known."""
    seconds: int


class BlockChanged(Event):
    """A block other than streamed text: a tool result, a plan, a question, a replaced text."""

    name: ClassVar[str] = "message-block"
    numbered: ClassVar[bool] = True
    session_id: str
    message_id: str
    content_index: int
    block: Block


class MessageCompleted(ChatEvent):
    """The response is complete."""

    name: ClassVar[str] = "message-completed"
    message_id: str
    session_id: str
    stop_reason: str
    usage: Usage


class MessageFailed(ChatEvent):
    """The response failed; the part that had arrived is kept."""

    name: ClassVar[str] = "message-error"
    numbered_only: ClassVar[frozenset[str]] = frozenset({"session_id", "usage", "retry_after"})
    message_id: str
    error: str
    error_type: str
    session_id: str
    usage: Usage | None = None
    retry_after: float | None = None


class MessageQueued(Event):
    """A user message was accepted: `processing` when its run starts, `sent` while it is queued."""

    name: ClassVar[str] = "message-queued"
    session_id: str
    message: Message
    status: Literal["sent", "processing"]


class MessageRemoved(Event):
    """A queued user message was removed."""

    name: ClassVar[str] = "message-removed"
    numbered: ClassVar[bool] = True
    session_id: str
    message_id: str


class MessagesRewound(Event):
    """Messages were taken back (`rewound`), or are part of the conversation again."""

    name: ClassVar[str] = "messages:rewound"
    numbered: ClassVar[bool] = True
    session_id: str
    message_ids: list[str]
    rewound: bool


class RunNoticed(Event):
    """A transient notice about a run, such as 'retrying (2 of 4)'; not part of the conversation."""

    name: ClassVar[str] = "session-notice"
    numbered: ClassVar[bool] = True
    session_id: str
    text: str
