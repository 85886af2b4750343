"""The terminal's driver: reads its input, and asks it for its background.

The answer comes among the keys, some time or never; nothing waits for it.
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
from tui.terminal.input_parser import BackgroundTold, ColorsChanged, InputParser
from tui.terminal.output import PacedDriver
from tui.terminal.sequences import Lexer
from tui.terminal.textual_internals import fail

_TELL_CHANGES: Final = "\x1b[?2031h"
_TELL_NO_CHANGES: Final = "\x1b[?2031l"
_POINTER_BACK: Final = "\x1b]22;\x1b\\"
"""The pointer has its usual shape again, which Textual changes over what can be pressed."""
_ASK: Final = "\x1b]11;?\x07"

PATIENCE: Final = 2.0
"""Seconds for which an answer is expected, and that lie between two questions."""
UNANSWERED: Final = 3
"""After so many questions without an answer no more are asked."""

_LOOK: Final = 0.1
"""Seconds between two looks at whether the screen has closed."""
_PIECE: Final = 1 << 12
_BURST: Final = 64
"""Bytes of a read from which on nobody typed them one by one."""
_REST_WAIT: Final = 0.01
"""Seconds in which the rest of such a read comes."""
_LONGEST: Final = 1 << 16
"""Bytes that are taken together."""


@dataclass(slots=True)
class Questions:
    """When the terminal is asked: not too often, and not for ever where it does not answer."""

    write: Callable[[str], object]
    environ: Mapping[str, str]
    clock: Callable[[], float] = time.monotonic
    are_changes_told: bool = False
    """Whether the terminal reports changes by itself (its mode 2031)."""
    _asked: float | None = None
    _open: int = 0

    @property
    def is_possible(self) -> bool:
        """Whether this terminal takes a question without showing it as text."""
        return self.environ.get("TERM", "") not in ("", "dumb", "linux")

    def ask(self, *, at_once: bool = False) -> None:
        """Ask, unless that was done a moment ago (`at_once`: even then) or is of no use."""
        now = self.clock()
        is_early = self._asked is not None and now - self._asked < PATIENCE
        if not self.is_possible or self._open >= UNANSWERED or (is_early and not at_once):
            return
        self._asked = now
        self._open += 1
        # GNU screen hands a question on only if it is wrapped; tmux answers it itself.
        wrapped = "STY" in self.environ and "TMUX" not in self.environ
        self.write(f"\x1bP{_ASK}\x1b\\" if wrapped else _ASK)

    def answered(self) -> None:
        """The terminal does answer."""
        self._open = 0


class TerminalDriver(PacedDriver):
    """Textual's driver, which asks for the background besides."""

    def __init__(
        self,
        app: App[object],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self.questions = Questions(self.write, os.environ)
        self.is_bound: Callable[[str], bool] = lambda key: False
        """Whether a combination such as `alt+x` does something. Called on the input's thread."""

    def start_application_mode(self) -> None:
        """Take the terminal, and ask."""
        super().start_application_mode()
        if self.questions.is_possible:
            self.write(_TELL_CHANGES)
        self.questions.ask(at_once=True)

    def stop_application_mode(self) -> None:
        """Give the terminal back as it was."""
        if self.questions.is_possible:
            self.write(_TELL_NO_CHANGES + _POINTER_BACK)
        super().stop_application_mode()

    def run_input_thread(self) -> None:
        """Read until the screen closes, and hand on what fails.

        Textual's own fails at bytes that are not UTF-8, and ends the program with exit code 0.
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
            text = decode(self._read(_LOOK if wait is None else min(wait, _LOOK)))
            for message in parser.feed(text) if text else parser.tick():
                self.process_message(message)

    def _read(self, wait: float) -> bytes:
        """What the terminal sends within this time; the rest of what is long comes along."""
        data = b""
        while len(data) < _LONGEST and select.select([self.fileno], [], [], wait)[0]:
            try:
                piece = os.read(self.fileno, _PIECE)
            except OSError:
                piece = b""
            if not piece:  # It is gone, of which others tell.
                self.exit_event.wait(_LOOK)
                break
            data += piece
            if len(data) < _BURST:
                break
            wait = _REST_WAIT
        return data

    def process_message(self, message: Message) -> None:
        """Ask again when something may have changed. Called on the thread of the input."""
        match message:
            case BackgroundTold():
                self.questions.answered()
            case ColorsChanged():
                self.questions.are_changes_told = True
                self.questions.ask(at_once=True)
                return
            case AppFocus() if not self.questions.are_changes_told:
                self.questions.ask()
        super().process_message(message)
