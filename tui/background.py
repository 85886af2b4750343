"""Asks the terminal for its background, and hears it say that its colours changed.

The answer comes among the keys, some time or never; nothing waits for it. It is taken out of the
input before that is read as keys: an answer must not be written into the message box.
"""

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from textual.app import App
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import AppFocus
from textual.message import Message

from themes.contrast import is_dark
from tui.pasting import QuickParser

_TELL_CHANGES: Final = "\x1b[?2031h"
_TELL_NO_CHANGES: Final = "\x1b[?2031l"
_ASK: Final = "\x1b]11;?\x07"

PATIENCE: Final = 2.0
"""Seconds for which an answer is expected, and that lie between two questions."""
UNANSWERED: Final = 3
"""After so many questions without an answer no more are asked."""
_PIECES_APART: Final = 0.05
"""Seconds between two pieces of one answer."""

_ANSWER = re.compile(
    r"\x1b\]11;(?:rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})"
    r"(?:/[0-9a-fA-F]{1,4})?|[^\x07\x1b]{0,64})(?:\x07|\x1b\\)"
    r"|\x1b\[\?997;([12])n"
)
_BEGUN = re.compile(
    r"\x1b(?:\](?:1(?:1(?:;[^\x07\x1b]{0,64}\x1b?)?)?)?|\[(?:\?(?:9(?:9(?:7(?:;[12]?)?)?)?)?)?)?\Z"
)


class BackgroundTold(Message):
    """The terminal said what its background is."""

    def __init__(self, *, dark: bool) -> None:
        super().__init__()
        self.dark = dark


class ColorsChanged(Message):
    """The terminal said that its colours are others now."""


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

    @property
    def is_awaited(self) -> bool:
        """Whether an answer may come just now."""
        asked = self._asked is not None and self.clock() - self._asked < PATIENCE
        return asked and self._open > 0

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


class AnsweringParser(QuickParser):
    """Textual's reader of input, without the answers among the keys.

    `is_awaited` tells whether an answer may come just now: then even a single escape is held for
    a moment, because it may be the beginning of one.
    """

    def __init__(self, is_awaited: Callable[[], bool], *, debug: bool = False) -> None:
        super().__init__(debug)
        self._is_awaited = is_awaited
        self._held = ""
        self._held_since = 0.0

    def feed(self, data: str) -> Iterable[Message]:
        """Keys and what the terminal said, in their order; an answer may come in pieces."""
        text, self._held = self._held + data, ""
        begun = _BEGUN.search(text) if data else None
        if begun is not None and (len(begun.group()) > 2 or self._is_awaited()):
            self._held, self._held_since = begun.group(), time.monotonic()
            text = text[: begun.start()]
        at = 0
        for answer in _ANSWER.finditer(text):
            if before := text[at : answer.start()]:
                yield from super().feed(before)
            at = answer.end()
            if (message := _message(answer)) is not None:
                yield message
        if (rest := text[at:]) or not data:
            yield from super().feed(rest)

    def tick(self) -> Iterable[Message]:
        """What only looked like the beginning of an answer is a key after all."""
        if self._held and time.monotonic() - self._held_since > _PIECES_APART:
            held, self._held = self._held, ""
            yield from super().feed(held)
        yield from super().tick()


def _message(answer: re.Match[str]) -> Message | None:
    *channels, changed = answer.groups()
    if changed:
        return ColorsChanged()
    if channels[0] is None:
        return None  # an answer in words that nobody knows
    color = "#" + "".join(f"{_byte(channel):02x}" for channel in channels)
    return BackgroundTold(dark=is_dark(color))


def _byte(digits: str) -> int:
    """One to four hexadecimal digits as a share of their greatest, of 255."""
    return round(int(digits, 16) / int("f" * len(digits), 16) * 255)


class TerminalDriver(LinuxDriver):
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

    def start_application_mode(self) -> None:
        """Take the terminal, and ask."""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if self.questions.is_possible:
            self.write(_TELL_CHANGES)
        self.questions.ask(at_once=True)

    def stop_application_mode(self) -> None:
        """Give the terminal back as it was."""
        if self.questions.is_possible:
            self.write(_TELL_NO_CHANGES)
        super().stop_application_mode()

    def run_input_thread(self) -> None:
        """Read with our parser; Textual offers no other way to choose one."""
        parser = partial(AnsweringParser, lambda: self.questions.is_awaited)
        # It is looked up by its name, which is why it can be put in its place.
        linux_driver.__dict__["XTermParser"] = lambda debug: parser(debug=debug)
        super().run_input_thread()

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
