"""The dialog to restart Spinney: when nothing runs any more, or now."""

from typing import ClassVar, Final, Literal

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from model.base.plural import count
from model.base.text import clean_line
from model.domain.program import ProgramStatus
from tui.screens.dialog import Dialog
from tui.widgets.dialog_button import DialogButton, button_row

When = Literal["now", "idle", "cancel"]
_MAX_NAMES: Final = 5


class Restart(Dialog[When]):
    """`i` restarts when nothing runs, `n` now; `c` cancels a restart that waits."""

    AUTO_FOCUS = "DialogButton"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "choose('idle')", show=False),
        Binding("n", "choose('now')", show=False),
        Binding("c", "choose('cancel')", show=False),
    ]

    def __init__(self, program: ProgramStatus, running: list[str]) -> None:
        super().__init__("Restart Spinney")
        self._choices: dict[When, str] = {"now": "restart"}
        if program.restart == "idle":
            self._choices = {"cancel": "don't restart", "now": "restart now"}
        elif running:
            self._choices = {"idle": "when idle", "now": "restart now"}
        self.sentence = _describe(program, running)

    def body(self) -> list[Widget]:
        """The message and the buttons; the first one interrupts nothing."""
        keys: dict[When, str] = {"idle": "i", "now": "n", "cancel": "c"}
        buttons = [
            DialogButton(label, keys[when], f"choose('{when}')")
            for when, label in self._choices.items()
        ]
        back = DialogButton("cancel", "esc", "leave")
        shown = [back, *buttons] if len(buttons) == 1 else [*buttons, back]
        return [Static(self.sentence, markup=False), button_row(*shown)]

    def action_choose(self, when: When) -> None:
        """Close with this choice, if it is available."""
        if when in self._choices:
            self.dismiss(when)


def _describe(program: ProgramStatus, running: list[str]) -> str:
    parts = []
    if program.installed_version is not None:
        new = program.installed_version
        is_same = new == program.version
        parts.append(
            f"Other files of version {new} are installed." if is_same
            else f"Version {new} is installed; this is {program.version}."
        )  # fmt: skip
    parts.append("Sessions, queues and drafts are kept, and other clients reconnect.")
    if program.restart == "idle":
        parts.append("It restarts when nothing runs any more.")
    if running:
        names = ", ".join(clean_line(name) for name in running[:_MAX_NAMES])
        more = f" and {len(running) - _MAX_NAMES} more" if len(running) > _MAX_NAMES else ""
        verb = "runs" if len(running) == 1 else "run"
        parts.append(
            f"{count(len(running), 'session')} {verb}: {names}{more}. A restart now interrupts "
            f"{'it' if len(running) == 1 else 'them'}; messages received so far are kept."
        )
    return "\n".join(parts)
