"""The terminal driver: reads input, and queries the background color and the keyboard protocol.

The answers arrive among the keys, at any time or never; nothing waits for them.
"""

import os
import select
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from textual.app import App
from textual.events import AppFocus
from textual.message import Message

from tui.terminal.capabilities import escape_delay
from tui.terminal.input_parser import BackgroundReported, ColorsChanged, InputParser
from tui.terminal.output import PacedDriver
from tui.terminal.sequences import Lexer
from tui.terminal.textual_internals import fail

_REPORT_COLOR_CHANGES: Final = "\x1b[?2031h"
_STOP_COLOR_REPORTS: Final = "\x1b[?2031l"
_RESET_POINTER: Final = "\x1b]22;\x1b\\"
"""Restores the pointer shape, which Textual changes over clickable cells."""
_BACKGROUND_QUERY: Final = "\x1b]11;?\x07"
_KEYBOARD_QUERY: Final = "\x1b[?u"

ANSWER_TIMEOUT: Final = 2.0
"""Seconds to wait for an answer, and minimum seconds between two queries."""
MAX_UNANSWERED: Final = 3
"""After this many unanswered queries no more are sent."""

_POLL_INTERVAL: Final = 0.1
"""Seconds between two checks whether the screen has closed."""
_READ_SIZE: Final = 1 << 12
_BURST_BYTES: Final = 64
"""Reads of at least this many bytes were not typed key by key."""
_BURST_TIMEOUT: Final = 0.01
"""Seconds to wait for the rest of such a read."""
_MAX_READ: Final = 1 << 16
"""Maximum bytes that are processed together."""


@dataclass(slots=True)
class BackgroundQuery:
    """Queries the background color: not too often, and not forever if there is no answer."""

    write: Callable[[str], object]
    environ: Mapping[str, str]
    clock: Callable[[], float] = time.monotonic
    reports_changes: bool = False
    """Whether the terminal reports changes by itself (its mode 2031)."""
    _last_query: float | None = None
    _unanswered: int = 0

    @property
    def is_possible(self) -> bool:
        """Whether this terminal accepts a query without printing it as text."""
        return self.environ.get("TERM", "") not in ("", "dumb", "linux")

    def send(self, *, at_once: bool = False) -> None:
        """Send the query, unless it is useless or was sent recently (ignored with `at_once`)."""
        now = self.clock()
        is_too_soon = self._last_query is not None and now - self._last_query < ANSWER_TIMEOUT
        if (
            not self.is_possible
            or self._unanswered >= MAX_UNANSWERED
            or (is_too_soon and not at_once)
        ):
            return
        self._last_query = now
        self._unanswered += 1
        # GNU screen passes a query on only if it is wrapped; tmux answers it itself.
        wrapped = "STY" in self.environ and "TMUX" not in self.environ
        self.write(f"\x1bP{_BACKGROUND_QUERY}\x1b\\" if wrapped else _BACKGROUND_QUERY)

    def note_answer(self) -> None:
        """Note that the terminal answers queries."""
        self._unanswered = 0


class TerminalDriver(PacedDriver):
    """Textual's driver, which also queries the background color."""

    def __init__(
        self,
        app: App[object],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self.background_query = BackgroundQuery(self.write, os.environ)
        self.is_bound: Callable[[str], bool] = lambda key: False
        """Whether a combination such as `alt+x` is bound. Called on the input thread."""

    def start_application_mode(self) -> None:
        """Take over the terminal, and query background and keyboard."""
        super().start_application_mode()
        if self.background_query.is_possible:
            self.write(_REPORT_COLOR_CHANGES + _KEYBOARD_QUERY)
        self.background_query.send(at_once=True)

    def stop_application_mode(self) -> None:
        """Restore the terminal."""
        if self.background_query.is_possible:
            self.write(_STOP_COLOR_REPORTS + _RESET_POINTER)
        super().stop_application_mode()

    def run_input_thread(self) -> None:
        """Read until the screen closes, and report exceptions to the application.

        Textual's own implementation fails on invalid UTF-8 and ends the program with exit code 0.
        """
        try:
            self._read_input()
        except Exception as error:
            self.app.call_later(fail, error)

    def _read_input(self) -> None:
        decode = getincrementaldecoder("utf-8")("replace").decode
        parser = InputParser(
            Lexer(escape_delay=escape_delay(os.environ)),
            lambda key: self.is_bound(key),
            is_console=os.environ.get("TERM") == "linux",
        )
        is_open = True
        while is_open:
            is_open = not self.exit_event.is_set()
            wait = parser.wait()
            text = decode(self._read(_POLL_INTERVAL if wait is None else min(wait, _POLL_INTERVAL)))
            for message in parser.feed(text) if text else parser.tick():
                self.process_message(message)

    def _read(self, wait: float) -> bytes:
        """Read what the terminal sends within `wait` seconds, including the rest of a burst."""
        data = b""
        while len(data) < _MAX_READ and select.select([self.fileno], [], [], wait)[0]:
            try:
                chunk = os.read(self.fileno, _READ_SIZE)
            except OSError:
                chunk = b""
            if not chunk:  # Hung up; reported elsewhere.
                self.exit_event.wait(_POLL_INTERVAL)
                break
            data += chunk
            if len(data) < _BURST_BYTES:
                break
            wait = _BURST_TIMEOUT
        return data

    def process_message(self, message: Message) -> None:
        """Query again when the background may have changed. Called on the input thread."""
        match message:
            case BackgroundReported():
                self.background_query.note_answer()
            case ColorsChanged():
                self.background_query.reports_changes = True
                self.background_query.send(at_once=True)
                return
            case AppFocus() if not self.background_query.reports_changes:
                self.background_query.send()
        super().process_message(message)
