"""The command palette: words narrow what can be done here, enter does it.

Not Textual's own, which searches in a worker that outlives its screen, and takes with enter the row
that is marked at that moment: it may still belong to fewer letters.
"""

from collections.abc import Callable, Iterable
from typing import ClassVar, Final, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.style import Style
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tui.screens.closing import Closing
from tui.widgets.text_field import TextField

MOST: Final = 200
"""Entries shown at once."""


class Entry(NamedTuple):
    """Something that can be done."""

    label: Content
    run: Callable[[], object]
    help: str = ""
    score: float = 0.0


Find = Callable[[str, Style], Iterable[Entry]]
"""The entries for these words, what was found marked in this style; for no words all of them."""


class Palette(Closing[None], ModalScreen[None]):
    """A field and what its words find, best first."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"palette--found"}
    BINDINGS: ClassVar[list[BindingType]] = [
        # At once, so that what is typed on is written into what lies below.
        Binding("escape", "leave", show=False, priority=True),
        Binding("up", "move('cursor_up')", show=False, priority=True),
        Binding("down", "move('cursor_down')", show=False, priority=True),
        Binding("pageup", "move('page_up')", show=False, priority=True),
        Binding("pagedown", "move('page_down')", show=False, priority=True),
        Binding("ctrl+home", "move('first')", show=False, priority=True),
        Binding("ctrl+end", "move('last')", show=False, priority=True),
    ]

    def __init__(self, find: Find) -> None:
        super().__init__()
        self._find = find
        self._words: str | None = None
        self._entries: list[Entry] = []

    def compose(self) -> ComposeResult:
        """Field and list."""
        with Vertical():
            yield TextField(placeholder="Search for commands…", select_on_focus=False)
            self._list = OptionList(markup=False)
            self._list.can_focus = False
            yield self._list
            yield Static("No matches found", id="none", markup=False)

    def on_mount(self) -> None:
        """Show all that there is."""
        self._fill("")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._fill(event.value)  # The field tells of its enter before it tells of the last letter.
        self._take(self._list.highlighted)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._take(event.option_index)

    def action_move(self, how: str) -> None:
        """Mark another entry."""
        getattr(self._list, f"action_{how}")()

    def action_leave(self) -> None:
        """Close, and do nothing."""
        self.dismiss(None)

    def _fill(self, words: str) -> None:
        words = words.strip()
        if words == self._words or not self.is_active:
            return
        self._words = words
        style = self.get_visual_style("palette--found", partial=True)
        found = sorted(self._find(words, style), key=lambda entry: -entry.score)
        self._entries = found[:MOST]
        self._list.clear_options()
        self._list.add_options([Option(_told(entry)) for entry in self._entries])
        self._list.highlighted = 0 if self._entries else None
        self._list.display = bool(self._entries)
        self.query_one("#none").display = not self._entries

    def _take(self, index: int | None) -> None:
        if index is not None and self.is_active:  # An enter before this one took one already.
            self.dismiss(None)
            self.app.call_later(self._entries[index].run)


def _told(entry: Entry) -> Content:
    if not entry.help:
        return entry.label
    return Content.assemble(entry.label, "\n", (entry.help, "$text-muted"))
