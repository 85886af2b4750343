"""A clone as it goes on: how far it is, cancelled by escape, or left to go on behind."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Final, Literal

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from model.base.errors import SpinneyError
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line

LOOK_EVERY: Final = 0.5
"""Seconds between two looks at how far it is."""


class Cloning(Dialog[Literal["done", "behind"]]):
    """Closes when the clone ends.

    Args:
        url: What is cloned.
        running: The clone itself.
        look: Git's newest word on it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("b", "go_on_behind", show=False)]

    def __init__(
        self, url: str, running: "asyncio.Future[Any]", look: Callable[[], Awaitable[str]]
    ) -> None:
        super().__init__("Clone")
        self._url = url
        self._clone = running
        self._look = look

    def body(self) -> list[Widget]:
        """What, how far, and keys."""
        self._words = Static("Connecting …", markup=False, classes="words")
        keys = keys_line(("b", "go on behind"), ("esc", "cancel"))
        return [Static(self._url, markup=False), self._words, Static(keys, classes="keys")]

    def on_mount(self) -> None:
        """Follow it."""
        self.run_worker(self._follow(), exit_on_error=False)

    async def _follow(self) -> None:
        while not self._clone.done():
            await asyncio.wait({self._clone}, timeout=LOOK_EVERY)
            try:
                self._words.update(await self._look() or "Connecting …")
            except SpinneyError:
                continue
        self.dismiss("done")

    def action_go_on_behind(self) -> None:
        """Close, and let it go on."""
        self.dismiss("behind")
