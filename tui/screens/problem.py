"""The screen shown if Spinney cannot start: why, and what to do."""

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from tui.widgets.key_line import keys_line


class Problem(Screen[None]):
    """A message; every key of the screen quits."""

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self.sentence = sentence

    def compose(self) -> ComposeResult:
        """Message and key."""
        box = Vertical(
            Static(self.sentence, markup=False),
            Static(keys_line(("q", "quit")), classes="keys"),
            classes="dialog",
        )
        box.border_title = Content("Spinney cannot start")
        yield box

    def on_key(self, event: events.Key) -> None:
        """Quit."""
        if event.key in ("q", "escape", "enter", "ctrl+q", "ctrl+c"):
            event.stop()
            self.app.exit(return_code=1)
