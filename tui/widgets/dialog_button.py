"""Dialog buttons, side by side in the last row; enter activates the focused one."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from tui.keys.names import spell_out


class DialogButton(Static, can_focus=True):
    """A button, activated by enter, a click, or its key from anywhere in the dialog.

    Args:
        label: What it does.
        key: Its key, which the dialog must bind.
        action: The action of the screen that it runs.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", show=False),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

    def __init__(self, label: str, key: str, action: str) -> None:
        content = Content(label).stylize(Style.from_meta({"press": key, "words": label}))
        super().__init__(content, classes="keys")
        self._label = label[:1].upper() + label[1:]
        self._key = key
        self._action = action

    def set_label(self, label: str) -> None:
        """Say something else."""
        self._label = label[:1].upper() + label[1:]
        self.refresh(layout=True)

    def render(self) -> Content:
        """Render the focus mark (visible without colors), the label and the key."""
        return Content.assemble(
            "❯ " if self.has_focus else "  ",
            (self._label, "bold"),
            (f"  {spell_out(self._key)} ", "" if self.has_focus else "$text-muted"),
        )

    async def action_take(self) -> None:
        """Activate the button."""
        await self.run_action(f"screen.{self._action}")

    async def on_click(self, event: events.Click) -> None:
        """Activate the button."""
        event.stop()
        await self.action_take()


def button_row(*buttons: DialogButton) -> Horizontal:
    """The last row of a dialog. The first button gets the focus, so it should be the safe one."""
    return Horizontal(*buttons, classes="buttons")
