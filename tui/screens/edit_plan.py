"""A proposed plan in a text box: changed, and then carried out."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static, TextArea

from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line


@dataclass(frozen=True, slots=True)
class EditedPlan:
    """The plan as it should be carried out."""

    text: str
    mode: Literal["build", "yolo"]


class EditPlan(Dialog[EditedPlan]):
    """Edit, then build or yolo."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+g", "build", "Build", priority=True, show=False),
        Binding("ctrl+y", "yolo", "Yolo", priority=True, show=False),
    ]

    def __init__(self, plan: str) -> None:
        super().__init__("Edit the plan")
        self._plan = plan

    def body(self) -> list[Widget]:
        """The text and its keys."""
        return [
            TextArea(self._plan, id="plan", compact=True, highlight_cursor_line=False),
            Static(
                keys_line(("^g", "build it"), ("^y", "yolo"), ("esc", "leave it as it was")),
                classes="keys",
            ),
        ]

    def action_build(self) -> None:
        """Carry it out, asking before commands."""
        self._take("build")

    def action_yolo(self) -> None:
        """Carry it out without asking."""
        self._take("yolo")

    def _take(self, mode: Literal["build", "yolo"]) -> None:
        self.dismiss(EditedPlan(self.query_one("#plan", TextArea).text, mode))
