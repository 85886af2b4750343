"""A dialog with a list that is filtered by typing, and may load its entries."""

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from model.base.errors import SpinneyError
from tui.screens.choose import Choice
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line
from tui.widgets.text_field import TextField

Load = Callable[[], Awaitable[Sequence[Choice]]]
"""Loads the entries; the message of a `SpinneyError` is shown in their place."""

MOST: Final = 200
"""Entries shown at once; a repository may have thousands of branches."""


class Pick(Dialog[Choice]):
    """Filter by typing, enter chooses the selected entry.

    Args:
        title: The dialog's title.
        entries: The entries, or how to load them.
        present: The value of the entry that is selected at first.
        typed: The initial filter.
        own: The label for choosing the typed text itself; '' allows only entries.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("pageup", "move(-8)", show=False, priority=True),
        Binding("pagedown", "move(8)", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        entries: Sequence[Choice] | Load,
        present: str = "",
        *,
        typed: str = "",
        own: str = "",
    ) -> None:
        super().__init__(title)
        self.present = present
        self._load = entries if callable(entries) else None
        self.loaded: Sequence[Choice] | None = None if callable(entries) else entries
        self._typed = typed
        self._own = own
        self._problem = ""
        self.shown: list[Choice] = []
        """The entries in the list, from top to bottom."""

    def body(self) -> list[Widget]:
        """Filter, list and keys."""
        self._list = OptionList(markup=False, compact=True)
        self._list.can_focus = False
        self._note = Static("", markup=False, classes="note")
        filter_ = TextField(
            self._typed, placeholder="type to filter", select_on_focus=False, compact=True
        )
        keys = keys_line(("↑ ↓", "move"), ("enter", "choose"), ("esc", "cancel"))
        return [filter_, self._note, self._list, Static(keys, classes="keys")]

    def on_mount(self) -> None:
        """Show the entries, or load them."""
        self._fill()
        if self._load is not None:
            self.run_worker(self._load_entries(self._load), exit_on_error=False)

    async def _load_entries(self, load: Load) -> None:
        try:
            self.loaded = await load()
        except SpinneyError as error:
            self.loaded, self._problem = (), error.message
        self._fill()

    @on(Input.Changed)
    def _narrowed(self, event: Input.Changed) -> None:
        event.stop()
        self._typed = event.value
        self._fill()

    def _fill(self) -> None:
        query = self._typed.strip()
        matching = self.find(self.loaded or (), query)
        self.shown = matching[:MOST]
        typed = self._typed.strip()
        if self._own and typed and all(entry.value != typed for entry in matching):
            self.shown.append(Choice(typed, f"{self._own} '{typed}'"))
        self._list.clear_options()
        self._list.add_options([Option(entry.row(self.present)) for entry in self.shown])
        values = [entry.value for entry in self.shown]
        if self.shown:
            at = values.index(self.present) if not query and self.present in values else 0
            self._list.highlighted = at
        self._note.update(self._status(len(matching)))
        self._note.display = bool(self._note.content)

    def find(self, entries: Sequence[Choice], query: str) -> list[Choice]:
        """The entries that match, in the order of the list."""
        words = query.casefold().split()
        return [entry for entry in entries if _matches(entry, words)]

    def _status(self, count: int) -> str:
        if self.loaded is None:
            return "Loading …"
        if self._problem:
            return self._problem
        if count > MOST:
            return f"{count - MOST} more. Type to filter."
        return "" if self.shown else self.empty()

    def empty(self) -> str:
        """The text in place of an empty list."""
        return "No matches." if self._typed else "The list is empty."

    @property
    def marked(self) -> Choice | None:
        """The selected entry."""
        return self.shown[self._list.highlighted or 0] if self.shown else None

    def action_move(self, rows: int) -> None:
        """Select another entry."""
        if self.shown:
            at = (self._list.highlighted or 0) + rows
            self._list.highlighted = min(max(at, 0), len(self.shown) - 1)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.marked is not None:
            self.dismiss(self.marked)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self.shown[event.option_index])


def _matches(entry: Choice, words: Sequence[str]) -> bool:
    text = f"{entry.label} {entry.description}".casefold()
    return all(word in text for word in words)
