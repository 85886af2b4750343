"""The dialog that edits a proposed plan before it is approved."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static, TextArea

from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line


@dataclass(frozen=True, slots=True)
class EditedPlan:
    """The plan to execute, and the mode to execute it in."""

    text: str
    mode: Literal["build", "yolo"]


@dataclass(slots=True)
class PlanDraft:
    """An edited plan that was not approved yet."""

    text: str = ""


class EditPlan(Dialog[EditedPlan]):
    """A text box with the plan; approve it with ctrl+g or ctrl+y."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+g", "build", "Build", priority=True, show=False),
        Binding("ctrl+y", "yolo", "Yolo", priority=True, show=False),
    ]

    def __init__(self, plan: str) -> None:
        super().__init__("Edit the plan")
        self.text = plan
        """The current text, approved or not."""

    def body(self) -> list[Widget]:
        """The text and its keys."""
        return [
            TextArea(self.text, id="plan", compact=True, highlight_cursor_line=False),
            Static(
                keys_line(("^g", "build"), ("^y", "yolo"), ("esc", "cancel")),
                classes="keys",
            ),
        ]

    def action_build(self) -> None:
        """Approve the plan in build mode, which asks before most commands."""
        self._approve("build")

    def action_yolo(self) -> None:
        """Approve the plan in yolo mode, which asks for nothing."""
        self._approve("yolo")

    def _approve(self, mode: Literal["build", "yolo"]) -> None:
        self.dismiss(EditedPlan(self.text, mode))

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        self.text = event.text_area.text
