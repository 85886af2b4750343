"""The list of changed files, with the kind and size of each change.

A single widget that draws lines, because there can be ten thousand.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from themes.loader import load_chrome
from tui.draw.colors import Palette
from tui.draw.diff import change_bar
from tui.draw.line_parts import to_strip, truncate_start
from tui.terminal import screen_reader
from tui.terminal.sanitize import escape_control_chars

if TYPE_CHECKING:
    from model.api.changes import ChangedFile

_SIGNS: Final = {
    "added": "A", "untracked": "?", "modified": "M", "retyped": "T", "deleted": "D",
    "renamed": "R", "copied": "C", "conflicted": "!",
}  # fmt: skip

_WITH_BARS: Final = 34
"""Columns from which the counts are drawn as bars as well."""


def _sign(status: str) -> str:
    return status if screen_reader.is_enabled() else _SIGNS[status]


class FileList(ScrollView, can_focus=True):
    """Changed files; the diff of the one under the cursor is shown."""

    DEFAULT_CSS = "FileList { overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup,ctrl+u", "page(-1)", show=False),
        Binding("pagedown,ctrl+d", "page(1)", show=False),
        Binding("home,g", "move(-1000000)", show=False),
        Binding("end,G", "move(1000000)", show=False),
        Binding("space", "toggle_viewed", show=False),
        Binding("enter,right", "choose", show=False),
    ]

    class Moved(Message):
        """Posted when another file is under the cursor."""

    class Chosen(Message):
        """Posted to focus the file's diff."""

    class ViewedToggled(Message):
        """Posted to mark the file as viewed, or no longer."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="files")
        self.files: Sequence[ChangedFile] = ()
        self.here = 0
        """The index of the cursor."""
        self.viewed: Collection[str] = ()
        """The paths of files that are marked as viewed."""
        self._palette = palette

    @property
    def cursor_row(self) -> int:
        """The row of the cursor."""
        return self.here

    @property
    def file(self) -> "ChangedFile | None":
        """The file under the cursor."""
        return self.files[self.here] if self.here < len(self.files) else None

    def show(self, files: "Sequence[ChangedFile]") -> None:
        """Show these files; the cursor stays on its file, or on its index if that is gone."""
        if list(files) == list(self.files):
            return
        path = self.file.path if self.file is not None else None
        is_resized = len(files) != len(self.files)
        self.files = files
        self.virtual_size = Size(self.size.width, len(files))
        at = next((n for n, file in enumerate(files) if file.path == path), self.here)
        self._move_to(at)
        self.refresh(layout=is_resized)

    def mark_viewed(self, paths: Collection[str]) -> None:
        """Mark these files as viewed, and no others."""
        if paths != self.viewed:
            self.viewed = paths
            self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return a row for each file."""
        return max(1, len(self.files))

    def set_palette(self, palette: Palette) -> None:
        """Redraw in other colors."""
        self._palette = palette
        self.refresh()

    def go_to(self, path: str) -> bool:
        """Move the cursor to a file; return whether it is in the list."""
        at = next((n for n, file in enumerate(self.files) if file.path == path), None)
        if at is not None:
            self._move_to(at)
        return at is not None

    def _move_to(self, at: int) -> None:
        before, self.here = self.file, max(0, min(at, len(self.files) - 1))
        top, height = round(self.scroll_y), max(1, self.size.height)
        if not top <= self.here < top + height:
            top = self.here if self.here < top else self.here - height + 1
            self.scroll_to(y=top, animate=False, immediate=True)
        self.refresh()
        if self.file != before:
            self.post_message(self.Moved())

    def action_move(self, by: int) -> None:
        """Move the cursor up or down."""
        self._move_to(self.here + by)

    def action_page(self, by: int) -> None:
        """Move the cursor by a screen."""
        self._move_to(self.here + by * max(1, self.size.height - 1))

    def action_toggle_viewed(self) -> None:
        """Mark the file as viewed and go on, or unmark it."""
        self.post_message(self.ViewedToggled())

    def action_choose(self) -> None:
        """Focus the diff."""
        self.post_message(self.Chosen())

    def on_click(self, event: events.Click) -> None:
        """Show the clicked file."""
        self.focus()
        if event.y + round(self.scroll_y) < len(self.files):
            self._move_to(event.y + round(self.scroll_y))

    def on_resize(self) -> None:
        """Fit the names to the new width, and keep the cursor visible."""
        self.virtual_size = Size(self.size.width, len(self.files))
        self._move_to(self.here)

    def on_focus(self) -> None:
        """Redraw the cursor in its other color."""
        self.refresh()

    on_blur = on_focus

    def render_line(self, y: int) -> Strip:
        """Draw a file."""
        at, width = y + round(self.scroll_y), self.size.width
        if at >= len(self.files):
            return to_strip([], width, self._palette.kind)
        strip = to_strip(self._row(self.files[at], width), width, self._palette.kind)
        if at != self.here:
            return strip
        ui = load_chrome(self._palette.kind).ui
        ground = Style(bgcolor=ui["accent_muted"] if self.has_focus else ui["panel"])
        return Strip(Segment.apply_style(strip, post_style=ground), strip.cell_length)

    def _row(self, file: "ChangedFile", width: int) -> list[Segment]:
        is_viewed = file.path in self.viewed
        tail = self._counts(file, width)
        if is_viewed:
            word = "viewed" if screen_reader.is_enabled() else "✓"
            tail = [Segment(f"{word} ", self._palette.success), *tail]
        used = sum(cell_len(part.text) for part in tail) + len(_sign(file.status)) - 1
        name = truncate_start(escape_control_chars(file.path), max(4, width - used - 5))
        gap = max(1, width - 4 - cell_len(name) - used)
        sign = Segment(f" {_sign(file.status)} ", self._tone(file.status))
        tone = self._palette.muted if is_viewed else self._palette.text
        return [sign, Segment(name, tone), Segment(" " * gap), *tail]

    def _counts(self, file: "ChangedFile", width: int) -> list[Segment]:
        kind = "submodule" if file.submodule else "binary" if file.added is None else ""
        if not kind and not file.added and not file.removed and file.mode != file.old_mode:
            kind = "mode"
        if file.status == "conflicted":
            return [Segment("conflict", self._palette.warning)]
        if kind:
            return [Segment(kind, self._palette.muted)]
        added, removed = file.added or 0, file.removed or 0
        plus = Segment(screen_reader.format_count(added, "+", "added"), self._palette.success)
        minus = Segment(
            f" {screen_reader.format_count(removed, '−', 'removed')}", self._palette.error
        )
        parts = [*([plus] if added else []), *([minus] if removed else [])]
        if width >= _WITH_BARS and not screen_reader.is_enabled():
            parts += [Segment(" "), *change_bar(added, removed, self._palette)]
        return parts

    def _tone(self, status: str) -> Style:
        match status:
            case "added" | "untracked":
                return self._palette.success
            case "deleted":
                return self._palette.error
            case "conflicted":
                return self._palette.warning
        return self._palette.accent
