"""A text input that handles the keys of one burst in order.

Textual inserts letters immediately, but routes keys such as backspace through the application's
bindings: over a slow connection, which delivers several keys together, they ran after later
letters.
"""

from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingsMap, BindingType
from textual.widgets import Input

_EDITING: Final = ("cursor_", "delete_", "home", "end")
"""Prefixes of the actions that move or delete; others do not depend on the following letters."""


class TextField(Input):
    """An `Input` whose editing keys act immediately."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("alt+delete", "delete_right_word", show=False),
    ]

    async def on_key(self, event: events.Key) -> None:
        """Run the action of an editing key."""
        for binding in _BY_KEY.get(event.key, ()):
            if binding.action.startswith(_EDITING):
                event.stop()
                event.prevent_default()
                await self.run_action(binding.action)


_BY_KEY: Final = BindingsMap([*Input.BINDINGS, *TextField.BINDINGS]).key_to_bindings
