"""Commands about sessions: making them, talking in them, reading them."""

import uuid

from model.api.command import command
from model.domain.output import ToolOutput
from model.domain.resources import (
    Decision,
    ExecutionMode,
    Message,
    MessagePage,
    Resource,
    SentMessage,
    Session,
    SessionWithMessages,
    ThinkingLevel,
    WorkingMode,
)

PAGE = 100
"""Messages of a page (interface 8)."""

OUTPUT_PAGE = 1024 * 1024
"""Bytes of a tool's result in one reply."""


class AddedImage(Resource):
    """A picture that is kept for a message."""

    path: str


@command
async def list_sessions(worktree_id: str, include_archived: bool = False) -> list[Session]:
    """The worktree's sessions, lowest `order` first."""


@command
async def create_session(
    worktree_id: str,
    name: str | None = None,
    execution_mode: ExecutionMode = "plan",
    model: str | None = None,
    thinking_level: ThinkingLevel | None = None,
    backend: str | None = None,
) -> Session:
    """Begin a chat. What is not given comes from the project, the preferences, the defaults."""


@command
async def get_session(session_id: str) -> SessionWithMessages:
    """A session with its newest 100 messages."""


@command
async def get_messages(session_id: str, limit: int = PAGE, offset: int = 0) -> MessagePage:
    """A page of a conversation, counted from the newest message, oldest first."""


@command
async def update_session(
    session_id: str,
    name: str | None = None,
    execution_mode: ExecutionMode | None = None,
    model: str | None = None,
    thinking_level: ThinkingLevel | None = None,
    backend: str | None = None,
) -> Session:
    """Change what is given; a running agent takes it over from its next turn on.

    A changed mode holds at once, unless the session tells a `turn_mode`.

    Another `backend` is handed a summary of the conversation with its first message; one that
    worked here before goes on with its own conversation, and is told what it missed.
    """


@command
async def archive_session(session_id: str) -> Session:
    """Put a session away; what runs in it is stopped first."""


@command
async def unarchive_session(session_id: str) -> Session:
    """Bring an archived session back."""


@command
async def delete_session(session_id: str) -> None:
    """Delete a session and all its messages, for good."""


@command
async def reorder_sessions(worktree_id: str, session_ids: list[str]) -> None:
    """Put the worktree's sessions in this order; those that are not named follow as they were."""


@command
async def mark_session_read(session_id: str) -> None:
    """Note that a person has seen the newest message.

    Where they were away for long and want recaps, the session gets one (`recap`) some time later.
    """


@command
async def send_chat_message(
    session_id: str,
    message: str,
    files: list[str] | None = None,
    images: list[str] | None = None,
    message_id: uuid.UUID | None = None,
) -> SentMessage:
    """Send a message: `processing` when its run starts, `sent` when it waits behind one, or as the
    first of its session for the worktree's `setup` (`setup_hold`).

    While a plan or a question waits, the message discusses or answers it. A message after a stop
    runs at once; those that were waiting follow it. A worktree that is still being made takes none.

    `messageId` is a UUID of the client's making for the message. Whoever does not know whether it
    arrived sends it again with the same one: it is taken once, and this tells how it stands.
    """


@command
async def add_image(session_id: str, data: str) -> AddedImage:
    """Keep a picture from another device, to be sent as one of the `images` of a message.

    `data` is a PNG, JPEG, GIF or WebP in base64, of at most 10 MB. A session keeps 200; they go
    with it.
    """


@command
async def stop_generation(session_id: str) -> Session:
    """Stop what runs; what had arrived is kept, and messages that wait go on waiting."""


@command
async def approve_plan(
    session_id: str,
    mode: WorkingMode,
    plan: str | None = None,
    request_id: str | None = None,
    fresh: bool = False,
) -> Session:
    """Carry out the proposed plan in `build` or `yolo` mode, with the text of `plan` in place of
    the proposed one, if given.

    With `requestId` (of the session's `request`) it is refused when a newer plan has replaced it.
    A plan that was stopped (`set_aside_plan`) is approved by its id, while nothing runs.
    With `fresh` it goes on in a new session of the same worktree, whose agent knows the plan alone;
    that one is the answer, and the old one is archived as `close_original_on_clear_context` says.
    """


@command
async def answer_question(
    session_id: str, answer: str | dict[str, str], request_id: str | None = None
) -> Session:
    """Answer the pending question: a text, or question text to answer text.

    With `requestId` (of the session's `request`) it is refused when other questions wait by now.
    """


@command
async def answer_permission(
    session_id: str, request_id: str, decision: Decision, reason: str | None = None
) -> Session:
    """Allow once, allow for the session what the request's `session_scope` says, or deny.

    With `deny` the agent reads the `reason` (at most 4,000 characters): what to do instead.
    """


@command
async def get_tool_output(
    session_id: str, tool_use_id: str, offset: int = 0, limit: int = OUTPUT_PAGE
) -> ToolOutput:
    """Read on in a tool's long result, of which the conversation shows the ends: up to `limit`
    bytes from `offset` on, both within whole characters.

    What is kept ends with the session, after 16 MiB of one result, and where all results together
    are more than 1 GiB (the oldest go).
    """


@command
async def list_queued_messages(session_id: str) -> list[Message]:
    """Messages that wait behind the run, oldest first."""


@command
async def send_queued_messages(session_id: str) -> Session:
    """Send what still waits after a stop or a failure, one message after the other.

    What waits for the worktree's `setup` goes without it, in all of the worktree's sessions. Where
    something runs, or nothing waits, this does nothing.
    """


@command
async def remove_queued_message(session_id: str, message_id: str) -> None:
    """Take a waiting message back."""
