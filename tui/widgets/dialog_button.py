"""The answers of a dialog, side by side in its last row: enter takes the one with the focus."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from tui.keys.names import spoken


class DialogButton(Static, can_focus=True):
    """One answer. Enter or a click takes it; its key does from anywhere in the dialog.

    Args:
        words: What it does.
        key: The key that does it, too; the dialog binds it.
        action: What is run when it is taken.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", show=False),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

    def __init__(self, words: str, key: str, action: str) -> None:
        named = Content(words).stylize(Style.from_meta({"press": key, "words": words}))
        super().__init__(named, classes="keys")
        self._words = words[:1].upper() + words[1:]
        self._key = key
        self._action = action

    def render(self) -> Content:
        """The mark of the focus, for those who see no colors too; the words and the key."""
        return Content.assemble(
            "❯ " if self.has_focus else "  ",
            (self._words, "bold"),
            (f"  {spoken(self._key)} ", "" if self.has_focus else "$text-muted"),
        )

    async def action_take(self) -> None:
        """Give this answer."""
        await self.run_action(f"screen.{self._action}")

    async def on_click(self, event: events.Click) -> None:
        """Give this answer."""
        event.stop()
        await self.action_take()


def button_row(*buttons: DialogButton) -> Horizontal:
    """The last row of a dialog. Its first button gets the focus, so that one is the safe one."""
    return Horizontal(*buttons, classes="buttons")
