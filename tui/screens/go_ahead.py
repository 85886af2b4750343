"""A dialog that says what is about to happen, and starts it on enter."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from tui.screens.dialog import Dialog
from tui.widgets.dialog_button import DialogButton, button_row


class GoAhead(Dialog[bool]):
    """One sentence and its button. No letter agrees: it may belong to a word typed by mistake."""

    AUTO_FOCUS = "DialogButton"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "agree", show=False)]

    def __init__(self, title: str, sentence: str, agree: str) -> None:
        super().__init__(title)
        self.sentence = sentence
        self._agree = agree

    def body(self) -> list[Widget]:
        """The sentence and the buttons."""
        sentence = Static(self.sentence, markup=False)
        return [
            VerticalScroll(sentence, classes="page", can_focus=False),
            button_row(
                DialogButton(self._agree, "enter", "agree"),
                DialogButton("cancel", "esc", "leave"),
            ),
        ]

    def action_agree(self) -> None:
        """Close with agreement."""
        self.dismiss(True)
