"""Finding words within a session: which rows hold them, also inside what is folded."""

import re
from collections.abc import Iterator

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from model.domain.resources import Message
from tui.transcript.layout import raw_text
from tui.transcript.parts import ALL, LaidOut, Part
from tui.transcript.viewport import Window


class Finder:
    """Words that are sought, and the row where the last find stood."""

    def __init__(self) -> None:
        self.text = ""
        """What is sought; empty: nothing is."""
        self._pattern: re.Pattern[str] | None = None
        self._message_id = ""
        self._line = 0

    def seek(self, text: str) -> None:
        """Look for this from now on, from the end of what is in sight."""
        self.text = text
        self._pattern = re.compile(re.escape(text), re.IGNORECASE) if text else None
        self._message_id = ""

    def step(self, window: Window, by: int) -> int | None:
        """The row of the next find in this direction; `None` past the last that is loaded."""
        rows = window.rows
        index, line = self._start(window, by)
        while 0 <= index < len(rows.history):
            found = self._lines(window, index)
            beyond = [n for n in found if line is None or (n > line if by > 0 else n < line)]
            if beyond:
                self._line = beyond[0] if by > 0 else beyond[-1]
                self._message_id = rows.history[index].id
                return rows.top(index) + self._line
            index, line = index + by, None
        return None

    def marked(self, strip: Strip, style: Style) -> Strip:
        """The row with what is sought in another style."""
        if self._pattern is None:
            return strip
        pieces, end, text = list[Strip](), 0, strip.text
        for match in self._pattern.finditer(text):
            first, last = cell_len(text[: match.start()]), cell_len(text[: match.end()])
            inner = Segment.apply_style(strip.crop(first, last), post_style=style)
            pieces += [strip.crop(end, first), Strip(inner)]
            end = last
        return Strip.join([*pieces, strip.crop(end)]) if pieces else strip

    def _start(self, window: Window, by: int) -> tuple[int, int | None]:
        history = window.rows.history
        known = (at for at in range(len(history)) if history[at].id == self._message_id)
        if self._message_id and (index := next(known, None)) is not None:
            return index, self._line
        place = window.place(min(window.height, window.rows.total - window.top) - 1)
        if place is None:
            return -1, None
        return place[0], place[1] + 1 if by < 0 else place[1] - window.height

    def _lines(self, window: Window, index: int) -> list[int]:
        """The rows of a message that hold it; what is folded is opened for that."""
        pattern, rows = self._pattern, window.rows
        message = rows.history[index]
        if pattern is None or not any(map(pattern.search, _texts(message))):
            return []
        laid = rows.laid_out(index)
        hidden = [p for p in laid.parts if p.level not in (None, ALL) and self._hides(message, p)]
        for part in hidden:
            rows.fold(index, part.key, ALL)
        laid = rows.laid_out(index)
        found = [line for line, strip in enumerate(laid.strips) if pattern.search(strip.text)]
        return found or self._first_rows(message, laid)

    def _hides(self, message: Message, part: Part) -> bool:
        """Whether the part holds it, but none of its rows does."""
        assert self._pattern is not None
        search = self._pattern.search
        if part.block is None or any(search(strip.text) for strip in part.strips):
            return False
        return search(raw_text(message, part)) is not None

    def _first_rows(self, message: Message, laid: LaidOut) -> list[int]:
        """Where a line breaks inside the words, the beginning of the part that holds them."""
        assert self._pattern is not None
        search = self._pattern.search
        parts = zip(laid.parts, laid.starts, strict=True)
        return [at for part, at in parts if part.block and search(raw_text(message, part))]


def _texts(message: Message) -> Iterator[str]:
    for block in message.content:
        for value in dict(block).values():
            if isinstance(value, str):
                yield value
            elif isinstance(value, dict):
                yield from (text for text in value.values() if isinstance(text, str))
            elif isinstance(value, list):
                yield from (getattr(item, "question", "") for item in value)
