"""The visible rows of the transcript, stable while the rows around them change.

The viewport follows the end, or keeps one message in position: anchored by message and not by row,
because rows above it change from estimated to exact, are loaded later, and wrap differently at
another width.
"""

from dataclasses import dataclass

from tui.transcript.rows import HistoryRows


@dataclass(slots=True)
class Anchor:
    """A message that keeps its position in the viewport, and how far it is scrolled."""

    index: int
    message_id: str
    above: int
    """Its rows above the viewport; negative if it begins below the top."""


class Viewport:
    """A range of `height` visible rows."""

    def __init__(self, rows: HistoryRows, height: int, anchor: Anchor | None = None) -> None:
        self.rows = rows
        self.height = height
        self.anchor = anchor
        """The message that keeps its position; `None` while following the end."""
        self.top = 0
        """The first visible row."""

    def settle(self) -> None:
        """Lay out the visible messages and compute the first row."""
        anchor, rows = self._find_anchor(), self.rows
        while True:
            self.top = rows.total - self.height
            if anchor is not None:
                self.top = min(self.top, rows.top(anchor.index) + anchor.above)
            self.top = max(self.top, 0)
            estimated = [index for index in self.visible_messages() if not rows.is_exact(index)]
            if not estimated:
                return
            # At the end, one message at a time from the bottom: those above may not be needed.
            for index in estimated if anchor else estimated[-1:]:
                rows.get_layout(index)
            if anchor is not None:
                anchor.above = min(anchor.above, rows.height(anchor.index) - 1)

    def go_to(self, row: int) -> None:
        """Make `row` the first visible one; at the end, follow the end."""
        row = max(row, 0)
        if row + self.height >= self.rows.total:
            self.anchor = None
        else:
            self.top = row
            visible = list(self.visible_messages())
            self.anchor_to(next(filter(self.rows.is_exact, visible), visible[0]))
        self.settle()
        if self.top + self.height >= self.rows.total:
            self.anchor = None

    def anchor_to(self, index: int) -> None:
        """Keep this message in its current position."""
        message_id = self.rows.history[index].id
        self.anchor = Anchor(index, message_id, self.top - self.rows.top(index))

    def set_width(self, width: int) -> None:
        """Wrap all rows at another width; the anchored message stays visible."""
        anchor, rows = self.anchor, self.rows
        before = rows.height(anchor.index) if anchor else 1
        rows.set_context(rows.context.with_width(width))
        if anchor and anchor.above > 0:
            rows.get_layout(anchor.index)
            anchor.above = anchor.above * rows.height(anchor.index) // max(before, 1)

    def visible_messages(self) -> range:
        """The messages with visible rows."""
        return self.rows.messages_between(self.top, self.top + self.height)

    def position_at(self, y: int) -> tuple[int, int] | None:
        """The message and its row at `y` of the viewport."""
        row = self.top + y
        return self.rows.find(row) if 0 <= row < self.rows.total else None

    def _find_anchor(self) -> Anchor | None:
        """The anchor with its index updated; removed if its message was removed."""
        anchor, history = self.anchor, self.rows.history
        if anchor is None:
            return None
        if anchor.index >= len(history) or history[anchor.index].id != anchor.message_id:
            indexes = (at for at in range(len(history)) if history[at].id == anchor.message_id)
            anchor.index = next(indexes, -1)
            if anchor.index < 0:
                self.anchor = None
        return self.anchor


def find_message_start(viewport: Viewport, by: int) -> int | None:
    """The first row of the previous or next message; `None` if the end is the next one.

    The previous one is the message at the top, unless it begins there.
    """
    viewport.settle()
    rows = viewport.rows
    index = rows.find(min(viewport.top, rows.total - 1))[0]
    if by < 0:
        is_at_start = rows.top(index) >= viewport.top
        index = max(0, index - is_at_start)
        while index and not rows.height(index):  # folded
            index -= 1
        return rows.top(index)
    if index + 1 >= len(rows.history) or viewport.top + viewport.height >= rows.total:
        return None
    return rows.top(index + 1)
