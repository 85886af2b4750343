"""The question before worktrees are deleted."""

from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.widget import Widget

from tui.screens.dialog import Confirm
from tui.widgets.dialog_button import DialogButton

_STAY: Final = "branches at the remote: stay"
_GO: Final = "branches at the remote: deleted for good"


class DeleteWorktrees(Confirm):
    """Asks whether to delete worktrees; `r` changes what becomes of their branches at the remote.

    Args:
        sentence: The question.
        agree: Label of the button that agrees.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("r", "change_remote", show=False)]

    def __init__(self, sentence: str, agree: str) -> None:
        super().__init__("Delete worktrees", sentence, agree)
        self.with_remote = False
        """Whether their branches at the remote are deleted, too."""
        self._remote = DialogButton(_STAY, "r", "change_remote")

    def body(self) -> list[Widget]:
        """The question, the choice about the remote, and the buttons."""
        question, buttons = super().body()
        return [question, self._remote, buttons]

    def on_mount(self) -> None:
        """Focus the button that changes nothing."""
        self.query_one(".buttons DialogButton").focus()

    def action_change_remote(self) -> None:
        """Delete the branches at the remote, too, or let them stay."""
        self.with_remote = not self.with_remote
        self._remote.set_label(_GO if self.with_remote else _STAY)
