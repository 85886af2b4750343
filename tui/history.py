"""The messages of one session as a screen knows them: pages of the past, the end kept live.

Pure: the mirror's events go in, and which messages changed comes out. Nothing here draws.
"""

from collections.abc import Iterable

from model import events as e
from model.events import Event
from model.resources import Message, MessagePage
from model.state import fold_message


class History:
    """The newest messages of a session without a gap, oldest first, then those that wait.

    Indices count both: `history[i]` is a message of the conversation for `i < len(messages)` and
    one that waits behind the run after that.
    """

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        """The session whose events count here."""
        self.messages: list[Message] = []
        """The loaded part of the conversation."""
        self.queued: list[Message] = []
        """User messages that wait behind a run."""
        self.total = 0
        """How many messages the conversation has; more than are loaded while there are older."""
        self.is_loaded = False
        """Whether a first page came."""

    def __len__(self) -> int:
        return len(self.messages) + len(self.queued)

    def __getitem__(self, index: int) -> Message:
        if index < len(self.messages):
            return self.messages[index]
        return self.queued[index - len(self.messages)]

    @property
    def older(self) -> int:
        """How many messages stand before the first one that is loaded."""
        return max(0, self.total - len(self.messages))

    def is_waiting(self, index: int) -> bool:
        """Whether the message waits in the queue."""
        return index >= len(self.messages)

    def load(
        self,
        page: MessagePage,
        streaming: Message | None = None,
        queued: Iterable[Message] = (),
    ) -> None:
        """Begin anew with the newest page, the unfinished answer and the queue as they are now."""
        self.messages = list(page.messages)
        self.queued = list(queued)
        self.total = max(page.total, len(self.messages))
        self.is_loaded = True
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

    def apply(self, event: Event) -> range | None:
        """Fold an event; the indices that changed, or `None` where it changes nothing here.

        An empty range at the end says that the messages from there on are gone.
        """
        if event.concerns != self.session_id:
            return None
        match event:
            case e.MessageStarted():
                return self._put(event.message)
            case e.MessageQueued():
                return self._put_users(event)
            case e.MessageRemoved():
                return self._remove(event.message_id)
            case (
                e.ContentDelta()
                | e.ToolUsed()
                | e.BlockChanged()
                | e.MessageCompleted()
                | e.MessageFailed()
            ):
                return self._fold(event, event.message_id)
            case _:
                return None

    def _fold(self, event: Event, message_id: str) -> range | None:
        index = _place(self.messages, message_id)
        if index is None:
            return None
        self.messages[index] = fold_message(self.messages[index], event)
        return range(index, index + 1)

    def _put(self, message: Message) -> range:
        index = _place(self.messages, message.id)
        if index is not None:
            self.messages[index] = message
            return range(index, index + 1)
        self.messages.append(message)
        self.total += 1
        return range(len(self.messages) - 1, len(self))

    def _put_users(self, event: e.MessageQueued) -> range:
        waited = _place(self.queued, event.message.id)
        if event.status == "processing":
            if waited is not None:
                del self.queued[waited]
            return self._put(event.message)
        if waited is None:
            self.queued.append(event.message)
            return range(len(self) - 1, len(self))
        self.queued[waited] = event.message
        index = len(self.messages) + waited
        return range(index, index + 1)

    def _remove(self, message_id: str) -> range | None:
        waited = _place(self.queued, message_id)
        if waited is None:
            return None
        del self.queued[waited]
        return range(len(self.messages) + waited, len(self))


def _place(messages: list[Message], message_id: str) -> int | None:
    """Where the message stands; searched from the end, where what changes is."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].id == message_id:
            return index
    return None
