"""A line of text to write in, which takes the keys of one burst in their order.

Textual writes letters at once, but has keys such as backspace go round by the whole application:
over a slow connection, which delivers several keys together, they came after letters written later.
"""

from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingsMap, BindingType
from textual.widgets import Input

_EDITING: Final = ("cursor_", "delete_", "home", "end")
"""How the actions begin that move or delete; the others mean nothing to the letters behind them."""


class TextField(Input):
    """An `Input` whose editing keys act at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("alt+delete", "delete_right_word", show=False),
    ]

    async def on_key(self, event: events.Key) -> None:
        """Do what an editing key stands for."""
        for binding in _BY_KEY.get(event.key, ()):
            if binding.action.startswith(_EDITING):
                event.stop()
                event.prevent_default()
                await self.run_action(binding.action)


_BY_KEY: Final = BindingsMap([*Input.BINDINGS, *TextField.BINDINGS]).key_to_bindings
