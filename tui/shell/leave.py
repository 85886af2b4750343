"""Leaving while something runs: it goes on without a screen, or is interrupted."""

from typing import ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from tui.screens.dialog import Dialog
from tui.widgets.dialog_button import DialogButton, button_row

Ending = Literal["quit", "leave"]
"""Whether Spinney ends with its screen, or keeps running without one."""


class Leave(Dialog[Ending]):
    """`l` leaves it running, `q` ends it, escape stays; `can_leave`: whether it can.

    Enter takes the answer that has the focus: at first one that interrupts nothing.
    """

    AUTO_FOCUS = "DialogButton"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "choose('leave')", show=False),
        Binding("q", "choose('quit')", show=False),
    ]

    def __init__(self, at_work: int, *, can_leave: bool) -> None:
        super().__init__("Quit Spinney")
        self._can_leave = can_leave
        runs = "A run goes on." if at_work == 1 else f"{at_work} runs go on."
        cut = "it is interrupted" if at_work == 1 else "they are interrupted"
        self.sentence = f"{runs} If Spinney quits, {cut}; what has arrived is kept."
        if can_leave:
            self.sentence += (
                "\nLeft running, Spinney works on without a screen: `spinney` shows it again."
            )

    def body(self) -> list[Widget]:
        """Sentence and answers."""
        leave = DialogButton("leave running", "l", "choose('leave')")
        stay = DialogButton("stay", "esc", "leave")
        end = DialogButton("quit", "q", "choose('quit')")
        answers = (leave, stay, end) if self._can_leave else (stay, end)
        return [Static(self.sentence, markup=False), button_row(*answers)]

    def action_choose(self, ending: Ending) -> None:
        """Take what was asked for, if it can be had."""
        if ending == "quit" or self._can_leave:
            self.dismiss(ending)
