"""User messages before they run: validation, prompts, the queue, and the changes they cause."""

import os
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from model.backends.base import Prompt
from model.base.errors import SpinneyError
from model.base.foreign_text import mark_untrusted
from model.base.text import make_visible
from model.chat import texts
from model.chat.lookup import session_in
from model.domain.events.base import Event
from model.domain.events.messages import MessageQueued
from model.domain.events.sessions import SessionUpdated, SessionWaiting
from model.domain.messages import Block, ImageBlock, Message, SentMessage, TextBlock
from model.domain.requests import Decision, Request
from model.domain.sessions import Pause, Session
from model.limits.pauses import join_account_pause
from model.state import State
from model.store.store import Store

SentStatus = Literal["sent", "processing"]

MESSAGE_LIMIT = 1024 * 1024
"""Characters of one message."""

REASON_LIMIT = 4000
"""Characters of the reason given with a denial."""

ATTACHMENTS_LIMIT = 20
ATTACHMENT_SIZE_LIMIT = 20 * 1024 * 1024
"""Bytes of one file or image."""


def make_prompt(message: Message, text: str) -> Prompt:
    """Return a prompt of `text` and the message's attachments. Reads from disk."""
    if message.context is not None:
        text = _append_context(text, Path(message.context))
    images = tuple(Path(block.path) for block in message.content if isinstance(block, ImageBlock))
    return Prompt(text, tuple(Path(path) for path in message.files), images)


def _append_context(text: str, context: Path) -> str:
    """Append what the worktree was created for, as other people wrote it."""
    try:
        untrusted = context.read_text()
    except OSError:
        return text
    return f"{text}\n\nThe worktree was created for this: {mark_untrusted(untrusted)}"


def make_checked_message(
    session_id: str,
    root: Path,
    text: str,
    files: Sequence[str],
    images: Sequence[str],
    message_id: str | None = None,
    send_at: float | None = None,
) -> Message:
    """Validate the user's input and return it as a message.

    Relative paths are resolved against the worktree at `root`. Reads from disk. Raises
    `SpinneyError` if the input is empty, too long or has unreadable attachments.
    """
    text = make_visible(text)
    if not text.strip() and not files and not images:
        raise SpinneyError("The message is empty.")
    if len(text) > MESSAGE_LIMIT:
        raise SpinneyError(
            f"The message is longer than {MESSAGE_LIMIT} characters. Send it as a file.",
            "too_large",
        )
    files = [str(root / name) for name in files]
    images = [str(root / name) for name in images]
    _check_attachments([*files, *images])
    message = make_user_message(session_id, text, files, images, message_id)
    return message if send_at is None else message.model_copy(update={"send_at": send_at})


def check_reason(decision: Decision, reason: str) -> str:
    """Validate the reason that an agent gets with a denial; other decisions have none."""
    reason = make_visible(reason).strip() if decision == "deny" else ""
    if len(reason) > REASON_LIMIT:
        raise SpinneyError(
            f"The reason is longer than {REASON_LIMIT:,} characters. Deny without one and send it"
            " as a message.",
            "too_large",
        )
    return reason


def check_answers(request: Request, answer: str | Mapping[str, str]) -> dict[str, str]:
    """Return the answer to each question of a request. Raises `SpinneyError` if all are empty."""
    if isinstance(answer, str):
        answers = {question.question: answer for question in request.questions}
    else:
        answers = dict(answer)
    if not any(text.strip() for text in answers.values()):
        raise SpinneyError("Invalid field 'answer': it is empty")
    return answers


def make_user_message(
    session_id: str,
    text: str,
    files: list[str] | None = None,
    images: list[str] | None = None,
    message_id: str | None = None,
) -> Message:
    """Create a user message with the current time and, unless given, a new id."""
    blocks: list[Block] = [TextBlock(text=text)] if text else []
    blocks += [ImageBlock(path=path) for path in images or ()]
    return Message(
        id=message_id or str(uuid.uuid4()),
        role="user",
        content=blocks,
        timestamp=time.time(),
        session_id=session_id,
        files=files or [],
    )


async def find_sent(store: Store, session_id: str, message_id: str) -> SentMessage | None:
    """Return the status of the message that was accepted under this id, if any.

    Raises `conflict` if another session's message or an answer has it.
    """
    existing = await store.message(message_id)
    if existing is None:
        return None
    if existing.session_id != session_id or existing.role != "user":
        raise SpinneyError("Invalid field 'messageId': another message has it", "conflict")
    is_queued = any(m.id == message_id for m in store.state.queued.get(session_id, ()))
    return SentMessage(message_id=message_id, status="sent" if is_queued else "processing")


async def accept_message(store: Store, message: Message) -> SentStatus:
    """Save a message: `processing` if its run starts, `sent` if it is queued.

    It is queued behind another one, until its time, or while its session or account is paused.
    """
    status: SentStatus = "sent"

    def make_events(state: State) -> list[Event]:
        nonlocal status
        status, events = make_message_events(state, message)
        return events

    await store.accept(make_events)
    return status


def make_message_events(state: State, message: Message) -> tuple[SentStatus, list[Event]]:
    """Return the status of a new message, and the events with which it is accepted."""
    session = session_in(state, message.session_id)
    is_busy = session.status == "running" or session.waiting_for == "permission"
    is_held = state.is_held(session)
    joined = None if is_busy or is_held else _find_pause(state, session, message)
    waits = is_busy or is_held or message.send_at is not None or joined is not None
    status: SentStatus = "sent" if waits else "processing"
    steers = message.steered and is_busy and message.send_at is None
    updated = {"status": "sent" if waits else "completed", "steered": steers}
    stored = message.model_copy(update=updated)
    events: list[Event] = [MessageQueued(session_id=session.id, message=stored, status=status)]
    if message.context is not None:
        updates: dict[str, object] = {"has_context": True}
        events.append(SessionUpdated(session_id=session.id, updates=updates))
    if is_busy:
        return status, events
    if waits:
        return status, [*events, *_make_queue_events(state, session, message, joined)]
    return status, [*events, *make_start_events(state, session, message)]


def _find_pause(state: State, session: Session, message: Message) -> Pause | None:
    """Return the pause for which a message waits that would start a run."""
    if session.pause is not None:
        return session.pause
    if message.send_at is not None:
        return None
    return join_account_pause(state, session, time.time())


def make_start_events(state: State, session: Session, message: Message) -> list[Event]:
    """Return the events with which a run starts in the session."""
    updates: dict[str, object] = {
        "status": "running",
        "updated_at": message.timestamp,
        "message_count": session.message_count + 1,
    }
    if session.archived_at is not None:
        raise SpinneyError("This session is archived. Bring it back first.", "conflict")
    if session.recap is not None:
        updates["recap"] = None
    if (name := _session_name(state, session, message)) != session.name:
        updates["name"] = name
    if session.waiting_for is None:
        return [SessionUpdated(session_id=session.id, updates=updates)]
    return make_resolved_events(session.id, **updates)


def _make_queue_events(
    state: State, session: Session, message: Message, pause: Pause | None
) -> list[Event]:
    """Return the events of a message that is queued in a session and does not run yet."""
    if session.archived_at is not None:
        raise SpinneyError("This session is archived. Bring it back first.", "conflict")
    updates: dict[str, object] = {
        "name": _session_name(state, session, message),
        "updated_at": message.timestamp,
    }
    if pause is None:
        return [SessionUpdated(session_id=session.id, updates=updates)]
    updates |= {"status": "paused", "pause": pause.model_dump(mode="json")}
    if session.waiting_for is None:
        return [SessionUpdated(session_id=session.id, updates=updates)]
    return make_resolved_events(session.id, **updates)


def _session_name(state: State, session: Session, message: Message) -> str:
    """Return the name from the first message, unless the session is already named."""
    is_first = session.message_count == 0 and not state.queued.get(session.id)
    is_enabled = state.preferences.auto_session_naming and not session.named_by_user
    return (
        texts.make_session_name(message.text) if is_first and is_enabled else ""
    ) or session.name


def make_resolved_events(session_id: str, **updates: object) -> list[Event]:
    """Return the events that clear the session's open request."""
    cleared = {**updates, "waiting_for": None, "request": None}
    return [
        SessionUpdated(session_id=session_id, updates=cleared),
        SessionWaiting(session_id=session_id, waiting_for=None, request=None),
    ]


def _is_system_file(path: Path) -> bool:
    """Whether the path leads to a file of the kernel's process or device interface.

    Resolves links; two slashes at the start of a path are otherwise kept by the system.
    """
    real_path = "/" + os.path.realpath(path).lstrip("/")
    return real_path.startswith(("/proc/", "/sys/"))


def _check_attachments(paths: list[str]) -> None:
    """Raise `SpinneyError` unless all are readable regular files of an acceptable size."""
    if len(paths) > ATTACHMENTS_LIMIT:
        raise SpinneyError(
            f"At most {ATTACHMENTS_LIMIT} files and images can be attached to a message."
        )
    for name in paths:
        path = Path(name)
        if not path.is_file() or _is_system_file(path):
            raise SpinneyError(f"Not a readable file: {make_visible(name)}")
        if path.stat().st_size > ATTACHMENT_SIZE_LIMIT:
            raise SpinneyError(f"Larger than 20 MB: {make_visible(name)}", "too_large")
        try:
            with path.open("rb"):
                pass
        except OSError as error:
            raise SpinneyError(
                f"Not a readable file: {make_visible(name)} ({error.strerror})"
            ) from None
