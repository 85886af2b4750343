"""The command palette: typing filters the available commands, enter runs one.

It replaces Textual's own, which searches in a worker that outlives its screen, and on enter takes
the row selected at that moment, which can belong to an earlier query.
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

SEARCH_COMMANDS: Final = "Search for commands…"
SEARCH_ALL: Final = "Search for commands and sessions…   ctrl+p: sessions only"
SEARCH_SESSIONS: Final = "Go to a session…   enter: the last one"
MOST: Final = 200
"""Entries shown at once."""


class Entry(NamedTuple):
    """A command."""

    label: Content
    run: Callable[[], object]
    help: str = ""
    score: float = 0.0


Find = Callable[[str, Style], Iterable[Entry]]
"""Returns the entries for a query with matches highlighted in a style; all for an empty query."""


class Palette(Closing[None], ModalScreen[None]):
    """A text field and the matching entries, best first.

    Args:
        find: Finds the entries.
        find_sessions: Finds only those for sessions, if there are any, which ctrl+p shows alone.
        only_sessions: Whether it does so from the beginning.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"palette--found"}
    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority, so that text typed afterwards goes to the screen below.
        Binding("escape", "leave", show=False, priority=True),
        Binding("up", "move('cursor_up')", show=False, priority=True),
        Binding("down", "move('cursor_down')", show=False, priority=True),
        Binding("pageup", "move('page_up')", show=False, priority=True),
        Binding("pagedown", "move('page_down')", show=False, priority=True),
        Binding("ctrl+home", "move('first')", show=False, priority=True),
        Binding("ctrl+end", "move('last')", show=False, priority=True),
        Binding("ctrl+p", "narrow", show=False, priority=True),
    ]

    def __init__(
        self,
        find: Find,
        find_sessions: Find | None = None,
        *,
        only_sessions: bool = False,
    ) -> None:
        super().__init__()
        self._find = find
        self._find_sessions = find_sessions
        self._only_sessions = only_sessions
        self._query: str | None = None
        self._entries: list[Entry] = []

    def compose(self) -> ComposeResult:
        """Field and list."""
        with Vertical():
            placeholder = SEARCH_ALL if self._find_sessions is not None else SEARCH_COMMANDS
            yield TextField(placeholder=placeholder, select_on_focus=False)
            self._list = OptionList(markup=False)
            self._list.can_focus = False
            yield self._list
            yield Static("No matches found", id="none", markup=False)

    def on_mount(self) -> None:
        """Show all entries."""
        if self._only_sessions:
            self.action_narrow()
        self._fill("")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._fill(event.value)  # The field posts Submitted before the last Changed.
        self._run(self._list.highlighted)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._run(event.option_index)

    def action_move(self, direction: str) -> None:
        """Select another entry."""
        getattr(self._list, f"action_{direction}")()

    def action_narrow(self) -> None:
        """Search for sessions only."""
        if self._find_sessions is not None:
            self._find, self._find_sessions = self._find_sessions, None
            field = self.query_one(TextField)
            field.placeholder = SEARCH_SESSIONS
            self._query = None
            self._fill(field.value)

    def action_leave(self) -> None:
        """Close without running anything."""
        self.dismiss(None)

    def _fill(self, query: str) -> None:
        query = query.strip()
        if query == self._query or not self.is_active:
            return
        self._query = query
        style = self.get_visual_style("palette--found", partial=True)
        entries = sorted(self._find(query, style), key=lambda entry: -entry.score)
        self._entries = entries[:MOST]
        self._list.clear_options()
        self._list.add_options([Option(_prompt(entry)) for entry in self._entries])
        self._list.highlighted = 0 if self._entries else None
        self._list.display = bool(self._entries)
        self.query_one("#none").display = not self._entries

    def _run(self, index: int | None) -> None:
        if index is not None and self.is_active:  # not after an earlier enter
            self.dismiss(None)
            self.app.call_later(self._entries[index].run)


def _prompt(entry: Entry) -> Content:
    if not entry.help:
        return entry.label
    return Content.assemble(entry.label, "\n", (entry.help, "$text-muted"))
