"""The cursor that moves over the parts of messages."""

from tui.transcript.layout import GAP
from tui.transcript.parts import MessageLayout, Part
from tui.transcript.viewport import Viewport


class Cursor:
    """A position on a part of a message; hidden at first."""

    def __init__(self) -> None:
        self._message_id = ""
        self._key = 0
        self._index = 0

    @property
    def is_visible(self) -> bool:
        """Whether the cursor is shown."""
        return bool(self._message_id)

    def hide(self) -> None:
        """Hide the cursor."""
        self._message_id = ""

    def move_to(self, layout: MessageLayout, part: Part) -> None:
        """Move to a part; ignored for empty rows."""
        if part.key != GAP:
            self._message_id, self._key = layout.source.message.id, part.key

    def is_at(self, layout: MessageLayout, line: int) -> bool:
        """Whether the row `line` of the message belongs to the part under the cursor."""
        if layout.source.message.id != self._message_id:
            return False
        return layout.parts[layout.index_at(line)].key == self._key

    def find_part(self, viewport: Viewport | None) -> tuple[int, Part] | None:
        """The message index and the part under the cursor, or `None`."""
        if viewport is None or not self.is_visible:
            return None
        index = self._message_index(viewport)
        if index is None:
            return None
        layout = viewport.rows.get_layout(index)
        index_in_layout = layout.index_of(self._key)
        return None if index_in_layout is None else (index, layout.parts[index_in_layout])

    def step(self, viewport: Viewport, by: int) -> tuple[int, int] | None:
        """Move by one part, at first into the viewport; its row range, or `None` past the end."""
        found = self.find_part(viewport)
        rows = viewport.rows
        if found is None:
            index, line = viewport.position_at(
                min(viewport.height, rows.total - viewport.top) - 1
            ) or (0, 0)
            layout = rows.get_layout(index)
            at: int | None = self._next_index(layout, layout.index_at(line) + 1, -1)
        else:
            index = found[0]
            layout = rows.get_layout(index)
            at = self._next_index(layout, layout.index_of(self._key) or 0, by)
        while at is None:
            index += by if found else -1
            if not 0 <= index < len(rows.history):
                return None if index > 0 else (0, 1)
            layout = rows.get_layout(index)
            at = self._next_index(layout, -1 if by > 0 else len(layout.parts), by)
        self.move_to(layout, layout.parts[at])
        self._index = index
        first = rows.top(index) + layout.starts[at]
        return first, first + len(layout.parts[at].strips)

    def _message_index(self, viewport: Viewport) -> int | None:
        history = viewport.rows.history
        if self._index < len(history) and history[self._index].id == self._message_id:
            return self._index
        indexes = (at for at in range(len(history)) if history[at].id == self._message_id)
        return next(indexes, None)

    @staticmethod
    def _next_index(layout: MessageLayout, index_in_layout: int, by: int) -> int | None:
        """The index of the next part in this direction that is not an empty row."""
        index_in_layout += by
        while 0 <= index_in_layout < len(layout.parts):
            if layout.parts[index_in_layout].key != GAP:
                return index_in_layout
            index_in_layout += by
        return None
