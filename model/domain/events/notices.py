"""Events of notices: raised, sent on a channel, seen, withdrawn."""

from typing import ClassVar

from model.domain.events.base import Event
from model.domain.notices import Notice


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
