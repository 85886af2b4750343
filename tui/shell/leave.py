"""The confirmation to quit while agents run, or will: keep them running, or interrupt them."""

from typing import ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from tui.screens.dialog import Dialog
from tui.widgets.dialog_button import DialogButton, button_row

Ending = Literal["quit", "leave", "restart"]
"""Whether Spinney ends with its screen, keeps running without one, or only the screen restarts."""


class Leave(Dialog[Ending]):
    """`l` or another ctrl+c keeps Spinney running, if `can_leave`; `q` quits; escape cancels.

    Enter activates the focused button, initially one that interrupts nothing.
    """

    AUTO_FOCUS = "DialogButton"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l,ctrl+c", "choose('leave')", show=False),
        Binding("q", "choose('quit')", show=False),
    ]

    def __init__(self, active: int, timed: int, *, can_leave: bool) -> None:
        """`active` runs are interrupted, `timed` sessions do not continue at their time."""
        super().__init__("Quit Spinney")
        self._can_leave = can_leave
        sentences = []
        if active:
            runs = "1 run is active." if active == 1 else f"{active} runs are active."
            it = "it" if active == 1 else "them"
            sentences.append(f"{runs} Quitting interrupts {it}. Messages received so far are kept.")
        if timed:
            waiting = "1 session waits" if timed == 1 else f"{timed} sessions wait"
            sentences.append(
                f"{waiting} for a time, and nothing continues while Spinney does not run."
            )
        self.sentence = " ".join(sentences)
        if can_leave:
            self.sentence += (
                "\nTo keep Spinney running in the background, choose 'keep running'. "
                "Start `spinney` to attach again."
            )

    def body(self) -> list[Widget]:
        """The message and the buttons."""
        leave = DialogButton("keep running", "l", "choose('leave')")
        stay = DialogButton("cancel", "esc", "leave")
        end = DialogButton("quit", "q", "choose('quit')")
        buttons = (leave, stay, end) if self._can_leave else (stay, end)
        return [Static(self.sentence, markup=False), button_row(*buttons)]

    def action_choose(self, ending: Ending) -> None:
        """Close with this choice, if it is available."""
        if ending == "quit" or self._can_leave:
            self.dismiss(ending)
