"""Screen-reader mode (`--plain`): what it needs besides rows without boxes.

States are shown as words instead of icons, nothing is animated, the terminal's cursor follows
focus, and notifications stay at the bottom, in order.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from textual.content import Content
from textual.geometry import Offset
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

MAX_SENTENCES: Final = 4
"""Notifications that stay visible."""

SHOW_CURSOR: Final = "\x1b[?25h"


class _Mode:
    """Set by the application: a process has one terminal."""

    is_on = False


def set_enabled(on: bool) -> None:
    """Enable or disable screen-reader mode."""
    _Mode.is_on = on


def is_enabled() -> bool:
    """Whether screen-reader mode is enabled."""
    return _Mode.is_on


def format_count(number: int, sign: str, word: str) -> str:
    """`+12`, or `12 added`."""
    return f"{number} {word}" if is_enabled() else f"{sign}{number}"


class Announcements(Static):
    """Recent notifications, newest last; hidden unless screen-reader mode is enabled."""

    DEFAULT_CSS = "Announcements { height: auto; padding: 0 1; display: none; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._sentences: deque[str] = deque(maxlen=MAX_SENTENCES)

    def announce(self, sentence: str) -> None:
        """Append a notification."""
        self._sentences.append(sentence)
        self.display = True
        self.update(Content("\n".join(self._sentences)))


def find_announcements(screens: Sequence[Screen[Any]]) -> list[Announcements]:
    """The notification areas of the top screen and, below dialogs, of the screen behind them."""
    announcements_found: list[Announcements] = []
    for screen in reversed(screens):
        announcements_found += screen.query(Announcements)
        if not screen.is_modal:
            break
    return announcements_found


def find_dialog(screen: Screen[Any]) -> Widget | None:
    """The dialog of a screen, or `None`."""
    return next(iter(screen.query(".dialog")), None)


def find_cursor(widget: Widget | None) -> Offset | None:
    """The screen position of a widget's cursor: in its text, or on its current row.

    Computed from the widget each time; the position stored in the application may be of another
    screen.
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
    return Offset(region.x, region.y + _find_text(widget, line, region.height))


def _find_text(widget: Widget, first: int, end: int) -> int:
    """The first row with text from `first` on; `first` if all are empty."""
    rows = (row for row in range(first, end) if widget.render_line(row).text.strip())
    return next(rows, first)
