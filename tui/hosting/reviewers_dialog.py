"""The dialog that asks people and teams for a review: several of a filtered list."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from tui.screens.filtered import Filtered
from tui.screens.pick import Load
from tui.widgets.key_line import keys_line


class AskReviewers(Filtered):
    """Letters filter, space marks, enter asks those that are marked, or the one here.

    `chosen` has them once the dialog is closed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "mark", show=False, priority=True)]
    NO_LETTERS = " "

    def __init__(self, load: Load) -> None:
        super().__init__("Request a review")
        self._load = load
        self._names: Sequence[str] | None = None
        self._marked: set[str] = set()
        self._problem = ""
        self.chosen: tuple[str, ...] = ()
        """Who is to be asked; empty if the dialog was canceled."""

    def body(self) -> list[Widget]:
        """Filter, names and keys."""
        keys = (("space", "mark"), ("enter", "ask"), ("esc", "cancel"))
        return [
            Static(id="filter", markup=False),
            Static("", id="problem", markup=False, classes="note"),
            OptionList(markup=False, compact=True),
            Static(keys_line(*keys), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Read the names."""
        self.query_one(OptionList).focus()
        self.fill()
        self.run_worker(self._read(), exit_on_error=False)

    async def _read(self) -> None:
        try:
            self._names = [choice.value for choice in await self._load()]
        except SpinneyError as error:
            self._names, self._problem = (), error.message
        self.fill()

    def fill(self) -> None:
        """List the names that match the filter."""
        names = self._names or ()
        words = self.query_text.casefold().split()
        shown = [name for name in names if all(word in name.casefold() for word in words)]
        options = self.query_one(OptionList)
        here = options.highlighted_option.id if options.highlighted_option is not None else None
        options.set_options([Option(self._row(name), id=name) for name in shown])
        options.highlighted = shown.index(here) if here in shown else 0 if shown else None
        marked = f", {count(len(self._marked), 'name')} marked" if self._marked else ""
        self.show_filter(f"{len(shown)} of {len(names)}{marked}")
        note = self.query_one("#problem", Static)
        sentence = "Loading …" if self._names is None else self._problem
        if not sentence and not names:
            sentence = "All who can be asked were asked already."
        note.update(sentence)
        note.display = bool(sentence)

    def _row(self, name: str) -> Content:
        mark = ("● ", "$text-accent") if name in self._marked else "  "
        return Content.assemble(mark, clean_line(name))

    def action_mark(self) -> None:
        """Mark the name under the cursor, or unmark it, and move on."""
        options = self.query_one(OptionList)
        if (option := options.highlighted_option) is not None and option.id is not None:
            self._marked ^= {option.id}
            self.fill()
            options.action_cursor_down()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        name = event.option.id
        self.chosen = tuple(sorted(self._marked)) or ((name,) if name is not None else ())
        self.dismiss(None)
