"""A dialog with a list that letters filter, without a field of its own for them."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from tui.screens.dialog import Dialog


class Filtered(Dialog[None]):
    """Letters narrow, backspace and escape widen again; escape without a filter leaves.

    What is filtered follows `words`: `fill` shows it. The words stand in the widget `#filter`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("backspace", "shorten", show=False)]
    NO_LETTERS: ClassVar[str] = ""
    """Characters that do something else."""

    def __init__(self, title: str, words: str = "") -> None:
        super().__init__(title)
        self.words = words
        """What is sought; empty: everything is shown."""

    def fill(self) -> None:
        """Show what has the words."""
        raise NotImplementedError

    @property
    def takes_letters(self) -> bool:
        """Whether letters filter now."""
        return True

    @property
    def takes_bursts(self) -> bool:
        """Whether letters that come together do, too."""
        return self.takes_letters and not self.NO_LETTERS

    def tell_filter(self, count: str) -> None:
        """Show the words, and how much they leave."""
        words = (self.words, "bold") if self.words else ("type to filter", "$text-muted")
        line = Content.assemble(("❯ ", "$accent"), words, (f"  {count}", "$text-muted"))
        self.query_one("#filter", Static).update(line)

    def on_key(self, event: events.Key) -> None:
        """Letters filter."""
        character = event.character if event.is_printable else None
        if character is not None and self.takes_letters and character not in self.NO_LETTERS:
            event.stop()
            self._narrow(self.words + character)

    def action_shorten(self) -> None:
        """Take back a letter of the filter."""
        self._narrow(self.words[:-1])

    def action_leave(self) -> None:
        """End the filter, then the screen."""
        if self.words:
            self._narrow("")
        else:
            self.dismiss(None)

    def _narrow(self, words: str) -> None:
        self.words = words.lstrip()
        self.fill()
