"""Functions that read what the application shows."""

from collections.abc import Iterable

from rich.style import Style
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from tui.shell.app import SpinneyApp


def screen_rows(app: SpinneyApp) -> list[Strip]:
    """The rows of the whole screen, including those below a dialog."""
    return app.screen._compositor.render_strips()


def rows_in_front(app: SpinneyApp) -> list[Strip]:
    """The rows of the screen, or those of the dialog if one is open."""
    if not app.screen.is_modal:
        return screen_rows(app)
    shown = app.screen._compositor.visible_widgets.items()
    parts = [region.intersection(clip) for widget, (region, clip) in shown if widget != app.screen]
    if not parts:
        return []
    box = Region.from_union(parts)
    return [strip.crop(box.x, box.right) for strip in screen_rows(app)[box.y : box.bottom]]


def cells(strips: Iterable[Strip]) -> list[list[tuple[str, Style]]]:
    """The characters of each row with their styles."""
    return [
        [(letter, segment.style or Style()) for segment in strip for letter in segment.text]
        for strip in strips
    ]


def screen_text(app: SpinneyApp) -> str:
    """The text of the screen, row by row."""
    return "\n".join(screen_lines(app))


def screen_lines(app: SpinneyApp) -> list[str]:
    """The rows of the screen without their styles and trailing spaces."""
    return [strip.text.rstrip() for strip in screen_rows(app)]


def visible_text(view: Widget) -> str:
    """The visible rows of one widget."""
    return "\n".join(view.render_line(y).text.rstrip() for y in range(view.size.height))


def dialog_text(screen: "Screen[object]") -> str:
    """All static text of a dialog."""
    return "\n".join(str(part.render()) for part in screen.query(Static))


def tree_row(app: SpinneyApp, word: str) -> str:
    """The first row of the tree that contains a word; empty if there is none."""
    width = app.main.projects.region.right
    rows = (row[:width] for row in screen_text(app).splitlines()[1:])
    return next((row for row in rows if word in row), "")


def notifications(app: SpinneyApp) -> list[str]:
    """The messages of the notifications on the screen."""
    return [notification.message for notification in app._notifications]


def is_conversation_shown(app: SpinneyApp, session_id: str) -> bool:
    """Whether the conversation pane shows this session."""
    transcript = app.main.chat.transcript
    window = transcript.viewport if transcript is not None else None
    return window is not None and window.rows.history.session_id == session_id
