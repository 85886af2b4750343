"""Search within a session: finds matching rows, also inside collapsed parts."""

import re
from collections.abc import Iterator

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from model.domain.messages import Message
from tui.transcript.layout import raw_text
from tui.transcript.parts import ALL, MessageLayout, Part
from tui.transcript.viewport import Viewport


class Finder:
    """The search text, and the row of the last match."""

    def __init__(self) -> None:
        self.query = ""
        """The search text; empty if there is no search."""
        self._pattern: re.Pattern[str] | None = None
        self._message_id = ""
        self._line = 0

    def set_query(self, text: str) -> None:
        """Start a search for `text` at the end of the visible rows; empty ends the search."""
        self.query = text
        self._pattern = re.compile(re.escape(text), re.IGNORECASE) if text else None
        self._message_id = ""

    def step(self, viewport: Viewport, by: int) -> int | None:
        """The row of the next match in this direction; `None` after the last loaded one."""
        rows = viewport.rows
        index, line = self._start(viewport, by)
        while 0 <= index < len(rows.history):
            found = self._lines(viewport, index)
            candidates = [n for n in found if line is None or (n > line if by > 0 else n < line)]
            if candidates:
                self._line = candidates[0] if by > 0 else candidates[-1]
                self._message_id = rows.history[index].id
                return rows.top(index) + self._line
            index, line = index + by, None
        return None

    def highlight(self, strip: Strip, style: Style) -> Strip:
        """The row with all matches in `style`."""
        if self._pattern is None:
            return strip
        pieces, end, text = list[Strip](), 0, strip.text
        for match in self._pattern.finditer(text):
            first, last = cell_len(text[: match.start()]), cell_len(text[: match.end()])
            inner = Segment.apply_style(strip.crop(first, last), post_style=style)
            pieces += [strip.crop(end, first), Strip(inner)]
            end = last
        return Strip.join([*pieces, strip.crop(end)]) if pieces else strip

    def _start(self, viewport: Viewport, by: int) -> tuple[int, int | None]:
        history = viewport.rows.history
        indexes = (at for at in range(len(history)) if history[at].id == self._message_id)
        if self._message_id and (index := next(indexes, None)) is not None:
            return index, self._line
        position = viewport.position_at(
            min(viewport.height, viewport.rows.total - viewport.top) - 1
        )
        if position is None:
            return -1, None
        return position[0], position[1] + 1 if by < 0 else position[1] - viewport.height

    def _lines(self, viewport: Viewport, index: int) -> list[int]:
        """The matching rows of a message; expands collapsed parts that match."""
        pattern, rows = self._pattern, viewport.rows
        message = rows.history[index]
        if pattern is None or not any(map(pattern.search, _message_texts(message))):
            return []
        rows.unfold(index)
        layout = rows.get_layout(index)
        hidden = [
            p for p in layout.parts if p.level not in (None, ALL) and self._is_hidden_in(message, p)
        ]
        for part in hidden:
            rows.set_level(index, part.key, ALL)
        layout = rows.get_layout(index)
        found = [line for line, strip in enumerate(layout.strips) if pattern.search(strip.text)]
        return found or self._part_rows(message, layout)

    def _is_hidden_in(self, message: Message, part: Part) -> bool:
        """Whether the part matches, but none of its visible rows does."""
        assert self._pattern is not None
        search = self._pattern.search
        if part.block is None or any(search(strip.text) for strip in part.strips):
            return False
        return search(raw_text(message, part)) is not None

    def _part_rows(self, message: Message, layout: MessageLayout) -> list[int]:
        """First rows of the matching parts, for matches that are split by a line break."""
        assert self._pattern is not None
        search = self._pattern.search
        parts = zip(layout.parts, layout.starts, strict=True)
        return [at for part, at in parts if part.block and search(raw_text(message, part))]


def _message_texts(message: Message) -> Iterator[str]:
    for block in message.content:
        for value in dict(block).values():
            if isinstance(value, str):
                yield value
            elif isinstance(value, dict):
                yield from (text for text in value.values() if isinstance(text, str))
            elif isinstance(value, list):
                yield from (getattr(item, "question", "") for item in value)
