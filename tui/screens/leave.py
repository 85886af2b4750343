"""Leaving while something runs: it goes on without a screen, or is interrupted."""

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from tui.screens.dialog import Dialog, keys_line

if TYPE_CHECKING:
    from tui.app import Ending


class Leave(Dialog["Ending"]):
    """`l` or enter leaves it running, `q` ends it, escape stays; `can_leave`: whether it can."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "choose('leave')", show=False),
        Binding("enter", "choose('leave')", show=False),
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
        """Sentence and keys."""
        leave = (("l or enter", "leave running"),) if self._can_leave else ()
        keys = keys_line(*leave, ("q", "quit and interrupt"), ("esc", "stay"))
        return [Static(self.sentence, markup=False), Static(keys, classes="keys")]

    def action_choose(self, ending: "Ending") -> None:
        """Take what was asked for, if it can be had."""
        if ending == "quit" or self._can_leave:
            self.dismiss(ending)
