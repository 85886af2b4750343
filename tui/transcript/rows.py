"""The column of rows that a history makes: estimated where nobody looked, exact where somebody did.

Only messages that come into sight are laid out, so opening a session costs the same at any length.
"""

from collections import OrderedDict
from typing import Final

from model.domain.resources import Message, Request
from tui.store.history import History
from tui.transcript.heights import Heights
from tui.transcript.layout import estimated_height, lay_out
from tui.transcript.parts import NO_FOLDS, Folds, LaidOut, Look, Shown

KEPT: Final = 300
"""How many messages stay laid out."""
TALL: Final = 1000
"""Rows beyond which a message is tall; an answer of 2 MB has 80,000."""
KEPT_TALL: Final = 2
"""How many tall messages stay laid out: there is no room for more in sight at once."""


class Rows:
    """Which row shows what of a history in one look."""

    def __init__(self, history: History, look: Look, folds: dict[str, Folds]) -> None:
        self.history = history
        self.look = look
        self.layouts = 0
        """How many messages were laid out so far."""
        self._folds = folds
        self._request: Request | None = None
        self._kept: OrderedDict[str, LaidOut] = OrderedDict()
        self._exact: dict[str, tuple[Message, int]] = {}
        self._heights = Heights()
        self.change(0)

    @property
    def total(self) -> int:
        """All rows."""
        return self._heights.total

    def top(self, index: int) -> int:
        """The first row of a message."""
        return self._heights.top(index)

    def height(self, index: int) -> int:
        """The rows of a message, as known or guessed by now."""
        return self._heights[index]

    def find(self, row: int) -> tuple[int, int]:
        """The message that the row belongs to, and which of its rows it is."""
        index = self._heights.find(row)
        return index, row - self._heights.top(index)

    def between(self, first: int, end: int) -> range:
        """The messages that have rows from `first` up to `end`."""
        if not len(self.history) or first >= end:
            return range(0)
        return range(self._heights.find(first), self._heights.find(end - 1) + 1)

    def is_exact(self, index: int) -> bool:
        """Whether the height of the message is known, not guessed."""
        return self._known_height(index) is not None

    def laid_out(self, index: int) -> LaidOut:
        """The message as rows; its height is exact from now on."""
        message = self.history[index]
        shown = self._shown(message)
        kept = self._kept.get(message.id)
        if kept is None or not kept.shown.same(shown):
            kept = lay_out(shown, kept)
            self.layouts += 1
            self._kept[message.id] = kept
            self._kept.move_to_end(message.id)
            self._forget()
        self._kept.move_to_end(message.id)
        height = len(kept.strips)
        self._exact[message.id] = (message, height)
        self._heights[index] = height
        return kept

    def _forget(self) -> None:
        tall = [key for key, kept in self._kept.items() if len(kept.strips) > TALL]
        for key in tall[:-KEPT_TALL]:
            del self._kept[key]
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def change(self, first: int) -> None:
        """Take up that messages from `first` on came or changed."""
        count = len(self.history)
        if first == 0:
            here = {message.id for message in self.history.messages}
            self._exact = {key: known for key, known in self._exact.items() if key in here}
            self._heights = Heights(map(self._height, range(count)))
            return
        for index in range(first, len(self._heights)):
            self._heights[index] = self._height(index)
        for index in range(len(self._heights), count):
            self._heights.append(self._height(index))

    def restyle(self, look: Look) -> None:
        """Draw in another look; another width makes all heights guesses again."""
        if look.width != self.look.width:
            self._exact.clear()
        self.look = look
        self.change(0)

    def ask(self, request: Request | None) -> None:
        """Take up what the session needs a person for."""
        concerned = {r.message_id for r in (self._request, request) if r is not None}
        if request == self._request:
            return
        self._request = request
        for message_id in concerned:
            self._exact.pop(message_id, None)

    def fold(self, index: int, key: int, level: int) -> None:
        """Open or close a part of a message."""
        message_id = self.history[index].id
        self._folds[message_id] = {**self._folds.get(message_id, NO_FOLDS), key: level}
        self.laid_out(index)

    def _shown(self, message: Message) -> Shown:
        folds = self._folds.get(message.id, NO_FOLDS)
        asked = self._request
        request = asked if asked is not None and asked.message_id == message.id else None
        return Shown(message, self.look, folds, request)

    def _known_height(self, index: int) -> int | None:
        message = self.history[index]
        known = self._exact.get(message.id)
        return known[1] if known and known[0] is message else None

    def _height(self, index: int) -> int:
        known = self._known_height(index)
        return estimated_height(self.history[index], self.look) if known is None else known
