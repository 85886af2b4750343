"""Notices: what a person should hear of, and the ways to reach them."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, get_args

from pydantic import Field

from model.domain.resource import Resource

NoticeReason = Literal[
    "permission", "question", "plan", "finished", "failed", "limit", "check_failed", "review",
    "disk",
]  # fmt: skip
NoticeChannel = Literal["terminal", "page", "command", "apprise", "ntfy", "push"]

REASONS: Final[tuple[NoticeReason, ...]] = get_args(NoticeReason)
CHANNELS: Final[tuple[NoticeChannel, ...]] = get_args(NoticeChannel)
WAITING: Final[tuple[NoticeReason, ...]] = ("permission", "question", "plan")
"""Reasons that last until a person answers, of which a reminder is sent."""
COMMENTS: Final = "comments"
"""The occasion of a review that is comments on the worktree's pull request."""

CHANNEL_LABELS: Final[Mapping[NoticeChannel, str]] = {
    "terminal": "Terminal",
    "page": "Page",
    "command": "Command",
    "apprise": "Apprise",
    "ntfy": "ntfy",
    "push": "Push",
}


class Notice(Resource):
    """Something that a person should know and that still holds; one for each subject and reason."""

    id: str
    """`reason.subject`: of a session, a worktree, or `disk` of the whole machine."""
    reason: NoticeReason
    session_id: str | None = None
    worktree_id: str | None = None
    title: str
    """The name of the session or worktree, and what it is about, in one line."""
    text: str = ""
    """A summary in one line; without secrets, yet it may name files or commands."""
    created_at: float
    request_id: str | None = None
    """The open request of the session that it is about."""
    answers: list[str] = Field(default_factory=list)
    """The options of a question, where a button can be one."""
    occasion: str = ""
    """Differs where the same reason applies again: another request, another turn."""
    lasts: bool = False
    """Whether it stands until it is dismissed, rather than as long as its cause is seen."""
    seen_at: float | None = None
    """When it needed no word, because a client showed the session; a reminder may follow."""
    channels: list[NoticeChannel] = Field(default_factory=list)
    """The channels that it is for, as the preferences said when it was raised."""
    sent: dict[str, float] = Field(default_factory=dict)
    """When it was sent, by channel."""
    reminded: dict[str, float] = Field(default_factory=dict)
    """When the reminder was sent, by channel."""


class ChannelStatus(Resource):
    """A way to reach a person, and whether it works."""

    name: NoticeChannel
    label: str
    is_ready: bool
    """Whether it is set up."""
    hint: str
    """How to set it up, or what it does."""
    problem: str | None = None
    """Why the latest notice could not be sent there."""


class ChannelTest(Resource):
    """The result of a test notice on one channel."""

    channel: NoticeChannel
    ok: bool
    detail: str


def sort_notices(notices: Iterable[Notice]) -> list[Notice]:
    """What waits for an answer first, then the newest first."""
    return sorted(notices, key=lambda each: (each.request_id is None, -each.created_at))
