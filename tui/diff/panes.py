"""A list of changed files and the diff of the one under its cursor: the base of two screens."""

import asyncio
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events, on
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widget import Widget

from model.base.errors import SpinneyError
from model.richtext.conflict_parts import find_conflict_parts
from model.richtext.diff_text import DiffText, parse_diff
from model.richtext.highlight import highlight_code, language_for_path
from tui.diff.file_list import FileList
from tui.diff.notes import Note
from tui.diff.view import DiffView
from tui.screens.full import FullScreen
from tui.terminal import screen_reader
from tui.terminal.capabilities import WIDE
from tui.widgets.line import Line

if TYPE_CHECKING:
    from model.api.changes import ChangedFile, FileDiff
    from model.domain.changes import Operation
    from model.richtext.conflict_parts import ConflictPart
    from tui.draw.colors import Palette

    _Conflict = Mapping[int, ConflictPart]

_SPLIT_WIDTH: Final = 164
"""Columns from which old and new are shown side by side, unless the user chose a layout."""


def _read_text(
    diff: "FileDiff", operation: "Operation | None", *, has_conflict: bool
) -> "tuple[DiffText, _Conflict]":
    """Parse a diff, and load its language for highlighting; runs in a thread."""
    highlight_code("", language_for_path(diff.path))
    text = parse_diff(diff.text)
    return text, find_conflict_parts(text.rows, operation) if has_conflict else {}


class DiffPanes(FullScreen):
    """Files beside the diff of one, or above it on a narrow screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,shift+tab", "other_pane", show=False),
    ]
    AUTO_FOCUS = "#diff"

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.file_diff: FileDiff | None = None
        """The displayed diff; its hunk names identify hunks to stage."""
        self._shown: tuple[Hashable, str, str] | None = None
        self._chosen_split: bool | None = None
        self.conflict: _Conflict = {}
        """The rows of the displayed diff that belong to the sides of a conflict."""
        self._reading = asyncio.Lock()

    def body(self, palette: "Palette") -> Iterable[Widget]:
        """The tabs, the file list and the diff."""
        yield Line(id="sides")
        yield Container(FileList(palette), DiffView(palette), id="diff-body")

    @property
    def files(self) -> FileList:
        """The changed files."""
        return self.query_one(FileList)

    @property
    def view(self) -> DiffView:
        """The diff of one of them."""
        return self.query_one(DiffView)

    @property
    def path(self) -> str:
        """The path of the selected file."""
        return self.files.file.path if self.files.file is not None else ""

    @property
    def is_in_files(self) -> bool:
        """Whether the list has the focus: then keys apply to a file, else to a hunk."""
        return self.focused is self.files

    def recolor(self, palette: "Palette") -> None:
        """Redraw both panes in other colors."""
        self.files.set_palette(palette)
        self.view.set_palette(palette)

    # For the screens ----------------------------------------------------------------------------

    @property
    def source(self) -> Hashable:
        """What the files are changes of; diffs of another source are not shown."""
        raise NotImplementedError

    @property
    def operation(self) -> "Operation | None":
        """The merge or rebase that stopped half-way."""
        return None

    async def fetch(self, file: "ChangedFile") -> "FileDiff":
        """Get the diff of a file."""
        raise NotImplementedError

    def nothing(self) -> str:
        """The sentence shown if there are no files."""
        raise NotImplementedError

    def no_rows(self, file: "ChangedFile") -> str:
        """The sentence shown if the diff of a file is empty."""
        return "The file is empty."

    def notes_in(self, text: DiffText) -> Sequence[Note]:
        """The notes to show with the selected file."""
        return ()

    def note_read(self, diff: "FileDiff") -> None:
        """Called when the diff of the selected file was read."""

    def update_bars(self) -> None:
        """Show title, tabs and keys."""
        raise NotImplementedError

    # Reading ------------------------------------------------------------------------------------

    async def read_file(self) -> None:
        """Read the file under the list's cursor; does nothing if its diff is displayed already."""
        file, source = self.files.file, self.source
        if file is None:
            self.show_nothing(self.nothing())
            return
        try:
            diff = await self.fetch(file)
        except SpinneyError as error:
            self.show_nothing(error.message)
            return
        key = (source, file.path, f"{file.status} {diff.digest}")
        self.note_read(diff)
        if key == self._shown or (self.files.file, self.source) != (file, source):
            return
        has_conflict = file.status == "conflicted"
        text, self.conflict = await asyncio.to_thread(
            _read_text, diff, self.operation, has_conflict=has_conflict
        )
        self._fit_layout()
        is_same_file = self._shown is not None and self._shown[:2] == key[:2]
        self._shown, self.file_diff = key, diff
        placeholder = "" if text.rows else self.no_rows(file)
        self.view.show(
            text,
            file.path,
            notes=self.notes_in(text),
            placeholder=placeholder,
            conflict=self.conflict,
            reset=not is_same_file,
        )
        self.update_bars()

    def show_nothing(self, reason: str) -> None:
        """Show a sentence in place of a diff."""
        self._shown = self.file_diff = None
        self.conflict = {}
        self.view.show(DiffText(), "", placeholder=reason)
        self.update_bars()

    @on(FileList.Moved)
    def _file_moved(self) -> None:
        if not self._is_shown():
            self.run_worker(self._read_file_alone(), exit_on_error=False)

    def _is_shown(self) -> bool:
        return self._shown is not None and self._shown[:2] == (self.source, self.path)

    async def _read_file_alone(self) -> None:
        async with self._reading:
            # While the cursor moves fast, only the last file is read.
            if not self._is_shown():
                await self.read_file()

    async def wait_until_read(self) -> None:
        """Wait until the file under the list's cursor is displayed, or could not be read."""
        async with self._reading:
            pass

    # Panes and layout ---------------------------------------------------------------------------

    def action_other_pane(self) -> None:
        """Switch between the files and the diff."""
        (self.view if self.is_in_files else self.files).focus()

    @on(FileList.Chosen)
    def _file_chosen(self) -> None:
        self.view.focus()

    def on_descendant_focus(self) -> None:
        """Show the key hints of the newly focused pane."""
        self.update_bars()

    def next_hunk(self, by: int) -> None:
        """Go to the next or previous hunk; beyond the last one, to the next file."""
        if not self.view.next_hunk(by):
            self.files.action_move(by)

    def change_layout(self) -> None:
        """Switch between one and two columns until the screen is closed."""
        self._chosen_split = not self.view.is_split
        self.view.set_split(self._chosen_split)

    def on_resize(self, event: events.Resize) -> None:
        """Put the files above the diff on a narrow screen; use two columns on a wide one."""
        width = event.size.width
        # A screen reader reads whole rows, so there the panes are never beside each other.
        self.set_class(width < WIDE or screen_reader.is_enabled(), "narrow")
        self.set_class(width >= 180, "roomy")
        self.update_bars()
        self._fit_layout()

    def _fit_layout(self) -> None:
        if self._chosen_split is None:
            is_wide = self.size.width >= _SPLIT_WIDTH and not screen_reader.is_enabled()
            # Of a conflict both sides are in the new text.
            self.view.set_split(is_wide and not self.conflict)
