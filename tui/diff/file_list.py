"""The list of changed files, with the kind and size of each change."""

from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.message import Message

from tui.draw.colors import Palette
from tui.draw.diff import change_bar
from tui.draw.line_parts import truncate_start
from tui.terminal import screen_reader
from tui.terminal.sanitize import escape_control_chars
from tui.widgets.row_list import RowList

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


class FileList(RowList["ChangedFile"]):
    """Changed files; the diff of the one under the cursor is shown."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "toggle_viewed", show=False)]

    class ViewedToggled(Message):
        """Posted to mark the file as viewed, or no longer."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette, id="files")
        self.viewed: Collection[str] = ()
        """The paths of files that are marked as viewed."""

    def key(self, item: "ChangedFile") -> Hashable:
        """Return the path."""
        return item.path

    @property
    def files(self) -> "Sequence[ChangedFile]":
        """The files."""
        return self.items

    @property
    def file(self) -> "ChangedFile | None":
        """The file under the cursor."""
        return self.item

    def mark_viewed(self, paths: Collection[str]) -> None:
        """Mark these files as viewed, and no others."""
        if paths != self.viewed:
            self.viewed = paths
            self.refresh()

    def action_toggle_viewed(self) -> None:
        """Mark the file as viewed and go on, or unmark it."""
        self.post_message(self.ViewedToggled())

    def draw(self, item: "ChangedFile", width: int) -> list[Segment]:
        """Draw sign, path and counts."""
        file = item
        is_viewed = file.path in self.viewed
        tail = self._counts(file, width)
        if is_viewed:
            word = "viewed" if screen_reader.is_enabled() else "✓"
            tail = [Segment(f"{word} ", self.palette.success), *tail]
        used = sum(cell_len(part.text) for part in tail) + len(_sign(file.status)) - 1
        name = truncate_start(escape_control_chars(file.path), max(4, width - used - 5))
        gap = max(1, width - 4 - cell_len(name) - used)
        sign = Segment(f" {_sign(file.status)} ", self._tone(file.status))
        tone = self.palette.muted if is_viewed else self.palette.text
        return [sign, Segment(name, tone), Segment(" " * gap), *tail]

    def _counts(self, file: "ChangedFile", width: int) -> list[Segment]:
        kind = "submodule" if file.submodule else "binary" if file.added is None else ""
        if not kind and not file.added and not file.removed and file.mode != file.old_mode:
            kind = "mode"
        if file.status == "conflicted":
            what = f"{file.deleted_by} deleted" if file.deleted_by else "conflict"
            return [Segment(what, self.palette.warning)]
        if kind:
            return [Segment(kind, self.palette.muted)]
        added, removed = file.added or 0, file.removed or 0
        plus = Segment(screen_reader.format_count(added, "+", "added"), self.palette.success)
        minus = Segment(
            f" {screen_reader.format_count(removed, '−', 'removed')}", self.palette.error
        )
        parts = [*([plus] if added else []), *([minus] if removed else [])]
        if width >= _WITH_BARS and not screen_reader.is_enabled():
            parts += [Segment(" "), *change_bar(added, removed, self.palette)]
        return parts

    def _tone(self, status: str) -> Style:
        match status:
            case "added" | "untracked":
                return self.palette.success
            case "deleted":
                return self.palette.error
            case "conflicted":
                return self.palette.warning
        return self.palette.accent
