"""Draws the changed files of a worktree, and below them the diff of the one that is followed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from model.base.text import clean_line
from model.richtext.diff_text import DiffText
from tui.draw.colors import Palette
from tui.draw.diff_lines import Mark, Painter
from tui.draw.line_parts import to_strip, truncate_start
from tui.draw.wrap import Line

if TYPE_CHECKING:
    from textual import events

    from model.api.changes import ChangedFile

MAX_FILES: Final = 12
"""Files that are listed; of more, those around the followed one."""
_NO_MARK: Final = Mark(Segment(""))


class ChangesView(ScrollView, can_focus=True):
    """The files, each with its changed lines, and the diff; a click on a file follows it."""

    DEFAULT_CSS = """
    ChangesView { overflow-x: hidden; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", show=False),
        Binding("n", "step(1)", show=False),
        Binding("p", "step(-1)", show=False),
    ]

    class Chosen(Message):
        """A file was chosen to be followed."""

        def __init__(self, path: str) -> None:
            super().__init__()
            self.path = path

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="side-view")
        self._files: Sequence[ChangedFile] = ()
        self.path = ""
        """The file whose diff is shown."""
        self._note = ""
        self._painter = Painter(DiffText(), "", palette)

    def show(
        self, files: "Sequence[ChangedFile]", path: str, text: DiffText, palette: Palette, note: str
    ) -> None:
        """Show these files and the diff of one of them; `note` if there is none."""
        is_same = path == self.path
        self._files, self.path, self._note = files, path, note
        self._painter = Painter(text, path, palette)
        self.virtual_size = Size(self.size.width, len(self._head) + 1 + len(text.rows))
        if not is_same:
            self.scroll_home(animate=False)
        self.refresh()

    def set_palette(self, palette: Palette) -> None:
        """Draw in other colors."""
        self._painter = Painter(self._painter.text, self.path, palette)
        self.refresh()

    @property
    def _head(self) -> "Sequence[ChangedFile]":
        """The listed files."""
        at = next((n for n, file in enumerate(self._files) if file.path == self.path), 0)
        first = max(0, min(at - MAX_FILES // 2, len(self._files) - MAX_FILES))
        return self._files[first : first + MAX_FILES]

    def on_resize(self) -> None:
        """Draw again: rows are as wide as the pane."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw a row."""
        width, row = self.scrollable_content_region.width, y + self.scroll_offset.y
        kind, head = self._painter.palette.kind, self._head
        if not self._files:
            note = [Segment(f" {self._note}", self._painter.palette.muted)] if row == 0 else []
            return to_strip(note, width, kind)
        if row < len(head):
            return to_strip(self._file_line(head[row], width), width, kind)
        at = row - len(head) - 1
        if 0 <= at < len(self._painter.text.rows):
            return self._painter.unified(at, width, 0, _NO_MARK)
        return to_strip([], width, kind)

    def _file_line(self, file: "ChangedFile", width: int) -> Line:
        palette, is_here = self._painter.palette, file.path == self.path
        counts: Line = []
        if file.added is not None and file.removed is not None:
            counts.append(Segment(f" +{file.added}", palette.success))
            counts.append(Segment(f" −{file.removed} ", palette.error))
        space = width - 2 - sum(segment.cell_length for segment in counts)
        name = truncate_start(clean_line(file.path), max(space, 4))
        style = palette.strong if is_here else palette.muted
        return [
            Segment("▸ " if is_here else "  ", palette.accent),
            Segment(name + " " * max(0, space - cell_len(name)), style),
            *counts,
        ]

    def on_click(self, event: "events.Click") -> None:
        """Follow the clicked file."""
        row = event.y + self.scroll_offset.y
        if row < len(self._head):
            self.post_message(self.Chosen(self._head[row].path))

    def action_step(self, by: int) -> None:
        """Follow the next or previous file."""
        paths = [file.path for file in self._files]
        if self.path in paths:
            at = paths.index(self.path) + by
            self.post_message(self.Chosen(paths[at % len(paths)]))

    async def action_open(self) -> None:
        """Open the changes on a full screen."""
        await self.screen.run_action("do('open_diff')")
