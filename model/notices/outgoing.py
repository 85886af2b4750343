"""What a channel sends, and what it raises when it cannot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from model.domain.notices import Notice, NoticeChannel, NoticeReason
from model.notices.texts import summarize
from model.preferences.schema import Preferences


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message to a person: about one notice, or a summary of several."""

    key: str
    """The same for a notice and its reminder, so that a phone replaces the one by the other."""
    title: str
    text: str
    notices: tuple[Notice, ...] = ()
    is_reminder: bool = False
    answers: tuple[str, ...] = ()
    """Options of a question that may become buttons."""

    @property
    def notice(self) -> Notice | None:
        """The notice, if it is about exactly one."""
        return self.notices[0] if len(self.notices) == 1 else None

    @property
    def reason(self) -> NoticeReason | None:
        """The reason, if it is about exactly one notice."""
        return self.notice.reason if self.notice else None

    @property
    def session_id(self) -> str | None:
        """The session to open, if it is about exactly one."""
        return self.notice.session_id if self.notice else None

    @property
    def path(self) -> str:
        """The page's address to open, behind the server's."""
        if self.session_id is not None:
            return f"/#/session/{self.session_id}"
        if self.notice is not None and self.notice.worktree_id is not None:
            return f"/#/worktree/{self.notice.worktree_id}"
        return "/"


class DeliveryError(Exception):
    """A message that could not be sent.

    Args:
        message: What happened and what to do, in a sentence.
        retry: Whether the same message may get through later.
        retry_after: Seconds to wait at least, if the service said so.
    """

    def __init__(
        self, message: str, *, retry: bool = True, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.retry = retry
        self.retry_after = retry_after


class Channel(Protocol):
    """A way to reach a person outside of Spinney's own screens."""

    name: NoticeChannel

    def is_ready(self, preferences: Preferences) -> bool:
        """Whether it is set up."""
        ...

    async def send(self, message: Outgoing, preferences: Preferences) -> str:
        """Send, and return where it went, in words. Raises `DeliveryError`."""
        ...

    async def withdraw(self, key: str, preferences: Preferences) -> None:
        """Take a message back where the service can; never raises."""
        ...


def compose(notices: Sequence[Notice], *, details: str, is_reminder: bool) -> Outgoing:
    """Return the message about these notices; `details` is the preference `notify_details`."""
    if len(notices) > 1:
        title, text = summarize(notices)
        return Outgoing("summary", title, text, tuple(notices), is_reminder)
    notice = notices[0]
    title = f"Still waiting: {notice.title}" if is_reminder else notice.title
    if details != "summary":
        return Outgoing(notice.id, title, "", tuple(notices), is_reminder)
    answers = tuple(notice.answers)
    return Outgoing(notice.id, title, notice.text, tuple(notices), is_reminder, answers)
