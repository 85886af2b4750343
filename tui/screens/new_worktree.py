"""The dialog that makes a worktree, and gives its agent something to do at once."""

from dataclasses import dataclass

from textual import on
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from tui.screens.dialog import Dialog, keys_line
from tui.widgets.composer import MessageArea


@dataclass(frozen=True, slots=True)
class WantedWorktree:
    """What was filled in; empty means: as usual."""

    message: str = ""
    name: str = ""
    base: str = ""


class NewWorktree(Dialog[WantedWorktree]):
    """First message, name, base branch; none of them is required."""

    def __init__(
        self,
        project: str,
        default_branch: str,
        filled_in: WantedWorktree | None = None,
        problem: str = "",
    ) -> None:
        super().__init__(f"New worktree of {project}")
        self._default_branch = default_branch
        self._filled_in = filled_in or WantedWorktree()
        self._problem = problem

    def body(self) -> list[Widget]:
        """The fields in the order in which they are wanted."""
        given = self._filled_in
        return [
            *([Static(self._problem, markup=False, classes="problem")] if self._problem else []),
            Label("What should the agent do?"),
            MessageArea(
                id="message",
                placeholder="First message; leave it empty to begin later",
                sends_nothing=True,
            ),
            Label("Name"),
            Input(given.name, id="name", placeholder="a name is found for you", compact=True),
            Label("Branch off"),
            Input(given.base, id="base", placeholder=self._default_branch, compact=True),
            Static(
                keys_line(
                    ("enter", "make it"), ("tab", "next field"), ("^j", "line"), ("esc", "cancel")
                ),
                classes="keys",
            ),
        ]

    def on_mount(self) -> None:
        """Begin with the message."""
        area = self.query_one("#message", MessageArea)
        area.text = self._filled_in.message
        area.focus()

    @on(Input.Submitted)
    @on(MessageArea.Submitted)
    def _submitted(self, event: Input.Submitted | MessageArea.Submitted) -> None:
        event.stop()
        self._submit()

    def _submit(self) -> None:
        self.dismiss(
            WantedWorktree(
                message=self.query_one("#message", MessageArea).draft.full().strip(),
                name=self.query_one("#name", Input).value.strip(),
                base=self.query_one("#base", Input).value.strip(),
            )
        )
