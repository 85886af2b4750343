"""The commits of a branch as rows."""

import time
from collections.abc import Hashable
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from model.base.amounts import format_age
from model.base.text import clean_line
from tui.draw.colors import Palette
from tui.draw.line_parts import one_line
from tui.terminal import screen_reader
from tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from model.api.history import Commit


class CommitList(RowList["Commit"]):
    """Commits, newest first; those of the base are dimmed."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette, id="commits")

    def key(self, item: "Commit") -> Hashable:
        """Return the id."""
        return item.sha

    def draw(self, item: "Commit", width: int) -> list[Segment]:
        """Draw whether it is pushed, id, age, subject and author."""
        palette = self.palette
        tone = palette.muted if item.is_in_base else palette.text
        author = clean_line(item.author)
        head = [
            self._sign(item),
            Segment(f"{clean_line(item.short_sha)} ", palette.muted),
            Segment(f"{format_age(item.authored_at, time.time()):>4}  ", palette.muted),
        ]
        used = sum(cell_len(part.text) for part in head)
        author = one_line(author, max(4, width // 5)) if width >= 60 else ""
        subject = one_line(clean_line(item.subject) or "no message", width - used - 2)
        room = width - used - cell_len(subject) - cell_len(author) - 1
        if room < 2:
            subject = one_line(subject, max(4, width - used - cell_len(author) - 3))
            room = width - used - cell_len(subject) - cell_len(author) - 1
        return [*head, Segment(subject, tone), Segment(" " * max(1, room)),
                Segment(author, palette.muted)]  # fmt: skip

    def _sign(self, commit: "Commit") -> Segment:
        if commit.is_in_base:
            return Segment("base " if screen_reader.is_enabled() else "   ", self.palette.muted)
        if commit.is_pushed:
            return Segment("pushed " if screen_reader.is_enabled() else " · ", self.palette.muted)
        return Segment("not pushed " if screen_reader.is_enabled() else " ↑ ", self.palette.accent)
