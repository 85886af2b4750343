"""A field of a dialog whose value is chosen from a list: `Branch off   main ▾`."""

from collections.abc import Callable
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from model.base.text import clean_line
from tui.screens.choose import Choice
from tui.screens.pick import Pick

LABEL_WIDTH: Final = 14
"""Cells for the words before the value."""


class PickField(Static, can_focus=True):
    """Space, ↓, a click or a letter opens its list; enter is the dialog's own.

    Args:
        label: What is chosen.
        choice: What is chosen at first.
        ask: Makes the list, narrowed to what was typed, with the present value marked.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,down", "choose", show=False),
        Binding("enter", "submit", show=False),
    ]

    takes_bursts = True

    class Submitted(Message):
        """Enter was pressed."""

    class Changed(Message):
        """Another value was chosen."""

        def __init__(self, field: "PickField") -> None:
            super().__init__()
            self.field = field

    def __init__(
        self, label: str, choice: Choice, ask: Callable[[str, str], Pick], *, id: str | None = None
    ) -> None:
        super().__init__(id=id, markup=False, classes="pick")
        self._label = label
        self.choice = choice
        self._ask = ask

    def render(self) -> Content:
        """Label, value, and the mark of a list."""
        value = clean_line(self.choice.label)
        return Content.assemble(
            (f"{self._label:<{LABEL_WIDTH}}", "$text-muted"), value, (" ▾", "$text-muted")
        )

    def on_key(self, event: events.Key) -> None:
        """Letters open the list with themselves in its filter."""
        if event.is_printable and event.character and event.character != " ":
            event.stop()
            self.action_choose(event.character)

    def on_click(self) -> None:
        """Open the list."""
        self.action_choose()

    def action_choose(self, typed: str = "") -> None:
        """Open the list."""
        self.app.push_screen(self._ask(self.choice.value, typed), self._taken)

    def action_submit(self) -> None:
        """Let the dialog do its work."""
        self.post_message(self.Submitted())

    def _taken(self, choice: Choice | None) -> None:
        if choice is not None:
            self.take(choice)
            self.post_message(self.Changed(self))

    def take(self, choice: Choice) -> None:
        """Show this value."""
        self.choice = choice
        self.refresh()
