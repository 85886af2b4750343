"""A field of a dialog whose value is chosen from a list: `Base branch   main ▾`."""

from collections.abc import Callable, Sequence
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
"""Cells for the label before the value."""


class PickField(Static, can_focus=True):
    """Space, ↓, a click or a letter opens the list; enter submits the dialog.

    Args:
        label: The field's label.
        choice: The initial value.
        ask: Creates the list, given the present value and a typed filter.
        steps: The values that left and right go through; none if the list has to be read first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,down", "choose", show=False),
        Binding("enter", "submit", show=False),
        Binding("left", "step(-1)", show=False),
        Binding("right", "step(1)", show=False),
    ]

    takes_bursts = True

    class Submitted(Message):
        """Posted when enter was pressed."""

    class Changed(Message):
        """Posted when another value was chosen."""

        def __init__(self, field: "PickField") -> None:
            super().__init__()
            self.field = field

    def __init__(
        self,
        label: str,
        choice: Choice,
        ask: Callable[[str, str], Pick],
        *,
        steps: Sequence[Choice] = (),
        id: str | None = None,
    ) -> None:
        super().__init__(id=id, markup=False, classes="pick")
        self._label = label
        self.choice = choice
        self._ask = ask
        self._steps = steps

    def render(self) -> Content:
        """Return label, value, and the mark of a list; in wide fields a description as well."""
        value = clean_line(self.choice.label)
        shown = Content.assemble(
            (f"{self._label:<{LABEL_WIDTH}}", "$text-muted"), value, (" ▾", "$text-muted")
        )
        about = Content.styled(f"  {clean_line(self.choice.description)}", "$text-muted")
        is_wide = shown.cell_length + about.cell_length <= self.content_size.width
        return shown + about if self.choice.description and is_wide else shown

    def on_key(self, event: events.Key) -> None:
        """Open the list, filtered by the typed letter."""
        if event.is_printable and event.character and event.character != " ":
            event.stop()
            self.action_choose(event.character)

    def on_click(self) -> None:
        """Open the list."""
        self.action_choose()

    def action_choose(self, typed: str = "") -> None:
        """Open the list."""
        self.app.push_screen(self._ask(self.choice.value, typed), self._on_picked)

    def action_step(self, by: int) -> None:
        """Choose the next or previous value; open the list if it has to be read first."""
        if not self._steps:
            self.action_choose()
            return
        values = [choice.value for choice in self._steps]
        if self.choice.value in values:
            position = values.index(self.choice.value) + by
            self._on_picked(self._steps[position % len(values)])

    def action_submit(self) -> None:
        """Submit the dialog."""
        self.post_message(self.Submitted())

    def _on_picked(self, choice: Choice | None) -> None:
        if choice is not None:
            self.set_choice(choice)
            self.post_message(self.Changed(self))

    def set_choice(self, choice: Choice) -> None:
        """Set and show the value."""
        self.choice = choice
        self.refresh()
