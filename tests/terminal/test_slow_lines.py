"""Bytes that Spinney writes over SSH; `make bench` measures the time that they take."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.on_terminal import OnTerminal
from tests.patience import PATIENCE
from tests.program import Program
from tests.terminal.emulator import Emulator

COLUMNS, ROWS = 80, 24
SSH = {"SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22", "COLORTERM": "truecolor"}
SETTLING = 1.0
"""Seconds after which a screen is completely drawn."""
STILL = 1.2
"""Seconds in which a blinking cursor would blink twice."""
WORDS = 600
MINUTE = 20 * 60
"""Words that an agent writes in a minute."""


class Line:
    """A terminal over SSH that counts the bytes written to it."""

    def __init__(self, terminal: OnTerminal) -> None:
        self._terminal = terminal
        self._emulator = Emulator(COLUMNS, ROWS)
        self._emulator.on_question = lambda: terminal.write(b"\x1b[0n")
        self._read = 0
        self._counted = 0

    def type(self, keys: str) -> None:
        self._terminal.write(keys.encode())

    def count_until(self, pattern: str) -> int:
        """Wait until the screen matches `pattern`; return the bytes since the last count."""
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, "\n".join(self._emulator.text)):
            assert time.monotonic() < end, f"never showed {pattern!r}: {self._emulator.text}"
            self._receive(0.1)
        return self._count()

    def count_for(self, seconds: float) -> int:
        """Read for `seconds`; return the bytes since the last count."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._receive(left)
        return self._count()

    def _receive(self, seconds: float) -> None:
        self._terminal.read(seconds)
        new = bytes(self._terminal.output[self._read :])
        # The last character may be incomplete.
        text = new.decode(errors="ignore")
        self._read += len(text.encode())
        self._emulator.feed(text)

    def _count(self) -> int:
        before, self._counted = self._counted, len(self._terminal.output)
        return self._counted - before


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    """The terminal of a demo that is starting."""
    spinney = Program(tmp_path, environ=SSH)
    with spinney.on_a_terminal("demo", columns=COLUMNS, rows=ROWS) as terminal:
        yield Line(terminal)


def test_a_screen_costs_only_the_bytes_of_its_changes(line: Line) -> None:
    started = line.count_until("This agent is a demonstration")
    started += line.count_until("Message Demo agent")
    assert started < 16_000
    line.type("\x10")
    assert line.count_until("New session") < 8_000
    assert line.count_for(SETTLING) < 4_000
    assert line.count_for(STILL) == 0
    line.type("tidal")
    assert line.count_until("Search for commands|tidal") < 8_000
    line.type("\x1b[27u")
    line.count_until("Message Demo agent")
    line.type("\x1bOQ")
    assert line.count_until("▾ orchard") < 4_000


def test_streamed_text_costs_little_more_than_its_letters(line: Line) -> None:
    line.count_until("Message Demo agent")
    line.type(f"/demo stream {WORDS} 100\r")
    line.count_until(r" 1\d:")
    # 240 KB a minute; each word of the demo has about twenty letters.
    assert line.count_until(f" {WORDS - 1}:") < 240_000 * WORDS / MINUTE
