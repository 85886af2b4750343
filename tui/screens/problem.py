"""A full screen with one sentence: what keeps Spinney from starting, and what to do."""

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from tui.widgets.key_line import keys_line


class Problem(Screen[None]):
    """Nothing else can be done here but to read and leave."""

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self.sentence = sentence

    def compose(self) -> ComposeResult:
        """Sentence and key."""
        box = Vertical(
            Static(self.sentence, markup=False),
            Static(keys_line(("q", "leave")), classes="keys"),
            classes="dialog",
        )
        box.border_title = Content("Spinney cannot start")
        yield box

    def on_key(self, event: events.Key) -> None:
        """Leave."""
        if event.key in ("q", "escape", "enter", "ctrl+q", "ctrl+c"):
            event.stop()
            self.app.exit(return_code=1)
