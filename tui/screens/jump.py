"""Labels every pane with a letter that focuses it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.desk import Desk
from tui.screens.closing import Closing

if TYPE_CHECKING:
    from textual.widget import Widget


def panes_of(desk: Desk) -> "dict[str, Widget]":
    """Return the visible panes by their letters."""
    chat = desk.chat
    panes = {
        "p": desk.projects,
        "w": chat.welcome,
        "c": chat.transcript,
        "r": chat.request,
        "m": chat.composer,
    }
    return {key: pane for key, pane in panes.items() if pane is not None and pane.region.area}


class Jump(Closing[str | None], ModalScreen[str | None]):
    """Letters over the screen; any other key cancels."""

    def __init__(self, regions: Mapping[str, Region]) -> None:
        super().__init__()
        self._regions = regions

    def compose(self) -> ComposeResult:
        """A letter at the corner of each pane."""
        for key, region in self._regions.items():
            label = Static(Content(f" {key} "), classes="jump", markup=False)
            label.absolute_offset = region.offset
            yield label

    def on_key(self, event: events.Key) -> None:
        """Return the letter, if it is that of a pane."""
        event.stop()
        event.prevent_default()
        self.dismiss(event.character if event.character in self._regions else None)

    def on_click(self, event: events.Click) -> None:
        """Return the letter of the clicked pane."""
        at = (event.screen_x, event.screen_y)
        self.dismiss(next((k for k, r in self._regions.items() if r.contains(*at)), None))
