"""The complete state at one moment, and the pure fold that leads from each state to the next.

The store folds the events it accepts, every mirror folds the events it receives: equal events give
equal states. Past messages are not included (they are read in pages); the message being streamed
and the queued messages are.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, TypeVar

from model.base.errors import project_not_found
from model.domain import events as e
from model.domain.notices import Notice
from model.domain.program import ProgramStatus
from model.domain.resources import (
    Block,
    Message,
    MessageError,
    Project,
    Session,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    Worktree,
)
from model.preferences.schema import Preferences

V = TypeVar("V")


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


GIT_STATUS_FIELDS: Final = {
    "ahead": "cached_ahead_count",
    "behind": "cached_behind_count",
    "uncommitted_added": "cached_uncommitted_added",
    "uncommitted_removed": "cached_uncommitted_removed",
    "branch_diff_added": "cached_branch_diff_added",
    "branch_diff_removed": "cached_branch_diff_removed",
    "unpushed": "cached_unpushed_count",
    "conflicts": "cached_conflict_count",
    "checked_at": "cached_status_at",
}
"""The worktree's field for each field of `git:status-update`; the page has a generated copy."""


@dataclass(frozen=True, slots=True)
class State:
    """Everything that clients share, by id."""

    projects: Mapping[str, Project] = field(default_factory=_empty)
    worktrees: Mapping[str, Worktree] = field(default_factory=_empty)
    sessions: Mapping[str, Session] = field(default_factory=_empty)
    queued: Mapping[str, tuple[Message, ...]] = field(default_factory=_empty)
    """User messages queued behind a run, by session, oldest first."""
    streaming: Mapping[str, Message] = field(default_factory=_empty)
    """Unfinished messages, by message id."""
    preferences: Preferences = field(default_factory=Preferences)
    notices: Mapping[str, Notice] = field(default_factory=_empty)
    """What a person should know now."""
    program: ProgramStatus = field(default_factory=ProgramStatus)

    def worktrees_of(self, project_id: str, *, archived: bool = False) -> list[Worktree]:
        """Return the project's worktrees, lowest `order` first, then the oldest first."""
        found = (w for w in self.worktrees.values() if w.project_id == project_id)
        shown = (w for w in found if archived or w.archived_at is None)
        return sorted(shown, key=lambda w: (w.order, w.created_at))

    def sessions_of(self, worktree_id: str, *, archived: bool = False) -> list[Session]:
        """Return the worktree's sessions, lowest `order` first, then the oldest first."""
        found = (s for s in self.sessions.values() if s.worktree_id == worktree_id)
        shown = (s for s in found if archived or s.archived_at is None)
        return sorted(shown, key=lambda s: (s.order, s.created_at))

    def interruptible_sessions(self) -> list[Session]:
        """Return the sessions that would be interrupted if Spinney exited now.

        Plans and questions are kept; a permission is awaited by a running program.
        """
        return [
            session
            for session in self.sessions.values()
            if session.status == "running" or session.waiting_for == "permission"
        ]

    def timed_sessions(self) -> list[Session]:
        """Return the sessions in which something happens at a time, while Spinney runs.

        A pause ends, or a queued message is sent.
        """
        return [
            session
            for session in self.sessions.values()
            if session.archived_at is None
            and (
                (session.pause is not None and session.pause.until is not None)
                or any(one.send_at is not None for one in self.queued.get(session.id, ()))
            )
        ]

    def is_held(self, session: Session) -> bool:
        """Whether the session's first message waits for the `setup` of its worktree."""
        worktree = self.worktrees.get(session.worktree_id)
        return session.message_count == 0 and worktree is not None and bool(worktree.setup_hold)

    def streaming_in(self, session_id: str) -> Message | None:
        """Return the session's unfinished message."""
        return next((m for m in self.streaming.values() if m.session_id == session_id), None)


def sort_projects(projects: Iterable[Project]) -> list[Project]:
    """Lowest `order` first, then the oldest first."""
    return sorted(projects, key=lambda project: (project.order, project.added_at, project.id))


def require_item(state: State, item_id: str) -> Project:
    """The project or folder of this id. Raises `not_found`."""
    item = state.projects.get(item_id)
    if item is None:
        raise project_not_found(item_id)
    return item


def list_children(state: State, parent_id: str | None) -> list[Project]:
    """What lies directly in a folder, or at the root."""
    return sort_projects(item for item in state.projects.values() if item.parent_id == parent_id)


def put(mapping: Mapping[str, V], key: str, value: V) -> Mapping[str, V]:
    """Return a copy of the mapping with this entry."""
    return MappingProxyType({**mapping, key: value})


def without(mapping: Mapping[str, V], *keys: str) -> Mapping[str, V]:
    """Return a copy of the mapping without these entries."""
    return MappingProxyType({key: value for key, value in mapping.items() if key not in keys})


def apply(state: State, event: e.Event) -> State:
    """Return the state after the event. Pure; an event about an unknown id changes nothing."""
    match event:
        case e.ContentDelta() | e.ToolUsed() | e.ToolRunning() | e.BlockChanged():
            message = state.streaming.get(event.message_id)
            if message is None:
                return state
            changed = fold_message(message, event)
            return replace(state, streaming=put(state.streaming, message.id, changed))
        case e.MessageStarted():
            started = put(state.streaming, event.message_id, event.message)
            return replace(state, streaming=started)
        case e.MessageCompleted() | e.MessageFailed():
            return replace(state, streaming=without(state.streaming, event.message_id))
        case e.MessageQueued() | e.MessageRemoved():
            return _apply_to_queue(state, event)
        case e.SessionCreated() | e.SessionUpdated() | e.SessionArchived() | e.SessionDeleted():
            return _apply_to_session(state, event)
        case e.ProgramUpdated():
            return replace(state, program=event.program)
        case e.ProjectAdded() | e.ProjectUpdated():
            return replace(state, projects=put(state.projects, event.project.id, event.project))
        case e.ProjectRemoved():
            return _without_project(state, event.project_id)
        case e.PreferencesUpdated():
            known = state.preferences.model_dump()
            merged = Preferences.model_validate({**known, **event.changes})
            return replace(state, preferences=merged)
        case (
            e.SessionWaiting() | e.RunNoticed() | e.TaskCompleted() | e.ModelsUpdated()
            | e.TurnRecorded() | e.TurnUndone() | e.LimitsUpdated() | e.UsageRecorded()
            | e.GuestLinksUpdated() | e.GuestActed()
        ):  # fmt: skip
            return state
        case e.MessagesRewound():
            return state  # no unfinished or queued message is ever rewound
        case e.NoticeRaised() | e.NoticeWithdrawn() | e.NoticesSent() | e.NoticesSeen():
            return replace(state, notices=_apply_to_notices(state.notices, event))
        case _:
            return _apply_to_worktree(state, event)


def rebase(event: e.Event, before: State, now: State) -> e.Event:
    """Adapt an event made for the state `before` so that it can be applied to `now`.

    An event that carries a whole worktree changes only the fields that differ from `before`; later
    changes to other fields are kept.
    """
    if not isinstance(event, e.WorktreeEvent):
        return event
    base, wanted = before.worktrees.get(event.worktree.id), event.worktree
    current = now.worktrees.get(event.worktree.id)
    if base is None or current is None or current is base:
        return event
    known = dict(base)
    changes = {field: value for field, value in wanted if value != known.get(field)}
    return event.model_copy(update={"worktree": current.model_copy(update=changes)})


def fold_message(message: Message, event: e.Event) -> Message:
    """Return an unfinished message after one of its events."""
    match event:
        case e.ContentDelta():
            return _with_text(message, event)
        case e.ToolUsed():
            block = ToolUseBlock(
                id=event.tool_use_id,
                name=event.tool_name,
                input=event.tool_input,
                parent_tool_use_id=event.parent_tool_use_id,
            )
            return with_block(message, event.content_index, block)
        case e.ToolRunning():
            return _with_running(message, event)
        case e.BlockChanged(block=ToolResultBlock(tool_use_id=tool)):
            done = _without_running(message, tool)
            return with_block(done, event.content_index, event.block)
        case e.BlockChanged():
            return with_block(message, event.content_index, event.block)
        case e.MessageCompleted():
            return message.model_copy(
                update={
                    "status": "completed",
                    "stop_reason": event.stop_reason,
                    "usage": event.usage,
                }
            )
        case e.MessageFailed():
            error = MessageError(error=event.error, error_type=event.error_type)
            return message.model_copy(
                update={"status": "completed", "error": error, "usage": event.usage}
            )
        case _:
            return message


def with_block(message: Message, index: int, block: Block) -> Message:
    """Return the message with this block at `index`; an index past the end appends."""
    content = [*message.content[:index], block, *message.content[index + 1 :]]
    return message.model_copy(update={"content": content})


def _with_running(message: Message, event: e.ToolRunning) -> Message:
    index = event.content_index
    block = message.content[index] if index < len(message.content) else None
    if not isinstance(block, ToolUseBlock):
        return message
    fields = {"output_so_far": event.output, "running_for": event.seconds}
    return with_block(message, index, block.model_copy(update=fields))


def _without_running(message: Message, tool: str) -> Message:
    """Remove the live output of a tool whose result has arrived, which includes it."""
    for index, block in enumerate(message.content):
        if isinstance(block, ToolUseBlock) and block.id == tool and block.running_for is not None:
            fields = {"output_so_far": None, "running_for": None}
            return with_block(message, index, block.model_copy(update=fields))
    return message


def _with_text(message: Message, delta: e.ContentDelta) -> Message:
    kind = ThinkingBlock if delta.kind == "thinking" else TextBlock
    content = message.content
    if delta.content_index < len(content):
        block = content[delta.content_index]
        if isinstance(block, TextBlock | ThinkingBlock):
            longer = block.model_copy(update={"text": block.text + delta.content})
            return with_block(message, delta.content_index, longer)
    return with_block(message, delta.content_index, kind(text=delta.content))


def _apply_to_queue(state: State, event: e.MessageQueued | e.MessageRemoved) -> State:
    message_id = event.message_id if isinstance(event, e.MessageRemoved) else event.message.id
    waiting = state.queued.get(event.session_id, ())
    queued = tuple(message for message in waiting if message.id != message_id)
    if isinstance(event, e.MessageQueued) and event.status == "sent":
        # A changed message keeps its place.
        ids = [message.id for message in waiting]
        place = ids.index(message_id) if message_id in ids else len(queued)
        queued = (*queued[:place], event.message, *queued[place:])
    if not queued:
        return replace(state, queued=without(state.queued, event.session_id))
    return replace(state, queued=put(state.queued, event.session_id, queued))


def _apply_to_session(
    state: State,
    event: e.SessionCreated | e.SessionUpdated | e.SessionArchived | e.SessionDeleted,
) -> State:
    match event:
        case e.SessionCreated():
            return replace(state, sessions=put(state.sessions, event.session.id, event.session))
        case e.SessionDeleted():
            return _without_sessions(state, {event.session_id})
        case e.SessionUpdated():
            updates = event.updates
        case e.SessionArchived():
            updates = {"archived_at": event.archived_at}
    session = state.sessions.get(event.session_id)
    if session is None:
        return state
    changed = Session.model_validate({**session.model_dump(), **updates})
    return replace(state, sessions=put(state.sessions, session.id, changed))


def _apply_to_notices(
    notices: Mapping[str, Notice],
    event: e.NoticeRaised | e.NoticeWithdrawn | e.NoticesSent | e.NoticesSeen,
) -> Mapping[str, Notice]:
    match event:
        case e.NoticeRaised():
            return put(notices, event.notice.id, event.notice)
        case e.NoticeWithdrawn():
            return without(notices, event.notice_id)
    changed = dict(notices)
    for notice_id in event.notice_ids:
        if (notice := changed.get(notice_id)) is not None:
            changed[notice_id] = _note_sent(notice, event)
    return MappingProxyType(changed)


def _note_sent(notice: Notice, event: e.NoticesSent | e.NoticesSeen) -> Notice:
    if isinstance(event, e.NoticesSeen):
        return notice.model_copy(update={"seen_at": event.at})
    name = "reminded" if event.is_reminder else "sent"
    times = {key: at for key, at in getattr(notice, name).items() if key != event.channel}
    if not event.undone:
        times[event.channel] = event.at
    return notice.model_copy(update={name: times})


def _apply_to_worktree(state: State, event: e.Event) -> State:
    match event:
        case e.WorktreeCreating() | e.WorktreeEvent():
            changed = put(state.worktrees, event.worktree.id, event.worktree)
            return replace(state, worktrees=changed)
        case e.WorktreeCreateFailed():
            return _without_worktrees(state, {event.id})
        case e.WorktreeDeleted():
            return _without_worktrees(state, {event.worktree_id})
        case e.WorktreeStatusUpdated():
            return _with_status(
                state,
                event.worktree_id,
                cached_pr_status=event.cached_pr_status,
                cached_check_status=event.cached_check_status,
            )
        case e.GitStatusUpdated():
            return _with_status(
                state,
                event.worktree_id,
                **{cached: getattr(event, name) for name, cached in GIT_STATUS_FIELDS.items()},
            )
        case e.WorktreeConflictsUpdated():
            kinds = {one.partner: one.with_kind for one in event.conflicts}
            return _with_status(
                state,
                event.worktree_id,
                conflicts_with=[partner for partner, kind in kinds.items() if kind == "worktree"],
                conflicts_with_base="branch" in kinds.values(),
            )
        case _:
            return state


def _with_status(state: State, worktree_id: str, **fields: Any) -> State:
    worktree = state.worktrees.get(worktree_id)
    if worktree is None:
        return state
    changed = worktree.model_copy(update=fields)
    return replace(state, worktrees=put(state.worktrees, worktree_id, changed))


def _without_sessions(state: State, session_ids: set[str]) -> State:
    streaming = {m.id for m in state.streaming.values() if m.session_id in session_ids}
    return replace(
        state,
        sessions=without(state.sessions, *session_ids),
        queued=without(state.queued, *session_ids),
        streaming=without(state.streaming, *streaming),
    )


def _without_worktrees(state: State, worktree_ids: set[str]) -> State:
    sessions = {s.id for s in state.sessions.values() if s.worktree_id in worktree_ids}
    rest = _without_sessions(state, sessions)
    return replace(rest, worktrees=without(rest.worktrees, *worktree_ids))


def _without_project(state: State, project_id: str) -> State:
    worktrees = {w.id for w in state.worktrees.values() if w.project_id == project_id}
    rest = _without_worktrees(state, worktrees)
    return replace(rest, projects=without(rest.projects, project_id))
