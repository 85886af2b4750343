"""The dialog that adds a project: a path with completion, or a URL to clone."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from model.base.errors import SpinneyError
from model.base.text import clean_line
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line
from tui.widgets.text_field import TextField

if TYPE_CHECKING:
    from textual.worker import WorkType

    from model.api.directories import Directory

SENTENCE: Final = "Enter the path of a git repository on this machine, or the URL of one to clone."
_URL: Final = re.compile(r"(?:https?|ssh|git|file)://|[\w.-]+@[\w.-]+:")

Complete = Callable[[str], Awaitable["Sequence[Directory]"]]
"""Returns the directories whose paths begin with a text."""


@dataclass(frozen=True, slots=True)
class WantedProject:
    """The dialog's input."""

    path: str = ""
    """A directory, or a URL if `is_url`."""
    into: str = ""
    """The directory to clone a URL into."""


def is_url(text: str) -> bool:
    """Whether the text is the URL of a repository to clone."""
    return bool(_URL.match(text))


class AddProject(Dialog[WantedProject]):
    """Asks for a path, which tab completes; for a URL also for the directory to clone into.

    Args:
        complete: Lists directories.
        clones: The default parent directory of clones, without a trailing slash.
        filled_in: The initial input.
        problem: Why the input could not be added.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
    ]

    def __init__(
        self, complete: Complete, clones: str, filled_in: WantedProject, problem: str = ""
    ) -> None:
        super().__init__("Add a project")
        self._complete = complete
        self._clones = clones
        self._filled_in = filled_in
        self._problem = problem
        self._found: Sequence[Directory] = ()
        self._into_is_typed = bool(filled_in.into)

    def body(self) -> list[Widget]:
        """Path, directories, target directory, keys."""
        given = self._filled_in
        classes = "problem" if self._problem else "words"
        self._path = TextField(
            given.path,
            id="path",
            placeholder="~/code/my-repository",
            select_on_focus=False,
            compact=True,
        )
        self._list = OptionList(markup=False, compact=True, id="directories")
        self._list.can_focus = False
        self._into_label = Label("Clone into")
        self._into = TextField(given.into, id="into", select_on_focus=False, compact=True)
        self._keys = Static("", classes="keys")
        sentence = Static(self._problem or SENTENCE, markup=False, classes=classes)
        return [sentence, self._path, self._list, self._into_label, self._into, self._keys]

    def on_mount(self) -> None:
        """Focus the path."""
        self._path.focus()
        self._path.cursor_position = len(self._path.value)
        self._follow(self._path.value)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input is self._path:
            self._follow(event.value)
        elif self._into.has_focus:
            self._into_is_typed = True

    def _follow(self, text: str) -> None:
        """Show completions for a path, or the second field for a URL."""
        clones = is_url(text)
        self._into_label.display = self._into.display = clones
        if clones:
            if not self._into_is_typed:
                self._into.value = f"{self._clones}/{_directory_name(text)}"
            self._show(())
        else:
            read = partial(self._read, text)  # not started if another one follows at once
            self.run_worker(
                cast("WorkType[None]", read), exclusive=True, group="read", exit_on_error=False
            )
        enter = "clone" if clones else "add"
        tab = "next field" if clones else "complete"
        self._keys.update(keys_line(("enter", enter), ("tab", tab), ("esc", "cancel")))

    async def _read(self, text: str) -> None:
        try:
            found = await self._complete(text) if text else ()
        except SpinneyError:
            found = ()
        self._show(found)

    def _show(self, found: "Sequence[Directory]") -> None:
        self._found = found
        self._list.clear_options()
        self._list.add_options([Option(_row(directory)) for directory in found])
        self._list.display = bool(found)
        if found:
            self._list.highlighted = 0

    def action_move(self, rows: int) -> None:
        """Select another directory."""
        if self._found:
            at = (self._list.highlighted or 0) + rows
            self._list.highlighted = min(max(at, 0), len(self._found) - 1)

    def action_complete(self) -> None:
        """Complete the selected directory, or switch fields."""
        if self._into.display:
            (self._path if self._into.has_focus else self._into).focus()
        elif self._found:
            self._fill_in(self._found[self._list.highlighted or 0])

    def _fill_in(self, directory: "Directory") -> None:
        # A repository ends the search; in other directories completion continues.
        self._path.value = directory.path if directory.holds else f"{directory.path}/"
        self._path.cursor_position = len(self._path.value)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._fill_in(self._found[event.option_index])

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        path = self._path.value.strip()
        if path:
            self.dismiss(WantedProject(path, self._into.value.strip() if is_url(path) else ""))


def _row(directory: "Directory") -> Content:
    name = clean_line(directory.path.rpartition("/")[2])
    return Content.assemble(f"  {name}/", (f"  {directory.holds}", "$text-muted"))


def _directory_name(url: str) -> str:
    """Return the directory name that git would use."""
    return re.split(r"[/:]", url.strip().rstrip("/").removesuffix(".git"))[-1]
