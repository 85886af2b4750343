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
from model.domain.events.notices import NoticeRaised, NoticesSeen, NoticesSent, NoticeWithdrawn
from model.domain.events.program import (
    GuestActed,
    GuestLinksUpdated,
    LimitsUpdated,
    ModelsUpdated,
    PreferencesUpdated,
    ProgramUpdated,
    TaskCompleted,
)
from model.domain.events.projects import ProjectAdded, ProjectRemoved, ProjectUpdated
from model.domain.events.sessions import (
    SessionArchived,
    SessionCreated,
    SessionDeleted,
    SessionUpdated,
    SessionWaiting,
    TurnRecorded,
    TurnUndone,
    UsageRecorded,
)
from model.domain.events.worktrees import (
    GitStatusUpdated,
    WorktreeConflictsUpdated,
    WorktreeCreateFailed,
    WorktreeCreating,
    WorktreeDeleted,
    WorktreeEvent,
    WorktreeStatusUpdated,
)
from model.domain.message_folding import fold_message
from model.domain.messages import Message
from model.domain.notices import Notice
from model.domain.program import ProgramStatus
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
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


def apply(state: State, event: Event) -> State:
    """Return the state after the event. Pure; an event about an unknown id changes nothing."""
    match event:
        case ContentDelta() | ToolUsed() | ToolRunning() | BlockChanged():
            message = state.streaming.get(event.message_id)
            if message is None:
                return state
            changed = fold_message(message, event)
            return replace(state, streaming=put(state.streaming, message.id, changed))
        case MessageStarted():
            started = put(state.streaming, event.message_id, event.message)
            return replace(state, streaming=started)
        case MessageCompleted() | MessageFailed():
            return replace(state, streaming=without(state.streaming, event.message_id))
        case MessageQueued() | MessageRemoved():
            return _apply_to_queue(state, event)
        case SessionCreated() | SessionUpdated() | SessionArchived() | SessionDeleted():
            return _apply_to_session(state, event)
        case ProgramUpdated():
            return replace(state, program=event.program)
        case ProjectAdded() | ProjectUpdated():
            return replace(state, projects=put(state.projects, event.project.id, event.project))
        case ProjectRemoved():
            return _without_project(state, event.project_id)
        case PreferencesUpdated():
            known = state.preferences.model_dump()
            merged = Preferences.model_validate({**known, **event.changes})
            return replace(state, preferences=merged)
        case (
            SessionWaiting() | RunNoticed() | TaskCompleted() | ModelsUpdated()
            | TurnRecorded() | TurnUndone() | LimitsUpdated() | UsageRecorded()
            | GuestLinksUpdated() | GuestActed()
        ):  # fmt: skip
            return state
        case MessagesRewound():
            return state  # no unfinished or queued message is ever rewound
        case NoticeRaised() | NoticeWithdrawn() | NoticesSent() | NoticesSeen():
            return replace(state, notices=_apply_to_notices(state.notices, event))
        case _:
            return _apply_to_worktree(state, event)


def rebase(event: Event, before: State, now: State) -> Event:
    """Adapt an event made for the state `before` so that it can be applied to `now`.

    An event that carries a whole worktree changes only the fields that differ from `before`; later
    changes to other fields are kept.
    """
    if not isinstance(event, WorktreeEvent):
        return event
    base, wanted = before.worktrees.get(event.worktree.id), event.worktree
    current = now.worktrees.get(event.worktree.id)
    if base is None or current is None or current is base:
        return event
    known = dict(base)
    changes = {field: value for field, value in wanted if value != known.get(field)}
    return event.model_copy(update={"worktree": current.model_copy(update=changes)})


def _apply_to_queue(state: State, event: MessageQueued | MessageRemoved) -> State:
    message_id = event.message_id if isinstance(event, MessageRemoved) else event.message.id
    waiting = state.queued.get(event.session_id, ())
    queued = tuple(message for message in waiting if message.id != message_id)
    if isinstance(event, MessageQueued) and event.status == "sent":
        # A changed message keeps its place.
        ids = [message.id for message in waiting]
        place = ids.index(message_id) if message_id in ids else len(queued)
        queued = (*queued[:place], event.message, *queued[place:])
    if not queued:
        return replace(state, queued=without(state.queued, event.session_id))
    return replace(state, queued=put(state.queued, event.session_id, queued))


def _apply_to_session(
    state: State,
    event: SessionCreated | SessionUpdated | SessionArchived | SessionDeleted,
) -> State:
    match event:
        case SessionCreated():
            return replace(state, sessions=put(state.sessions, event.session.id, event.session))
        case SessionDeleted():
            return _without_sessions(state, {event.session_id})
        case SessionUpdated():
            updates = event.updates
        case SessionArchived():
            updates = {"archived_at": event.archived_at}
    session = state.sessions.get(event.session_id)
    if session is None:
        return state
    changed = Session.model_validate({**session.model_dump(), **updates})
    return replace(state, sessions=put(state.sessions, session.id, changed))


def _apply_to_notices(
    notices: Mapping[str, Notice],
    event: NoticeRaised | NoticeWithdrawn | NoticesSent | NoticesSeen,
) -> Mapping[str, Notice]:
    match event:
        case NoticeRaised():
            return put(notices, event.notice.id, event.notice)
        case NoticeWithdrawn():
            return without(notices, event.notice_id)
    changed = dict(notices)
    for notice_id in event.notice_ids:
        if (notice := changed.get(notice_id)) is not None:
            changed[notice_id] = _note_sent(notice, event)
    return MappingProxyType(changed)


def _note_sent(notice: Notice, event: NoticesSent | NoticesSeen) -> Notice:
    if isinstance(event, NoticesSeen):
        return notice.model_copy(update={"seen_at": event.at})
    name = "reminded" if event.is_reminder else "sent"
    times = {key: at for key, at in getattr(notice, name).items() if key != event.channel}
    if not event.undone:
        times[event.channel] = event.at
    return notice.model_copy(update={name: times})


def _apply_to_worktree(state: State, event: Event) -> State:
    match event:
        case WorktreeCreating() | WorktreeEvent():
            changed = put(state.worktrees, event.worktree.id, event.worktree)
            return replace(state, worktrees=changed)
        case WorktreeCreateFailed():
            return _without_worktrees(state, {event.id})
        case WorktreeDeleted():
            return _without_worktrees(state, {event.worktree_id})
        case WorktreeStatusUpdated():
            return _with_status(
                state,
                event.worktree_id,
                cached_pr_status=event.cached_pr_status,
                cached_check_status=event.cached_check_status,
            )
        case GitStatusUpdated():
            return _with_status(
                state,
                event.worktree_id,
                **{cached: getattr(event, name) for name, cached in GIT_STATUS_FIELDS.items()},
            )
        case WorktreeConflictsUpdated():
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
