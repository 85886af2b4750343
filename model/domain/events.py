"""The closed set of events, by wire name, and their two frame formats.

A plain client gets exactly the interface's frames (section 6). A client that requested numbered
frames also gets `seq`, the fields in `numbered_only`, and all events that are `numbered`: what a
mirror needs to rebuild the state of the store by folding events.
"""

import json
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from model.domain.conflicts import ConflictSummary
from model.domain.guests import GuestAction
from model.domain.landing import Train
from model.domain.notices import Notice
from model.domain.program import ProgramStatus
from model.domain.recovery import RecoveryPoint
from model.domain.resources import (
    Block,
    Message,
    Project,
    Request,
    Session,
    Usage,
    WaitingFor,
    Worktree,
)
from model.domain.turns import Turn
from model.domain.usage import AccountLimits, TurnUsage

_NOTHING: frozenset[str] = frozenset()


class Event(BaseModel):
    """Base class of events. Frozen; carries the changed data, so that state is a fold of events."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: ClassVar[str]
    envelope: ClassVar[Literal["data", "payload"]] = "payload"
    numbered: ClassVar[bool] = False
    """Whether it is sent only to clients with numbered frames."""
    numbered_only: ClassVar[frozenset[str]] = _NOTHING
    """Fields that are omitted from plain frames."""
    omitted_when_none: ClassVar[frozenset[str]] = _NOTHING

    @property
    def related_session_id(self) -> str | None:
        """The id of the session that the event belongs to, for subscribers."""
        # Not getattr: for a missing field, pydantic takes 2 µs for each published event.
        session_id: str | None = self.__dict__.get("session_id")
        return session_id

    def body(self, *, numbered: bool) -> str:
        """The JSON of `data` or `payload`."""
        excluded = {field for field in self.omitted_when_none if getattr(self, field) is None}
        if not numbered:
            excluded |= self.numbered_only
        return self.model_dump_json(exclude=excluded or None)

    def frame(self, seq: int | None = None) -> str:
        """The complete frame as JSON; in the numbered format if `seq` is given."""
        body = self.body(numbered=seq is not None)
        number = "" if seq is None else f'"seq":{seq},'
        if self.envelope == "data":
            return f'{{{number}"event":"{self.name}","data":{body}}}'
        return f'{{{number}"type":"event","event":"{self.name}","payload":{body}}}'


class _ChatEvent(Event):
    envelope: ClassVar[Literal["data", "payload"]] = "data"


class MessageStarted(_ChatEvent):
    """The agent starts a response."""

    name: ClassVar[str] = "message-started"
    numbered_only: ClassVar[frozenset[str]] = frozenset({"message"})
    message_id: str
    session_id: str
    message: Message


class ContentDelta(_ChatEvent):
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


class ToolUsed(_ChatEvent):
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


class MessageCompleted(_ChatEvent):
    """The response is complete."""

    name: ClassVar[str] = "message-completed"
    message_id: str
    session_id: str
    stop_reason: str
    usage: Usage


class MessageFailed(_ChatEvent):
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


class ModelsUpdated(Event):
    """An agent program reported a changed list of models; `list_agents` returns it."""

    name: ClassVar[str] = "models:updated"
    numbered: ClassVar[bool] = True
    backend: str


class UsageRecorded(Event):
    """What a turn used: whenever its agent reports it, at its end, and with its price."""

    name: ClassVar[str] = "usage:recorded"
    turn: TurnUsage

    @property
    def related_session_id(self) -> str | None:
        """The session of the turn; none for a short text."""
        return self.turn.session_id or None


class LimitsUpdated(Event):
    """The usage windows of an account changed; `list_usage_limits` returns those of all."""

    name: ClassVar[str] = "limits:updated"
    account: AccountLimits


class ProgramUpdated(Event):
    """Another version of Spinney can be used, or a restart is planned or begins."""

    name: ClassVar[str] = "program:updated"
    numbered: ClassVar[bool] = True
    program: ProgramStatus


class SessionCreated(_ChatEvent):
    """A session was created."""

    name: ClassVar[str] = "session-created"

    session: Session

    @property
    def related_session_id(self) -> str:
        """The new session's id."""
        return self.session.id


class SessionUpdated(_ChatEvent):
    """Some fields of a session changed."""

    name: ClassVar[str] = "session-updated"
    session_id: str
    updates: dict[str, Any]
    """Changed fields in JSON form."""


class SessionArchived(_ChatEvent):
    """A session was archived; it can be unarchived."""

    name: ClassVar[str] = "session-archived"
    numbered_only: ClassVar[frozenset[str]] = frozenset({"archived_at"})
    session_id: str
    archived_at: float


class SessionDeleted(_ChatEvent):
    """A session and all its messages were deleted."""

    name: ClassVar[str] = "session-deleted"
    session_id: str


class SessionWaiting(Event):
    """A session waits for the user, or (`None`) no longer does."""

    name: ClassVar[str] = "session-waiting"
    session_id: str
    waiting_for: WaitingFor | None
    request: Request | None


class WorktreeCreating(Event):
    """A worktree is being created in the background."""

    name: ClassVar[str] = "worktree:creating"
    worktree: Worktree

    def body(self, *, numbered: bool) -> str:
        """Five fields of the worktree; in numbered frames also the complete future worktree."""
        shown = ("id", "project_id", "name", "path", "branch")
        fields = {field: getattr(self.worktree, field) for field in shown}
        if numbered:
            fields["worktree"] = self.worktree.model_dump(mode="json")
        return json.dumps(fields)


class WorktreeEvent(Event):
    """Base class of events that carry the complete worktree after the change."""

    worktree: Worktree


class WorktreeCreated(WorktreeEvent):
    """A worktree is ready."""

    name: ClassVar[str] = "worktree:created"


class WorktreeCreateFailed(Event):
    """A worktree could not be created; nothing of it remains."""

    name: ClassVar[str] = "worktree:create_error"
    id: str
    project_id: str
    error: str


class WorktreeArchived(WorktreeEvent):
    """A worktree was archived; its files are kept."""

    name: ClassVar[str] = "worktree:archived"


class WorktreeUnarchived(WorktreeEvent):
    """A worktree was unarchived."""

    name: ClassVar[str] = "worktree:unarchived"


class WorktreeRenamed(WorktreeEvent):
    """A worktree and its branch were renamed."""

    name: ClassVar[str] = "worktree:renamed"


class WorktreeUpdated(WorktreeEvent):
    """Other fields of a worktree changed: label, order, pull request, a missing directory."""

    name: ClassVar[str] = "worktree:updated"


class TurnRecorded(Event):
    """A turn began, or it ended and the files that it changed are known."""

    name: ClassVar[str] = "turn:recorded"
    turn: Turn

    @property
    def related_session_id(self) -> str:
        """The session of the turn."""
        return self.turn.session_id


class TurnUndone(Event):
    """A turn was undone, or (`undone` is null) its undo was taken back."""

    name: ClassVar[str] = "turn:undone"
    turn: Turn

    @property
    def related_session_id(self) -> str:
        """The session of the turn."""
        return self.turn.session_id


class WorktreeConflictsUpdated(Event):
    """What a worktree would be in conflict with, if it were merged now, has changed."""

    name: ClassVar[str] = "worktree:conflicts_updated"
    worktree_id: str
    conflicts: list[ConflictSummary]


class PullRequestUpdated(Event):
    """Something of a worktree's pull request has changed, as `get_pull_request` returns it."""

    name: ClassVar[str] = "pull_request:updated"
    worktree_id: str


class ReviewUpdated(Event):
    """A person's verdicts or an agent's findings about a worktree's changes have changed."""

    name: ClassVar[str] = "review:updated"
    worktree_id: str


class LandingUpdated(Event):
    """Something that `get_landing_desk` returns for a project has changed."""

    name: ClassVar[str] = "landing:updated"
    project_id: str


class TrainUpdated(Event):
    """A train made a step, ended, landed, or was discarded (`null`)."""

    name: ClassVar[str] = "train:updated"
    project_id: str
    train: Train | None


class WorktreeDeleted(Event):
    """A worktree and its sessions were deleted."""

    name: ClassVar[str] = "worktree:deleted"
    worktree_id: str
    project_id: str


class WorktreeStatusUpdated(Event):
    """The cached state of the pull request and its checks was refreshed."""

    name: ClassVar[str] = "worktree:status_updated"
    worktree_id: str
    cached_pr_status: str | None
    cached_check_status: str | None


class GitStatusUpdated(Event):
    """The line and commit counts of a worktree were refreshed."""

    name: ClassVar[str] = "git:status-update"
    numbered_only: ClassVar[frozenset[str]] = frozenset({"conflicts"})
    worktree_id: str
    ahead: int | None
    behind: int | None
    uncommitted_added: int | None
    uncommitted_removed: int | None
    branch_diff_added: int | None
    branch_diff_removed: int | None
    unpushed: int | None
    conflicts: int | None = None
    checked_at: float


class _ProjectEvent(Event):
    project: Project

    def body(self, *, numbered: bool) -> str:
        """The project's fields, without its API key for the issue tracker."""
        return self.project.model_copy(update={"tracker_api_key": None}).model_dump_json()


class ProjectAdded(_ProjectEvent):
    """A project or folder was added."""

    name: ClassVar[str] = "project:added"


class ProjectUpdated(_ProjectEvent):
    """A project or folder changed."""

    name: ClassVar[str] = "project:updated"


class ProjectRemoved(Event):
    """A project or folder was removed from Spinney; no file was deleted."""

    name: ClassVar[str] = "project:removed"
    project_id: str


class PreferencesUpdated(Event):
    """Preferences changed, by a client or in the file. Its frames never contain secrets."""

    name: ClassVar[str] = "preferences:updated"
    secret: ClassVar[frozenset[str]] = frozenset(
        {
            "http_server_token",
            "tracker_api_key",
            "custom_cli_profiles",
            "notify_urls",
            "notify_ntfy_url",
            "notify_ntfy_token",
        }
    )
    changes: dict[str, Any]

    def body(self, *, numbered: bool) -> str:
        """`{changes}` without secrets."""
        shown = {key: value for key, value in self.changes.items() if key not in self.secret}
        return json.dumps({"changes": shown})


class RecoveryCreated(Event):
    """The state of a worktree was kept before it is deleted or changed."""

    name: ClassVar[str] = "recovery:created"
    point: RecoveryPoint


class RecoveryRestored(Event):
    """A worktree, or files of it, came back from a recovery point."""

    name: ClassVar[str] = "recovery:restored"
    recovery_id: str
    worktree_id: str
    paths: list[str]
    """The restored files; empty if the whole worktree was restored."""


class GuestLinksUpdated(Event):
    """A guest link was created, opened on another device, used or revoked."""

    name: ClassVar[str] = "guests:updated"
    link_id: str


class GuestActed(Event):
    """A guest did something, or failed to."""

    name: ClassVar[str] = "guest:acted"
    action: GuestAction


class NoticeRaised(Event):
    """Something that a person should know: a session waits, has finished, a check is red, …"""

    name: ClassVar[str] = "notice:raised"
    notice: Notice

    @property
    def related_session_id(self) -> str | None:
        """The session that it is about."""
        return self.notice.session_id


class NoticeWithdrawn(Event):
    """A notice no longer applies: it was answered, read or dismissed."""

    name: ClassVar[str] = "notice:withdrawn"
    notice_id: str
    session_id: str | None


class NoticesSent(Event):
    """Notices were sent on a channel; terminals and pages then show `title` and `text` themselves.

    If `undone`, they could not be sent after all, and are sent later.
    """

    name: ClassVar[str] = "notice:sent"
    numbered: ClassVar[bool] = True
    channel: str
    notice_ids: list[str]
    at: float
    title: str = ""
    text: str = ""
    session_id: str | None = None
    """The session to open; `null` for several."""
    is_reminder: bool = False
    undone: bool = False


class NoticesSeen(Event):
    """Notices about a session that a client shows; nothing is sent of them."""

    name: ClassVar[str] = "notice:seen"
    numbered: ClassVar[bool] = True
    notice_ids: list[str]
    at: float


class TaskCompleted(Event):
    """Background work ended: a script, a pull, a push, a commit."""

    name: ClassVar[str] = "task:completed"
    task: str
    ok: bool
    detail: str
    worktree_id: str | None = None


def _event_classes(kind: type[Event]) -> list[type[Event]]:
    kinds = [kind] if "name" in kind.__dict__ else []
    return kinds + [each for child in kind.__subclasses__() for each in _event_classes(child)]


EVENTS: dict[str, type[Event]] = {kind.name: kind for kind in _event_classes(Event)}
"""Every event by its wire name."""


def parse_event(frame: dict[str, Any]) -> Event | None:
    """Parse a numbered frame; `None` for an event that this version does not know."""
    kind = EVENTS.get(frame.get("event", ""))
    body = frame.get("data") if "data" in frame else frame.get("payload")
    if kind is None or not isinstance(body, dict):
        return None
    if issubclass(kind, _ProjectEvent):
        body = {"project": body}
    return kind.model_validate(body)
