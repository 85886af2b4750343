"""A dialog with a list that is filtered by typing, without an input field."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from tui.screens.dialog import Dialog


class Filtered(Dialog[None]):
    """Letters extend the filter, backspace shortens it, escape clears it or closes the dialog.

    `fill` shows the entries that match `query_text`, which is displayed in the widget `#filter`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("backspace", "shorten", show=False)]
    NO_LETTERS: ClassVar[str] = ""
    """Characters that are bound to something else."""

    def __init__(self, title: str, query: str = "") -> None:
        super().__init__(title)
        self.query_text = query
        """The filter; '' shows everything."""

    def fill(self) -> None:
        """Show the entries that match the filter."""
        raise NotImplementedError

    @property
    def takes_letters(self) -> bool:
        """Whether letters filter now."""
        return True

    @property
    def takes_bursts(self) -> bool:
        """Whether several letters that arrive together filter, too."""
        return self.takes_letters and not self.NO_LETTERS

    def show_filter(self, count: str) -> None:
        """Show the filter and the number of matches."""
        text = (self.query_text, "bold") if self.query_text else ("type to filter", "$text-muted")
        line = Content.assemble(("❯ ", "$accent"), text, (f"  {count}", "$text-muted"))
        self.query_one("#filter", Static).update(line)

    def on_key(self, event: events.Key) -> None:
        """Add a letter to the filter."""
        character = event.character if event.is_printable else None
        if character is not None and self.takes_letters and character not in self.NO_LETTERS:
            event.stop()
            self._narrow(self.query_text + character)

    def action_shorten(self) -> None:
        """Remove the last letter of the filter."""
        self._narrow(self.query_text[:-1])

    def action_leave(self) -> None:
        """Clear the filter, or close the dialog if there is none."""
        if self.query_text:
            self._narrow("")
        else:
            self.dismiss(None)

    def _narrow(self, query: str) -> None:
        self.query_text = query.lstrip()
        self.fill()
