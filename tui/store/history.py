"""The loaded messages of one session: pages of past messages, and the end kept live by events.

Pure data: applies events and returns the index of the changed message.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from model.base.text_memory import text_bytes
from model.domain.events.base import Event
from model.domain.events.messages import (
    BlockChanged,
    ContentDelta,
    MessageCompleted,
    MessageFailed,
    MessageQueued,
    MessagesRewound,
    MessageStarted,
    ToolRunning,
    ToolUsed,
)
from model.domain.events.sessions import TurnRecorded
from model.domain.message_folding import fold_message
from model.domain.messages import Message, MessagePage
from model.domain.turns import TurnFile

MAX_BYTES: Final = 8 * 1024 * 1024
"""Bytes of text above which the oldest messages may be dropped."""


class History:
    """The newest messages of a session without gaps, oldest first.

    Queued messages are not included; they are added when their run starts.
    """

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        """The session whose events are applied."""
        self.messages: list[Message] = []
        """The loaded part of the conversation."""
        self.total = 0
        """The number of messages of the conversation, including older ones that are not loaded."""
        self.is_loaded = False
        """Whether the first page was loaded."""
        self.has_turns = False
        """Whether `turn_files` was loaded."""
        self.first_turn = 0
        """The lowest number of a turn that was loaded; 0 before any."""
        self.turn_files: dict[str, tuple[TurnFile, ...]] = {}
        """The files that each recorded turn changed, by the id of its first message."""
        self._new_bytes = 0
        """Bytes of the messages added or completed since the last `drop_oldest`."""

    def __len__(self) -> int:
        return len(self.messages)

    def __getitem__(self, index: int) -> Message:
        return self.messages[index]

    @property
    def older_count(self) -> int:
        """The number of messages before the first loaded one."""
        return max(0, self.total - len(self.messages))

    def load(self, page: MessagePage, streaming: Message | None = None) -> None:
        """Replace everything by the newest page and the unfinished message."""
        self.messages = list(page.messages)
        self.total = max(page.total, len(self.messages))
        self.is_loaded = True
        self._new_bytes = text_bytes(self.messages)
        if streaming is not None:
            self._put(streaming)

    def prepend(self, page: MessagePage) -> int:
        """Insert an older page at the start; returns the number of new messages.

        Pages are counted from the end, so a page may overlap if messages were added meanwhile.
        """
        known = {message.id for message in self.messages}
        messages = [message for message in page.messages if message.id not in known]
        self.messages[:0] = messages
        # An empty page means that there is nothing older, whatever its count.
        self.total = max(page.total if messages else 0, len(self.messages))
        return len(messages)

    @property
    def is_large(self) -> bool:
        """Whether enough was added for `drop_oldest` to be worthwhile."""
        return self._new_bytes > MAX_BYTES

    def drop_oldest(self) -> bool:
        """Drop all but the newest `MAX_BYTES` of messages; whether any were dropped.

        Dropped messages can be loaded again. Only for views that follow the end.
        """
        if not self.is_large:
            return False
        self._new_bytes, room, first = 0, MAX_BYTES, len(self.messages)
        while first and room > 0:
            first -= 1
            room -= text_bytes(self.messages[first])
        del self.messages[:first]
        return first > 0

    def apply(
        self, event: Event, streaming: Mapping[str, Message] = MappingProxyType({})
    ) -> int | None:
        """Apply an event; returns the index of the changed message, or `None`.

        `streaming` contains unfinished messages, by id, that include the event already: they are
        used as they are, so that a delta is applied only once.
        """
        if event.related_session_id != self.session_id:
            return None
        match event:
            case MessageStarted() | MessageQueued(status="processing"):
                return self._put(event.message)
            case (
                ContentDelta()
                | ToolUsed()
                | ToolRunning()
                | BlockChanged()
                | MessageCompleted()
                | MessageFailed()
            ):
                return self._fold(event, event.message_id, streaming.get(event.message_id))
            case MessagesRewound():
                return self._set_rewound(event)
            case TurnRecorded():
                return self.set_turn_files(event.turn.message_id, event.turn.files)
            case _:
                return None

    def _fold(self, event: Event, message_id: str, streaming: Message | None) -> int | None:
        index = self._find_index(message_id)
        if index is None:
            return None
        before = self.messages[index]
        self.messages[index] = streaming or fold_message(before, event)
        if isinstance(event, MessageCompleted | MessageFailed):
            self._new_bytes += text_bytes(self.messages[index])
        return index

    def set_turn_files(self, message_id: str, files: Sequence[TurnFile]) -> int | None:
        """Set what the turn that began with a message changed; returns the message's index."""
        if not files or self.turn_files.get(message_id) == tuple(files):
            return None
        self.turn_files[message_id] = tuple(files)
        return self._find_index(message_id)

    def _set_rewound(self, event: MessagesRewound) -> int | None:
        """Mark messages; returns 0 if any is loaded, as those around them are drawn differently."""
        changed = set(event.message_ids)
        marked = [index for index, each in enumerate(self.messages) if each.id in changed]
        for index in marked:
            updates = {"rewound": event.rewound}
            self.messages[index] = self.messages[index].model_copy(update=updates)
        return 0 if marked else None

    def _put(self, message: Message) -> int:
        index = self._find_index(message.id)
        if index is not None:
            self.messages[index] = message
            return index
        self.messages.append(message)
        self.total += 1
        return len(self.messages) - 1

    def _find_index(self, message_id: str) -> int | None:
        """The index of a message; searched from the end, where changes happen."""
        for index in range(len(self.messages) - 1, -1, -1):
            if self.messages[index].id == message_id:
                return index
        return None
