"""Where the window on the transcript's rows stands, whatever happens to the rows around it.

It follows the end, or keeps one message in its place: by message and not by row, because rows above
it turn from guesses to facts, come from older pages, and break elsewhere in another width.
"""

from dataclasses import dataclass

from tui.transcript.rows import Rows


@dataclass(slots=True)
class Anchor:
    """A message that stays in its place, and how far it is scrolled."""

    index: int
    message_id: str
    above: int
    """How many of its rows are above the window; less than none where it begins below the top."""


class Window:
    """A stretch of `height` rows."""

    def __init__(self, rows: Rows, height: int, anchor: Anchor | None = None) -> None:
        self.rows = rows
        self.height = height
        self.anchor = anchor
        """What stays in its place; `None` while the end is followed."""
        self.top = 0
        """The first row in it."""

    def settle(self) -> None:
        """Lay out what is in sight and find the first row."""
        anchor, rows = self._find_anchor(), self.rows
        while True:
            self.top = rows.total - self.height
            if anchor is not None:
                self.top = min(self.top, rows.top(anchor.index) + anchor.above)
            self.top = max(self.top, 0)
            guessed = [index for index in self.in_sight() if not rows.is_exact(index)]
            if not guessed:
                return
            # One by one from the end, where that is in sight: those above it may not be needed.
            for index in guessed if anchor else guessed[-1:]:
                rows.laid_out(index)
            if anchor is not None:
                anchor.above = min(anchor.above, rows.height(anchor.index) - 1)

    def go_to(self, row: int) -> None:
        """Make `row` the first one; from the end on, the end is followed."""
        row = max(row, 0)
        if row + self.height >= self.rows.total:
            self.anchor = None
        else:
            self.top = row
            seen = list(self.in_sight())
            self.keep(next(filter(self.rows.is_exact, seen), seen[0]))
        self.settle()
        if self.top + self.height >= self.rows.total:
            self.anchor = None

    def keep(self, index: int) -> None:
        """Keep this message where it is now."""
        message_id = self.rows.history[index].id
        self.anchor = Anchor(index, message_id, self.top - self.rows.top(index))

    def widen(self, width: int) -> None:
        """Break all rows anew; what was read stays in sight."""
        anchor, rows = self.anchor, self.rows
        before = rows.height(anchor.index) if anchor else 1
        rows.restyle(rows.look.with_width(width))
        if anchor and anchor.above > 0:
            rows.laid_out(anchor.index)
            anchor.above = anchor.above * rows.height(anchor.index) // max(before, 1)

    def in_sight(self) -> range:
        """The messages that have rows in the window."""
        return self.rows.between(self.top, self.top + self.height)

    def place(self, y: int) -> tuple[int, int] | None:
        """The message and its row that stand at `y` of the window."""
        row = self.top + y
        return self.rows.find(row) if 0 <= row < self.rows.total else None

    def _find_anchor(self) -> Anchor | None:
        """The anchor, with its index as it is by now; gone where its message went."""
        anchor, history = self.anchor, self.rows.history
        if anchor is None:
            return None
        if anchor.index >= len(history) or history[anchor.index].id != anchor.message_id:
            places = (at for at in range(len(history)) if history[at].id == anchor.message_id)
            anchor.index = next(places, -1)
            if anchor.index < 0:
                self.anchor = None
        return self.anchor
