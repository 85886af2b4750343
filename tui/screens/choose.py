"""A dialog with a list of choices."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.base.text import clean_line
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line


@dataclass(frozen=True, slots=True)
class Choice:
    """An entry: the value it returns, and how it is shown."""

    value: str
    label: str
    description: str = ""
    color: str = ""
    """The label's color; '' for the color of text."""

    def row(self, present: str) -> Content:
        """Return the entry as a row; `present`: the value that is marked."""
        mark = "● " if self.value == present else "  "
        parts = [(mark, "$text-accent"), (clean_line(self.label), self.color)]
        if self.description:
            parts.append((f"  {clean_line(self.description)}", "$text-muted"))
        return Content.assemble(*parts)


class Choose(Dialog[str]):
    """A list to choose one entry from; the present value is marked."""

    def __init__(self, title: str, choices: Sequence[Choice], present: str = "") -> None:
        super().__init__(title)
        self.choices = tuple(choices)
        self.present = present

    def body(self) -> list[Widget]:
        """The list and its keys."""
        options = [Option(c.row(self.present), id=c.value) for c in self.choices]
        return [
            OptionList(*options, markup=False, compact=True),
            Static(
                keys_line(("↑ ↓", "move"), ("enter", "choose"), ("esc", "cancel")), classes="keys"
            ),
        ]

    def on_mount(self) -> None:
        """Move the cursor to the present value."""
        values = [choice.value for choice in self.choices]
        options = self.query_one(OptionList)
        options.highlighted = values.index(self.present) if self.present in values else 0
        options.focus()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option.id)
