"""The terminal for ears (`--plain`): what a screen reader needs beside rows without boxes.

States are told in words instead of signs, nothing moves by itself, the terminal's cursor stands
where the keys go, and what is told in passing stays at the bottom, in its order.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from textual.content import Content
from textual.geometry import Offset
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

KEPT: Final = 4
"""How many announcements stay to be read."""

SHOW_CURSOR: Final = "\x1b[?25h"


class _Mode:
    """Set once by the application: a process has one terminal."""

    is_on = False


def switch(on: bool) -> None:
    """Speak in words from now on, or in signs."""
    _Mode.is_on = on


def is_on() -> bool:
    """Whether words are wanted instead of signs."""
    return _Mode.is_on


def counted(number: int, sign: str, word: str) -> str:
    """`+12`, or `12 added`."""
    return f"{number} {word}" if is_on() else f"{sign}{number}"


class Announcements(Static):
    """What was told in passing, the newest last. There are none where nobody listens."""

    DEFAULT_CSS = "Announcements { height: auto; padding: 0 1; display: none; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._told: deque[str] = deque(maxlen=KEPT)

    def tell(self, sentence: str) -> None:
        """Append a sentence."""
        self._told.append(sentence)
        self.display = True
        self.update(Content("\n".join(self._told)))


def announcements(screens: Sequence[Screen[Any]]) -> list[Announcements]:
    """Where it is told: on the screen in front, and on the one that its dialogs stand before."""
    found: list[Announcements] = []
    for screen in reversed(screens):
        found += screen.query(Announcements)
        if not screen.is_modal:
            break
    return found


def dialog_of(screen: Screen[Any]) -> Widget | None:
    """What a screen asks whose keys are its own."""
    return next(iter(screen.query(".dialog")), None)


def cursor_of(widget: Widget | None) -> Offset | None:
    """Where on the screen the keys go: in the text that is written, or on a row of the widget.

    Asked of the widget each time. What was last told to the application may be of another screen.
    """
    from textual.widgets import Input, OptionList, TextArea, Tree

    if widget is None:
        return None
    if isinstance(widget, Input | TextArea):
        return widget.cursor_screen_offset
    row = getattr(widget, "cursor_row", 0)
    if isinstance(widget, Tree):
        row = widget.cursor_line
    elif isinstance(widget, OptionList):
        row = widget.highlighted or 0
    region = widget.content_region
    line = min(max(row - widget.scroll_offset.y, 0), max(region.height - 1, 0))
    return Offset(region.x, region.y + line)
