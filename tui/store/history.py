"""The messages of one session as a screen knows them: pages of the past, the end kept live.

Pure: the mirror's events go in, and which messages changed comes out. Nothing here draws.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from model.base.text_memory import text_bytes
from model.domain import events as e
from model.domain.events import Event
from model.domain.resources import Message, MessagePage
from model.state import fold_message

MOST: Final = 8 * 1024 * 1024
"""Bytes of texts after which the oldest messages may be forgotten."""


class History:
    """The newest messages of a session without a gap, oldest first.

    Those that wait behind a run are not among them; they come when their run starts.
    """

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        """The session whose events count here."""
        self.messages: list[Message] = []
        """The loaded part of the conversation."""
        self.total = 0
        """How many messages the conversation has; more than are loaded while there are older."""
        self.is_loaded = False
        """Whether a first page came."""
        self._ended = 0
        """Bytes of the messages that came or ended since `shed` looked."""

    def __len__(self) -> int:
        return len(self.messages)

    def __getitem__(self, index: int) -> Message:
        return self.messages[index]

    @property
    def older(self) -> int:
        """How many messages stand before the first one that is loaded."""
        return max(0, self.total - len(self.messages))

    def load(self, page: MessagePage, streaming: Message | None = None) -> None:
        """Begin anew with the newest page and the unfinished answer as they are now."""
        self.messages = list(page.messages)
        self.total = max(page.total, len(self.messages))
        self.is_loaded = True
        self._ended = text_bytes(self.messages)
        if streaming is not None:
            self._put(streaming)

    def prepend(self, page: MessagePage) -> int:
        """Put an older page before what is loaded; how many of its messages were new.

        Pages are counted from the end, so one may overlap with messages that came meanwhile.
        """
        known = {message.id for message in self.messages}
        older = [message for message in page.messages if message.id not in known]
        self.messages[:0] = older
        # An empty page says that there is nothing older, whatever the count said.
        self.total = max(page.total if older else 0, len(self.messages))
        return len(older)

    @property
    def is_large(self) -> bool:
        """Whether enough came for `shed` to be worth its while."""
        return self._ended > MOST

    def shed(self) -> bool:
        """Forget all but the newest messages of `MOST` bytes; whether there were others.

        They are read again as all that is older. For who looks at the end.
        """
        if not self.is_large:
            return False
        self._ended, room, first = 0, MOST, len(self.messages)
        while first and room > 0:
            first -= 1
            room -= text_bytes(self.messages[first])
        del self.messages[:first]
        return first > 0

    def apply(
        self, event: Event, streaming: Mapping[str, Message] = MappingProxyType({})
    ) -> int | None:
        """Fold an event; the index that it changed, or `None` where it changes nothing here.

        `streaming` holds unfinished messages, by id, to which the event was applied already: they
        are taken as they are, so that a delta is folded once.
        """
        if event.concerns != self.session_id:
            return None
        match event:
            case e.MessageStarted() | e.MessageQueued(status="processing"):
                return self._put(event.message)
            case (
                e.ContentDelta()
                | e.ToolUsed()
                | e.ToolRunning()
                | e.BlockChanged()
                | e.MessageCompleted()
                | e.MessageFailed()
            ):
                return self._fold(event, event.message_id, streaming.get(event.message_id))
            case _:
                return None

    def _fold(self, event: Event, message_id: str, streaming: Message | None) -> int | None:
        index = self._place(message_id)
        if index is None:
            return None
        before = self.messages[index]
        self.messages[index] = streaming or fold_message(before, event)
        if isinstance(event, e.MessageCompleted | e.MessageFailed):
            self._ended += text_bytes(self.messages[index])
        return index

    def _put(self, message: Message) -> int:
        index = self._place(message.id)
        if index is not None:
            self.messages[index] = message
            return index
        self.messages.append(message)
        self.total += 1
        return len(self.messages) - 1

    def _place(self, message_id: str) -> int | None:
        """Where the message stands; searched from the end, where what changes is."""
        for index in range(len(self.messages) - 1, -1, -1):
            if self.messages[index].id == message_id:
                return index
        return None
