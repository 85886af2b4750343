"""Sessions and messages."""

import uuid

from model.api.command import command
from model.domain.messages import Message, MessagePage, SentMessage
from model.domain.modes import ExecutionMode, ThinkingLevel, WorkingMode
from model.domain.output import ToolOutput
from model.domain.requests import Decision
from model.domain.resource import Resource
from model.domain.session_rows import ArchivedFilter, SessionList
from model.domain.sessions import Session, SessionStatus, SessionWithMessages
from model.preferences.schema import PromptKey

PAGE_SIZE = 100
"""Messages per page, unless the client says otherwise (interface 8)."""

OUTPUT_LIMIT = 1024 * 1024
"""Bytes of a tool's output per response."""


class AddedImage(Resource):
    """An image that was stored for a message."""

    path: str


@command
async def list_sessions(worktree_id: str, include_archived: bool = False) -> list[Session]:
    """List the sessions of a worktree, lowest `order` first."""


@command
async def list_all_sessions(
    project_id: str | None = None,
    worktree_id: str | None = None,
    status: list[SessionStatus] | None = None,
    backend: str | None = None,
    archived: ArchivedFilter = "exclude",
    search: str = "",
    limit: int = PAGE_SIZE,
    offset: int = 0,
) -> SessionList:
    """List the sessions of all projects as short rows, the last used first.

    `search` are words that the names of session, worktree, branch and project contain. Archived are
    also the sessions of archived worktrees. `limit` is 1 to 1,000.
    """


@command
async def create_session(
    worktree_id: str,
    name: str | None = None,
    execution_mode: ExecutionMode = "plan",
    model: str | None = None,
    thinking_level: ThinkingLevel | None = None,
    backend: str | None = None,
    prompt: PromptKey | None = None,
) -> Session:
    """Create a session. Settings default to those of the project, then to the preferences.

    With `prompt`, agent, model and provider profile are those that the preferences choose for this
    magic prompt.
    """


@command
async def get_session(session_id: str) -> SessionWithMessages:
    """Get a session with its newest 100 messages."""


@command
async def get_messages(session_id: str, limit: int = PAGE_SIZE, offset: int = 0) -> MessagePage:
    """Get a page of a session's messages, oldest first; `offset` counts from the newest message.

    `limit` is 1 to 1,000.
    """


@command
async def update_session(
    session_id: str,
    name: str | None = None,
    execution_mode: ExecutionMode | None = None,
    model: str | None = None,
    thinking_level: ThinkingLevel | None = None,
    backend: str | None = None,
) -> Session:
    """Change the given settings of a session; a running agent applies them from its next turn on.

    A new mode applies immediately, unless the session has a `turn_mode`.

    A new `backend` receives a summary of the conversation with its first message. If it worked in
    the session before, it resumes its own conversation and receives what it missed.
    """


@command
async def archive_session(session_id: str) -> Session:
    """Archive a session; its current run is stopped first."""


@command
async def unarchive_session(session_id: str) -> Session:
    """Restore an archived session."""


@command
async def delete_session(session_id: str) -> None:
    """Delete a session; the archive keeps it as a recovery point, unless nothing was said in it."""


@command
async def reorder_sessions(worktree_id: str, session_ids: list[str]) -> None:
    """Set the order of a worktree's sessions; those that are not listed follow in their present
    order.
    """


@command
async def mark_session_read(session_id: str) -> None:
    """Mark a session as read.

    If the user was away for long and wants recaps (`session_recap_enabled`), the session gets a
    `recap` some time later.
    """


@command
async def send_chat_message(
    session_id: str,
    message: str,
    files: list[str] | None = None,
    images: list[str] | None = None,
    message_id: uuid.UUID | None = None,
    send_at: float | str | None = None,
    steer: bool = False,
) -> SentMessage:
    """Send a message. Its status is `processing` if its run starts, `sent` if it is queued: behind
    a run, while the session or its account is paused, or as the first of its session until the
    worktree's `setup` is done (`setup_hold`).

    With `sendAt` it is queued until then: in seconds since 1970, or a text such as `18:00`,
    `tomorrow 9:00`, `in 2 h`, or `reset` for the end of the limit that the account has reached. If
    a turn is in progress then, it is sent after it.

    While a plan or a question is pending, the message discusses or answers it. A message after a
    stop runs immediately, and those that were queued follow it. Fails while the worktree is being
    created.

    With `steer`, a message that would be queued behind the running turn is sent into it: the agent
    reads it as soon as it can, and the message (`steered`) leaves the queue at that place of the
    conversation. If the turn ends first, it is the next message. An agent that cannot read messages
    during a turn gets it after the turn, as without `steer`; a `session-notice` says so.

    `messageId` is a UUID that the client generates for the message. A client that does not know
    whether the message arrived sends it again with the same UUID: it is accepted only once, and the
    result is its current status.
    """


@command
async def add_image(session_id: str, data: str) -> AddedImage:
    """Upload an image, to be sent as one of the `images` of a message.

    `data` is a PNG, JPEG, GIF or WebP in base64, at most 10 MB. It is scaled down to 1,568 pixels,
    and has no metadata and no animation afterwards. A session keeps 200 images and files, until it
    is deleted.
    """


@command
async def stop_generation(session_id: str) -> Session:
    """Stop the current run; its output so far is kept, and queued messages stay queued."""


@command
async def approve_plan(
    session_id: str,
    mode: WorkingMode,
    plan: str | None = None,
    request_id: str | None = None,
    fresh: bool = False,
) -> Session:
    """Carry out the proposed plan in `build` or `yolo` mode; `plan` replaces its text.

    With `requestId` (from the session's `request`), fails if a newer plan has replaced it. A plan
    that was stopped (`set_aside_plan`) is approved by its id, while nothing is running. With
    `fresh`, it is carried out in a new session of the same worktree, whose agent sees only the
    plan; the result is that session, and the original is archived if
    `close_original_on_clear_context` is on.
    """


@command
async def answer_question(
    session_id: str, answer: str | dict[str, str], request_id: str | None = None
) -> Session:
    """Answer the pending question: with a text, or with an object from question text to answer
    text.

    With `requestId` (from the session's `request`), fails if other questions are pending by now.
    """


@command
async def answer_permission(
    session_id: str, request_id: str, decision: Decision, reason: str | None = None
) -> Session:
    """Allow a request once, allow what its `session_scope` says for the whole session, or deny it.

    With `deny`, the agent receives the `reason` (at most 4,000 characters): what to do instead.
    """


@command
async def get_tool_output(
    session_id: str, tool_use_id: str, offset: int = 0, limit: int = OUTPUT_LIMIT
) -> ToolOutput:
    """Read a part of a tool's long output, of which the message shows only the beginning and the
    end: up to `limit` bytes (4 to 1,048,576) from `offset`, without splitting characters.

    Output is kept until the session is deleted: at most 16 MiB of one result, and 1 GiB of all
    results, oldest removed first.
    """


@command
async def list_queued_messages(session_id: str) -> list[Message]:
    """List the queued messages of a session, oldest first."""


@command
async def send_queued_messages(session_id: str) -> Session:
    """Send the messages that are still queued after a stop or a failure, one after the other.

    Messages held for the worktree's `setup` are sent without waiting for it, in all sessions of the
    worktree. Does nothing while a run is in progress, or if nothing is queued.
    """


@command
async def steer_queued_message(session_id: str, message_id: str) -> SentMessage:
    """Send a queued message into the running turn, as `steer` of `send_chat_message` does.

    Fails if no turn is running.
    """


@command
async def remove_queued_message(session_id: str, message_id: str) -> None:
    """Remove a message from the queue. Fails if the agent does not give it back (`steered`)."""
