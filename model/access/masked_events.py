"""Events as the guests of a link get them: those of what is shared, masked, and no others."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from model.access.masked_text import MaskedText
from model.access.shapes import (
    SESSION_FIELDS,
    mask_json,
    show,
    show_block,
    show_message,
    show_output,
)
from model.domain.events.base import Event
from model.domain.events.messages import (
    BlockChanged,
    ContentDelta,
    MessageCompleted,
    MessageFailed,
    MessageQueued,
    MessageRemoved,
    MessagesRewound,
    MessageStarted,
    RunNoticed,
    ToolRunning,
    ToolUsed,
)
from model.domain.events.projects import ProjectRemoved, ProjectUpdated
from model.domain.events.sessions import (
    SessionArchived,
    SessionCreated,
    SessionDeleted,
    SessionUpdated,
    SessionWaiting,
    TurnRecorded,
    TurnUndone,
)
from model.domain.events.worktrees import (
    GitStatusUpdated,
    WorktreeArchived,
    WorktreeCreated,
    WorktreeCreateFailed,
    WorktreeCreating,
    WorktreeDeleted,
    WorktreeEvent,
    WorktreeRenamed,
    WorktreeStatusUpdated,
    WorktreeUnarchived,
    WorktreeUpdated,
)
from model.domain.guests import GuestTerms
from model.domain.messages import Message, TextBlock, ThinkingBlock
from model.domain.requests import Request
from model.secrets.scanner import mask_for_guests
from model.state import State

SESSION_EVENTS: Final[tuple[type[Event], ...]] = (
    MessageStarted, ContentDelta, ToolUsed, ToolRunning, BlockChanged, MessageCompleted,
    MessageFailed, MessageQueued, MessageRemoved, MessagesRewound, RunNoticed,
    SessionUpdated, SessionArchived, SessionDeleted, SessionWaiting, TurnRecorded,
    TurnUndone,
)  # fmt: skip
"""Events of one session, which its guests get."""

WORKTREE_EVENTS: Final[tuple[type[Event], ...]] = (
    WorktreeCreated, WorktreeArchived, WorktreeUnarchived, WorktreeRenamed,
    WorktreeUpdated, WorktreeCreating, WorktreeCreateFailed, WorktreeDeleted,
    WorktreeStatusUpdated, GitStatusUpdated,
)  # fmt: skip
"""Events of one worktree."""

OTHER_EVENTS: Final[tuple[type[Event], ...]] = (
    SessionCreated, ProjectUpdated, ProjectRemoved
)  # fmt: skip

HIDDEN_EVENTS: Final = frozenset({
    "worktree:conflicts_updated", "pull_request:updated", "review:updated", "landing:updated",
    "train:updated", "project:added", "preferences:updated", "recovery:created",
    "recovery:restored", "task:completed", "models:updated", "limits:updated",
    "usage:recorded", "guests:updated", "guest:acted", "notice:raised", "notice:withdrawn",
    "notice:sent", "notice:seen", "program:updated",
})  # fmt: skip
"""Events that no guest gets. One that is in no list is not sent either, and fails a test."""


class EventMasker:
    """Filters and masks the events of a workspace, one after the other."""

    def __init__(self, terms: GuestTerms, state: Callable[[], State]) -> None:
        """`state` returns what is shared, with all events so far."""
        self._terms = terms
        self._state = state
        self._texts: dict[tuple[str, int], tuple[MaskedText, ContentDelta]] = {}
        """Blocks that are being written, by message and index, each with one of its deltas."""

    def start(self, unfinished: Iterable[Message]) -> None:
        """Continue messages that are shown up to where they can be, as `show_message` does."""
        for message in unfinished:
            index = len(message.content) - 1
            block = message.content[index] if message.content else None
            if message.session_id in self._state().sessions and isinstance(
                block, TextBlock | ThinkingBlock
            ):
                delta = ContentDelta(
                    message_id=message.id,
                    content="",
                    content_index=index,
                    kind="thinking" if isinstance(block, ThinkingBlock) else None,
                    session_id=message.session_id,
                )
                self._texts[message.id, index] = (MaskedText(block.text), delta)

    def mask(self, event: Event) -> Iterator[Event]:
        """The event as guests get it, and before it the text that was held back; or nothing."""
        if isinstance(event, SESSION_EVENTS):
            if event.related_session_id in self._state().sessions:
                yield from self._mask_session_event(event)
        elif isinstance(event, WORKTREE_EVENTS):
            if self._is_shared_worktree(event):
                yield from _mask_worktree_event(event)
        elif isinstance(event, SessionCreated):
            shared = self._state().worktrees
            if self._terms.session_id is None and event.session.worktree_id in shared:
                yield SessionCreated(session=show(event.session))
        elif isinstance(event, ProjectUpdated):
            if event.project.id in self._state().projects:
                yield ProjectUpdated(project=show(event.project))
        elif isinstance(event, ProjectRemoved) and event.project_id in self._state().projects:
            yield event

    def _is_shared_worktree(self, event: Event) -> bool:
        match event:
            case WorktreeEvent() | WorktreeCreating():
                if event.worktree.id in self._state().worktrees:
                    return True
                is_new = self._terms.session_id is None
                return is_new and event.worktree.project_id == self._terms.project_id
            case WorktreeCreateFailed():
                return event.id in self._state().worktrees
            case _:
                return event.__dict__["worktree_id"] in self._state().worktrees

    def _mask_session_event(self, event: Event) -> Iterator[Event]:
        match event:
            case ContentDelta():
                yield from self._mask_delta(event)
                return
            case (
                MessageStarted() | ToolUsed() | BlockChanged()
                | MessageCompleted() | MessageFailed()
            ):  # fmt: skip
                yield from self._finish_texts(event.message_id)
        masked = _mask_session_event(event)
        if masked is not None:
            yield masked

    def _mask_delta(self, event: ContentDelta) -> Iterator[Event]:
        key = (event.message_id, event.content_index)
        if key not in self._texts:
            yield from self._finish_texts(event.message_id)
            self._texts[key] = (MaskedText(), event)
        shown = self._texts[key][0].append(event.content)
        if shown:
            yield event.model_copy(update={"content": shown})

    def _finish_texts(self, message_id: str) -> Iterator[Event]:
        """The rest of the message's text: something else follows."""
        for key in [key for key in self._texts if key[0] == message_id]:
            text, delta = self._texts.pop(key)
            if rest := text.finish():
                yield delta.model_copy(update={"content": rest})


def _mask_session_event(event: Event) -> Event | None:
    match event:
        case MessageStarted() | MessageQueued():
            return event.model_copy(update={"message": show_message(event.message)})
        case ToolUsed():
            shown = mask_json(event.tool_input, is_foreign=True)
            return event.model_copy(update={"tool_input": shown})
        case ToolRunning():
            return event.model_copy(update={"output": show_output(event.output)})
        case BlockChanged():
            return event.model_copy(update={"block": show_block(event.block)})
        case MessageFailed():
            return event.model_copy(update={"error": mask_for_guests(event.error)})
        case RunNoticed():
            return event.model_copy(update={"text": mask_for_guests(event.text)})
        case SessionUpdated():
            shown = {key: event.updates[key] for key in event.updates if key in SESSION_FIELDS}
            return event.model_copy(update={"updates": mask_json(shown)}) if shown else None
        case SessionWaiting():
            request = event.request
            fields = mask_json(request.model_dump(mode="json")) if request else None
            shown_request = Request.model_validate(fields) if fields else None
            return event.model_copy(update={"request": shown_request})
        case TurnRecorded() | TurnUndone():
            return event.model_copy(update={"turn": show(event.turn)})
        case _:
            return event


def _mask_worktree_event(event: Event) -> Iterator[Event]:
    match event:
        case WorktreeEvent() | WorktreeCreating():
            yield event.model_copy(update={"worktree": show(event.worktree)})
        case WorktreeCreateFailed():
            # The error names paths of the owner's machine.
            yield event.model_copy(update={"error": "The worktree could not be created."})
        case GitStatusUpdated() | WorktreeStatusUpdated() | WorktreeDeleted():
            yield event
