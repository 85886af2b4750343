"""An application that suits its terminal: colors, signs, screen reader, clipboard and mouse."""

import os
from collections.abc import Sequence

from rich.console import COLOR_SYSTEMS
from textual.filter import LineFilter
from textual.geometry import Offset
from textual.notifications import SeverityLevel

from tui.terminal import screen_reader
from tui.terminal.background import TerminalDriver
from tui.terminal.capabilities import Terminal
from tui.terminal.compositor import RowCompositor
from tui.terminal.output import PaintedApp
from tui.terminal.output_filters import detect_color_system, make_filters
from tui.terminal.sanitize import ControlCharFilter
from tui.terminal.textual_internals import use_compositor

_HARMLESS = ControlCharFilter()
_MOUSE = "\x1b[?1000{0}\x1b[?1003{0}\x1b[?1015{0}\x1b[?1006{0}"
"""Switches mouse reporting on (`h`) or off (`l`)."""


class TerminalApp(PaintedApp):
    """An application on a terminal with known capabilities."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__(driver_class=TerminalDriver)
        self.terminal = terminal
        screen_reader.set_enabled(terminal.screen_reader)
        self.set_class(terminal.screen_reader, "-screen-reader")
        use_compositor(RowCompositor)
        self.color_system = detect_color_system(
            os.environ.get("TERM", ""), COLOR_SYSTEMS.get(self.console.color_system or "")
        )
        self._output_filters = make_filters(
            ascii_signs=terminal.ascii_signs,
            screen_reader=terminal.screen_reader,
            color_system=self.color_system,
        )
        self._mouse_is_released = False
        self._copied = ""

    def get_line_filters(self) -> Sequence[LineFilter]:
        """The filters applied to every drawn row."""
        return [_HARMLESS, *super().get_line_filters(), *self._output_filters]

    def on_descendant_focus(self) -> None:
        """Stop cursor blinking: every blink is sent to the terminal and read by screen readers."""
        widget = self.focused if self.screen_stack else None  # can arrive after all have closed
        if widget is not None and hasattr(widget, "cursor_blink"):
            widget.cursor_blink = False

    @property
    def cursor_position(self) -> Offset:
        """The hardware cursor position; in screen-reader mode it always follows the focus."""
        position = None
        if screen_reader.is_enabled() and self.is_running and self.screen_stack:
            position = screen_reader.find_cursor(
                self.focused or screen_reader.find_dialog(self.screen)
            )
        return position or self._cursor_position

    @cursor_position.setter
    def cursor_position(self, position: Offset) -> None:
        self._cursor_position = position

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a notification; in screen-reader mode as a permanent line at the bottom."""
        lists = (
            screen_reader.find_announcements(self.screen_stack)
            if self.terminal.screen_reader
            else []
        )
        for announcements in lists:
            announcements.announce(
                message if severity == "information" else f"{severity}: {message}"
            )
        if not lists:
            super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    def copy(self, text: str) -> None:
        """Copy to the clipboard through the terminal, and confirm it."""
        from tui.terminal.clipboard import copy_sequence, format_copied, format_too_long

        sequence = copy_sequence(text, self.terminal)
        if sequence is None:
            self.notify(format_too_long(text), severity="warning", markup=False)
            return
        self.write(sequence)
        self.notify(format_copied(text), markup=False, timeout=2)

    def toggle_mouse(self) -> bool:
        """Release the mouse to the terminal, or capture it again; return whether it is released."""
        self._mouse_is_released = not self._mouse_is_released
        self.write(_MOUSE.format("l" if self._mouse_is_released else "h"))
        return self._mouse_is_released

    def copy_to_clipboard(self, text: str) -> None:
        """Copy for Textual's own widgets."""
        self._copied = text
        self.copy(text)

    @property
    def clipboard(self) -> str:
        """The text copied last, which Textual's own widgets paste."""
        return self._copied
