"""Divides the characters that a terminal sends into text, keys, control sequences and pastes.

A line may tear a sequence anywhere, lose a part of it or never end it. So what may be the beginning
of one is held for a while, and no longer; what cannot become a key is dropped and never typed. The
cost is linear, and what is held is bounded.
"""

import re
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

ESC: Final = "\x1b"
PASTE_START: Final = "\x1b[200~"
PASTE_END: Final = "\x1b[201~"

ESCAPE_DELAY: Final = 0.1
"""Seconds after which an ESC that nothing followed is the escape key."""
REMOTE_ESCAPE_DELAY: Final = 0.3
"""The same over SSH, where the rest of an arrow key may come late."""
PREFIX_DELAY: Final = 0.5
"""Seconds after which ESC and `[` or `O` alone are two keys, and an ESC alone is one where the
terminal has a sequence for that key."""
SEQUENCE_DELAY: Final = 2.0
"""Seconds within which a sequence goes on that no key begins like."""
PASTE_DELAY: Final = 3.0
"""Seconds of silence after which a key ends a paste whose end was lost."""
BURST_DELAY: Final = 0.1
"""Seconds within which a paste without brackets goes on."""

LONGEST_KEPT: Final = 256
"""Characters of one sequence that are kept; the rest of a longer one is read and dropped."""
LONGEST_PASTE: Final = 1 << 24
"""Characters of one paste; a longer one comes as several."""
_PASTED_LINES: Final = 3
"""So many lines with text in one read were pasted, not typed: enter is a part of them."""


class Kind(Enum):
    """What a token is."""

    TEXT = auto()
    """Characters that no terminal takes for commands."""
    CONTROL = auto()
    """One control character; a lone ESC is the escape key."""
    ALT = auto()
    """ESC and the character behind it, as terminals send alt and a key."""
    SEQUENCE = auto()
    """A control sequence (`ESC [` …) or a single shift (`ESC O` …)."""
    STRING = auto()
    """An operating system command (`ESC ] …`), without its end; others are dropped."""
    PASTE = auto()
    """What was pasted, without the brackets."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the input."""

    kind: Kind
    text: str


Tokens = Generator[Token, None, int]

_PLAIN = re.compile(r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+")
"""Text, and the control characters that a text may have."""
_PIECE = re.compile(r"[^\t\r\n]+|[\t\r\n]")
_BREAKS = re.compile(r"[\r\n]+")
_SEQUENCE = re.compile(
    r"\x1b(?:"
    r"\[M[^\x1b]{3}"  # a mouse report of the oldest form
    r"|\[\[[A-E]"  # function keys of the Linux console
    r"|\[\d+\$(?!y)"  # shift and a key in rxvt
    r"|\[<[-\d;]*[mM]"
    r"|\[(?![\[M<])[0-?]*[ -/]*[@-~]"
    r"|O[A-FHMP-Sa-dj-y]"
    r")"
)
_BROKEN = re.compile(r"\x1b\[(?:<[-\d;]*|[0-?]+[ -/]*)")
"""The beginning of a sequence that goes on as none."""
_BEGUN = re.compile(r"\x1b(?:\[(?:M[^\x1b]{0,2}|\[|<[-\d;]*|[0-?]*[ -/]*)?|[O\]P_])?\Z")
"""A sequence, or a key, whose rest may still come."""
_STRING = re.compile(r"\x1b(?:\](?=[\dlLI])|P(?=[\d;<=>?!$+|])|_(?=[\dA-Za-z]))")
"""The beginning of what terminals answer in words; nobody types on like that behind alt."""
_STRING_END = re.compile(r"[\x00-\x1f\x7f\x9c]")
_REST = re.compile(
    r"(?:\[(?:[A-DFHIOZ]|<[-\d;]*[mM]?|[\d;:]+[~A-Znu]|[?>][\d;]*(?:[cnu]|\$y))|O[A-DFHP-S])"
    r"(?=\x1b|\Z)|\[200~|\]\d+;|P(?:[01][+$]r|[>!]\|)|_G"
)
"""What follows a torn ESC and is hardly typed by anybody in one piece."""


class Lexer:
    """Divides a stream that comes in pieces."""

    def __init__(
        self,
        *,
        escape_delay: float = ESCAPE_DELAY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.escape_delay = escape_delay
        self._clock = clock
        self._since = 0.0
        """When the last piece came."""
        self._held = ""
        """The beginning of a sequence."""
        self._string: str | None = None
        """The beginning of a string that has not ended."""
        self._paste: list[str] | None = None
        """The pieces of a paste that has not ended."""
        self._pasted = 0
        """How many characters they have."""
        self._escaped = float("-inf")
        """When an ESC was taken for the escape key because nothing had followed."""
        self._lines_pasted = float("-inf")
        """When lines came last that were pasted without brackets."""

    def feed(self, data: str) -> Iterator[Token]:
        """The tokens in the next piece."""
        now = self._clock()
        gap, self._since = now - self._since, now
        if self._is_lost(data, gap):
            yield from self.flush()
        if now - self._escaped < SEQUENCE_DELAY and _REST.match(data):
            data = ESC + data
        self._escaped = float("-inf")
        data, self._held = self._held + data, ""
        at = 0
        while at < len(data):
            if self._paste is not None:
                at = yield from self._read_paste(data, at)
            elif self._string is not None:
                at = yield from self._read_string(data, at)
            elif data[at] == ESC:
                at = yield from self._read_escape(data, at)
            else:
                at = yield from self._read_plain(data, at)

    def tick(self) -> Iterator[Token]:
        """What the time that went by makes of what is held."""
        delay = self._delay()
        if delay is not None and self._clock() - self._since >= delay:
            yield from self._give_up()

    def wait(self) -> float | None:
        """Seconds until `tick` has something to say; `None` while nothing is held."""
        delay = self._delay()
        return None if delay is None else max(0.0, self._since + delay - self._clock())

    def flush(self) -> Iterator[Token]:
        """End everything that has begun; no more is awaited."""
        if self._paste is not None:
            pasted, self._paste = "".join((*self._paste, self._held)), None
            self._held = ""
            yield Token(Kind.PASTE, pasted)
        yield from self._give_up()

    # What is held -------------------------------------------------------------------------------

    def _delay(self) -> float | None:
        if self._paste is not None or not (self._held or self._string is not None):
            return None
        if self._string is None and self._held == ESC:
            return self.escape_delay
        if self._held in (f"{ESC}[", f"{ESC}O"):
            return max(PREFIX_DELAY, self.escape_delay)
        return SEQUENCE_DELAY

    def _give_up(self) -> Iterator[Token]:
        held, self._held = self._held, ""
        if self._string is not None:
            self._string = None
        elif held == ESC:
            self._escaped = self._clock()
            yield Token(Kind.CONTROL, ESC)
        elif len(held) == 2:
            yield Token(Kind.ALT, held[1])

    def _is_lost(self, data: str, gap: float) -> bool:
        """Whether a paste's end does not come any more: somebody presses a key instead."""
        if self._paste is None or gap < PASTE_DELAY:
            return False
        is_key = len(data) == 1 or data.startswith(ESC)
        return is_key and not PASTE_END.startswith((self._held + data)[: len(PASTE_END)])

    # One token ----------------------------------------------------------------------------------
    # Each takes one from a place in the data, and returns the place behind it.

    def _read_plain(self, data: str, at: int) -> Tokens:
        if (run := _PLAIN.match(data, at)) is None:
            if data[at] < "\x80":
                yield Token(Kind.CONTROL, data[at])
            return at + 1
        if self._is_pasted(run.group()):
            yield Token(Kind.PASTE, run.group())
        else:
            for piece in _PIECE.findall(run.group()):
                yield Token(Kind.CONTROL if piece in "\t\r\n" else Kind.TEXT, piece)
        return run.end()

    def _is_pasted(self, run: str) -> bool:
        lines = sum(1 for line in _BREAKS.split(run) if line.strip())
        if lines < _PASTED_LINES and self._since - self._lines_pasted >= BURST_DELAY:
            return False
        self._lines_pasted = self._since
        return True

    def _read_escape(self, data: str, at: int) -> Tokens:
        if data.startswith(PASTE_START, at):
            self._paste, self._pasted = [], 0
            return at + len(PASTE_START)
        if (string := _STRING.match(data, at)) is not None:
            self._string = data[at + 1]
            return string.end()
        if (sequence := _SEQUENCE.match(data, at)) is not None:
            yield Token(Kind.SEQUENCE, sequence.group())
            return sequence.end()
        if _BEGUN.match(data, at) is not None:
            self._held = data[at : at + LONGEST_KEPT]
            return len(data)
        if (broken := _BROKEN.match(data, at)) is not None:
            return broken.end()
        if data[at + 1] == ESC:
            yield Token(Kind.CONTROL, ESC)
            return at + 1
        yield Token(Kind.ALT, data[at + 1])
        return at + 2

    def _read_string(self, data: str, at: int) -> Tokens:
        assert self._string is not None
        end = _STRING_END.search(data, at)
        stop = end.start() if end is not None else len(data)
        self._string += data[at : min(stop, at + LONGEST_KEPT - len(self._string))]
        if end is None:
            return stop
        if stop == len(data) - 1 and data[stop] == ESC:  # perhaps the first half of the end
            self._held = ESC
            return len(data)
        whole, self._string = self._string, None
        is_long_end = data.startswith(f"{ESC}\\", stop)
        if not is_long_end and end.group() not in "\x07\x9c":
            return stop  # broken off by what comes now
        if whole[0] == "]":
            yield Token(Kind.STRING, whole[1:])
        return stop + 1 + is_long_end

    def _read_paste(self, data: str, at: int) -> Tokens:
        assert self._paste is not None
        end = data.find(PASTE_END, at)
        stop = end if end >= 0 else len(data) - _half_end(data)
        self._paste.append(data[at:stop])
        self._pasted += stop - at
        if end < 0 and self._pasted < LONGEST_PASTE:
            self._held = data[stop:]
            return len(data)
        yield Token(Kind.PASTE, "".join(self._paste))
        self._paste, self._pasted = (None if end >= 0 else []), 0
        return stop + len(PASTE_END) if end >= 0 else stop


def _half_end(data: str) -> int:
    """How many characters at the end may be the first half of a paste's end."""
    return next(
        (half for half in range(len(PASTE_END) - 1, 0, -1) if data.endswith(PASTE_END[:half])), 0
    )
