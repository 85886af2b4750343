"""The cursor that walks over the parts of messages."""

from tui.transcript.layout import GAP
from tui.transcript.parts import LaidOut, Part
from tui.transcript.viewport import Window


class Cursor:
    """A part of a message, or nothing while the cursor is put away."""

    def __init__(self) -> None:
        self._message_id = ""
        self._key = 0
        self._index = 0

    @property
    def is_out(self) -> bool:
        """Whether it stands anywhere."""
        return bool(self._message_id)

    def put_away(self) -> None:
        """Stand nowhere."""
        self._message_id = ""

    def put_on(self, laid: LaidOut, part: Part) -> None:
        """Stand on a part; empty rows carry no cursor."""
        if part.key != GAP:
            self._message_id, self._key = laid.shown.message.id, part.key

    def stands_on(self, laid: LaidOut, line: int) -> bool:
        """Whether this row of the message belongs to the part under the cursor."""
        if laid.shown.message.id != self._message_id:
            return False
        return laid.parts[laid.part_at(line)].key == self._key

    def found(self, window: Window | None) -> tuple[int, Part] | None:
        """The message's index and the part under the cursor."""
        if window is None or not self.is_out:
            return None
        index = self._message_index(window)
        if index is None:
            return None
        laid = window.rows.laid_out(index)
        place = laid.part_of(self._key)
        return None if place is None else (index, laid.parts[place])

    def step(self, window: Window, by: int) -> tuple[int, int] | None:
        """Move by one part, the first time into the window; its rows, or `None` past the end."""
        found = self.found(window)
        rows = window.rows
        if found is None:
            index, line = window.place(min(window.height, rows.total - window.top) - 1) or (0, 0)
            laid = rows.laid_out(index)
            at: int | None = self._beside(laid, laid.part_at(line) + 1, -1)
        else:
            index = found[0]
            laid = rows.laid_out(index)
            at = self._beside(laid, laid.part_of(self._key) or 0, by)
        while at is None:
            index += by if found else -1
            if not 0 <= index < len(rows.history):
                return None if index > 0 else (0, 1)
            laid = rows.laid_out(index)
            at = self._beside(laid, -1 if by > 0 else len(laid.parts), by)
        self.put_on(laid, laid.parts[at])
        self._index = index
        first = rows.top(index) + laid.starts[at]
        return first, first + len(laid.parts[at].strips)

    def _message_index(self, window: Window) -> int | None:
        history = window.rows.history
        if self._index < len(history) and history[self._index].id == self._message_id:
            return self._index
        places = (at for at in range(len(history)) if history[at].id == self._message_id)
        return next(places, None)

    @staticmethod
    def _beside(laid: LaidOut, place: int, by: int) -> int | None:
        """The next part in this direction on which the cursor can stand."""
        place += by
        while 0 <= place < len(laid.parts):
            if laid.parts[place].key != GAP:
                return place
            place += by
        return None
