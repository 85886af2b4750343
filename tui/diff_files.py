"""The list of changed files beside their differences: what happened to each, and how much."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tui.line_parts import end_of_line

if TYPE_CHECKING:
    from model.commands.changes import ChangedFile

_SIGNS: Final = {
    "added": ("A", "$success"),
    "untracked": ("?", "$success"),
    "modified": ("M", "$accent"),
    "retyped": ("T", "$accent"),
    "deleted": ("D", "$error"),
    "renamed": ("R", "$secondary"),
    "copied": ("C", "$secondary"),
    "conflicted": ("!", "$warning"),
}


class FileList(OptionList):
    """Changed files; the highlighted one is shown."""

    def __init__(self) -> None:
        super().__init__(id="files", markup=False, compact=True)
        self.files: Sequence[ChangedFile] = ()
        self._width = 0

    @property
    def file(self) -> "ChangedFile | None":
        """The highlighted one."""
        at = self.highlighted
        return self.files[at] if at is not None and at < len(self.files) else None

    def show(self, files: "Sequence[ChangedFile]") -> None:
        """Show these; the cursor stays on its file, or where it was if that is gone."""
        if list(files) == list(self.files):
            return
        known, at = self.file, self.highlighted or 0
        self.files = files
        paths = [file.path for file in files]
        self._fill()
        if files:
            is_there = known is not None and known.path in paths
            self.highlighted = (
                paths.index(known.path) if known and is_there else min(at, len(files) - 1)
            )

    def go_to(self, path: str) -> bool:
        """Highlight this file; whether it is in the list."""
        paths = [file.path for file in self.files]
        if path in paths:
            self.highlighted = paths.index(path)
        return path in paths

    def on_resize(self) -> None:
        """Names are cut elsewhere."""
        if self._width != self.size.width:
            at = self.highlighted
            self._fill()
            self.highlighted = at

    def _fill(self) -> None:
        self._width = self.size.width
        room = max(10, self._width - 2)
        with self.prevent(OptionList.OptionHighlighted):
            self.clear_options()
            self.add_options(Option(_label(file, room)) for file in self.files)


def _label(file: "ChangedFile", room: int) -> Content:
    sign, tone = _SIGNS[file.status]
    if file.submodule:
        counts = [("submodule", "$text-muted")]
    elif file.added is None:
        counts = [("binary", "$text-muted")]
    elif not file.added and not file.removed and file.mode != file.old_mode:
        counts = [("mode", "$text-muted")]
    else:
        counts = [(f"+{file.added}", "$success")] if file.added else []
        counts += [(f" −{file.removed}", "$error")] if file.removed else []
    tail = Content.assemble(*counts)
    name = end_of_line(file.path, max(4, room - tail.cell_length - 4))
    head = Content.assemble((sign, tone), " ", name)
    gap = max(1, room - head.cell_length - tail.cell_length)
    return Content.assemble(head, " " * gap, tail)
