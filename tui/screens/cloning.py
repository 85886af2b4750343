"""The progress of a clone, which can be canceled or continued in the background."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Final, Literal

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Static

from model.base.errors import SpinneyError
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line

POLL_INTERVAL: Final = 0.5
"""Seconds between reads of the progress."""


class Cloning(Dialog[Literal["done", "behind"]]):
    """Shows progress until the clone ends.

    Args:
        url: The cloned URL.
        running: The clone.
        read_progress: Returns git's latest progress message.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("b", "continue_in_background", show=False)]

    def __init__(
        self, url: str, running: "asyncio.Future[Any]", read_progress: Callable[[], Awaitable[str]]
    ) -> None:
        super().__init__("Clone")
        self._url = url
        self._clone = running
        self._read_progress = read_progress

    def body(self) -> list[Widget]:
        """URL, progress and keys."""
        self._progress = Static("Connecting …", markup=False, classes="words")
        keys = keys_line(("b", "run in background"), ("esc", "cancel"))
        return [Static(self._url, markup=False), self._progress, Static(keys, classes="keys")]

    def on_mount(self) -> None:
        """Follow the progress."""
        self.run_worker(self._follow(), exit_on_error=False)

    async def _follow(self) -> None:
        while not self._clone.done():
            await asyncio.wait({self._clone}, timeout=POLL_INTERVAL)
            try:
                self._progress.update(await self._read_progress() or "Connecting …")
            except SpinneyError:
                continue
        self.dismiss("done")

    def action_continue_in_background(self) -> None:
        """Close the dialog and keep cloning."""
        self.dismiss("behind")
