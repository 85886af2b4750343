"""Pastes read in pieces: by the character, as Textual does, a megabyte takes seconds."""

import time
from collections.abc import Iterable
from typing import Any, Final

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.message import Message

_END: Final = BRACKETED_PASTE_END
_START: Final = BRACKETED_PASTE_START
_PATIENCE: Final = 0.1
"""Seconds in which the rest of a sequence comes."""


class QuickParser(XTermParser):
    """Textual's parser of what a terminal sends, but for what is pasted."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._pasted: str | None = None
        """What came of a paste that is not over."""
        self._half = ""
        self._half_since = 0.0

    def feed(self, data: str) -> Iterable[Message]:
        """The events in what the terminal sent; nothing at all is its end."""
        if not data:
            yield from super().feed(data)
        data, self._half = self._half + data, ""
        while data:
            if self._pasted is None:
                typed, start, data = data.partition(_START)
                if not start:
                    typed = self._without_half_a_start(typed)
                if typed:
                    yield from super().feed(typed)
                self._pasted = "" if start else None
                continue
            # The end may have come in two pieces.
            known = max(0, len(self._pasted) - len(_END))
            self._pasted += data
            at = self._pasted.find(_END, known)
            if at < 0:
                return
            text, data = self._pasted[:at], self._pasted[at + len(_END) :]
            self._pasted = None
            yield events.Paste(text.replace("\0", ""))

    def tick(self) -> Iterable[Message]:
        """What looked like the beginning of a paste, and was a key after all."""
        if self._half and time.monotonic() - self._half_since > _PATIENCE:
            held, self._half = self._half, ""
            yield from super().feed(held)
        yield from super().tick()

    def _without_half_a_start(self, typed: str) -> str:
        """Hold back what may be the first half of a paste's beginning.

        Not a lone ESC, which is a key that people wait for.
        """
        for length in range(len(_START) - 1, 1, -1):
            if typed.endswith(_START[:length]):
                self._half, self._half_since = _START[:length], time.monotonic()
                return typed[:-length]
        return typed
