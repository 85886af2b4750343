"""A lexer that splits terminal input into text, keys, control sequences and pastes.

A connection may tear a sequence anywhere, lose a part of it or never complete it. So the beginning
of a sequence is held for a limited time; invalid sequences are dropped and never typed. The cost is
linear, and the buffer is bounded.
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
"""Seconds after which a lone ESC is the escape key."""
REMOTE_ESCAPE_DELAY: Final = 0.3
"""The same over SSH, where the rest of an arrow key may arrive late."""
PREFIX_DELAY: Final = 0.5
"""Seconds after which ESC and `[` or `O` alone are two keys, and after which a lone ESC is a key if
the terminal has a sequence for the escape key."""
SEQUENCE_DELAY: Final = 2.0
"""Seconds to wait for the rest of a sequence that cannot be typed keys."""
PASTE_DELAY: Final = 3.0
"""Seconds without input after which a key ends a paste whose end was lost."""
BURST_DELAY: Final = 0.1
"""Maximum seconds between two pieces of a paste without brackets."""

MAX_SEQUENCE: Final = 256
"""Maximum characters of a sequence; the rest of a longer one is read and dropped."""
MAX_PASTE: Final = 1 << 24
"""Maximum characters of a paste; a longer one is split."""
_MIN_PASTED_LINES: Final = 3
"""At least this many lines of text in one read were pasted, not typed: enter is part of them."""


class Kind(Enum):
    """The kind of a token."""

    TEXT = auto()
    """Printable characters."""
    CONTROL = auto()
    """One control character; a lone ESC is the escape key."""
    ALT = auto()
    """ESC and the following character, as terminals send alt and a key."""
    SEQUENCE = auto()
    """A control sequence (`ESC [` …) or a single shift (`ESC O` …)."""
    STRING = auto()
    """An operating system command (`ESC ] …`), without its end; others are dropped."""
    PASTE = auto()
    """A pasted text, without the brackets."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the input."""

    kind: Kind
    text: str


Tokens = Generator[Token, None, int]

_PLAIN = re.compile(r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+")
"""Text, including the control characters that are allowed in it."""
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
"""The beginning of an invalid sequence."""
_INCOMPLETE = re.compile(r"\x1b(?:\[(?:M[^\x1b]{0,2}|\[|<[-\d;]*|[0-?]*[ -/]*)?|[O\]P_])?\Z")
"""An incomplete sequence or key."""
_STRING = re.compile(r"\x1b(?:\](?=[\dlLI])|P(?=[\d;<=>?!$+|])|_(?=[\dA-Za-z]))")
"""The beginning of a string answer of the terminal; not plausible as typed alt and letters."""
_STRING_END = re.compile(r"[\x00-\x1f\x7f\x9c]")
_TORN_REST = re.compile(
    r"(?:\[(?:[A-DFHIOZ]|<[-\d;]*[mM]?|[\d;:]+[~A-Znu]|[?>][\d;]*(?:[cnu]|\$y))|O[A-DFHP-S])"
    r"(?=\x1b|\Z)|\[200~|\]\d+;|P(?:[01][+$]r|[>!]\|)|_G"
)
"""The rest of a sequence after a torn ESC; not plausible as typed text."""


class Lexer:
    """Splits a stream that arrives in pieces."""

    def __init__(
        self,
        *,
        escape_delay: float = ESCAPE_DELAY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.escape_delay = escape_delay
        self._clock = clock
        self._last_input = 0.0
        """When the last piece arrived."""
        self._held = ""
        """The beginning of a sequence."""
        self._string: str | None = None
        """The beginning of an unfinished string."""
        self._paste: list[str] | None = None
        """The pieces of an unfinished paste."""
        self._paste_length = 0
        """Their total length."""
        self._escape_time = float("-inf")
        """When a lone ESC was last emitted as the escape key."""
        self._last_pasted_lines = float("-inf")
        """When lines pasted without brackets last arrived."""

    def feed(self, data: str) -> Iterator[Token]:
        """The tokens of the next piece."""
        now = self._clock()
        gap, self._last_input = now - self._last_input, now
        if self._has_lost_end(data, gap):
            yield from self.flush()
        if now - self._escape_time < SEQUENCE_DELAY and _TORN_REST.match(data):
            data = ESC + data
        self._escape_time = float("-inf")
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
        """The tokens that are due because time has passed."""
        delay = self._delay()
        if delay is not None and self._clock() - self._last_input >= delay:
            yield from self._release_held()

    def wait(self) -> float | None:
        """Seconds until `tick` should be called; `None` if nothing is held."""
        delay = self._delay()
        return None if delay is None else max(0.0, self._last_input + delay - self._clock())

    def flush(self) -> Iterator[Token]:
        """Complete all unfinished tokens without waiting."""
        if self._paste is not None:
            pasted, self._paste = "".join((*self._paste, self._held)), None
            self._held = ""
            yield Token(Kind.PASTE, pasted)
        yield from self._release_held()

    # Held input ---------------------------------------------------------------------------------

    def _delay(self) -> float | None:
        if self._paste is not None or not (self._held or self._string is not None):
            return None
        if self._string is None and self._held == ESC:
            return self.escape_delay
        if self._held in (f"{ESC}[", f"{ESC}O"):
            return max(PREFIX_DELAY, self.escape_delay)
        return SEQUENCE_DELAY

    def _release_held(self) -> Iterator[Token]:
        held, self._held = self._held, ""
        if self._string is not None:
            self._string = None
        elif held == ESC:
            self._escape_time = self._clock()
            yield Token(Kind.CONTROL, ESC)
        elif len(held) == 2:
            yield Token(Kind.ALT, held[1])

    def _has_lost_end(self, data: str, gap: float) -> bool:
        """Whether the end of a paste was lost: a key was pressed after a long pause."""
        if self._paste is None or gap < PASTE_DELAY:
            return False
        is_key = len(data) == 1 or data.startswith(ESC)
        return is_key and not PASTE_END.startswith((self._held + data)[: len(PASTE_END)])

    # One token ----------------------------------------------------------------------------------
    # Each reads a token at a position of the data, and returns the position after it.

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
        if lines < _MIN_PASTED_LINES and self._last_input - self._last_pasted_lines >= BURST_DELAY:
            return False
        self._last_pasted_lines = self._last_input
        return True

    def _read_escape(self, data: str, at: int) -> Tokens:
        if data.startswith(PASTE_START, at):
            self._paste, self._paste_length = [], 0
            return at + len(PASTE_START)
        if (string := _STRING.match(data, at)) is not None:
            self._string = data[at + 1]
            return string.end()
        if (sequence := _SEQUENCE.match(data, at)) is not None:
            yield Token(Kind.SEQUENCE, sequence.group())
            return sequence.end()
        if _INCOMPLETE.match(data, at) is not None:
            self._held = data[at : at + MAX_SEQUENCE]
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
        self._string += data[at : min(stop, at + MAX_SEQUENCE - len(self._string))]
        if end is None:
            return stop
        if stop == len(data) - 1 and data[stop] == ESC:  # perhaps the first half of the end
            self._held = ESC
            return len(data)
        command, self._string = self._string, None
        is_long_end = data.startswith(f"{ESC}\\", stop)
        if not is_long_end and end.group() not in "\x07\x9c":
            return stop  # interrupted by the next sequence
        if command[0] == "]":
            yield Token(Kind.STRING, command[1:])
        return stop + 1 + is_long_end

    def _read_paste(self, data: str, at: int) -> Tokens:
        assert self._paste is not None
        end = data.find(PASTE_END, at)
        stop = end if end >= 0 else len(data) - _partial_end_length(data)
        self._paste.append(data[at:stop])
        self._paste_length += stop - at
        if end < 0 and self._paste_length < MAX_PASTE:
            self._held = data[stop:]
            return len(data)
        yield Token(Kind.PASTE, "".join(self._paste))
        self._paste, self._paste_length = (None if end >= 0 else []), 0
        return stop + len(PASTE_END) if end >= 0 else stop


def _partial_end_length(data: str) -> int:
    """The length of the suffix that may be the beginning of a paste's end."""
    return next(
        (
            length
            for length in range(len(PASTE_END) - 1, 0, -1)
            if data.endswith(PASTE_END[:length])
        ),
        0,
    )
