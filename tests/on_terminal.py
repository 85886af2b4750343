"""A program on a pseudo-terminal: typed into, and read as bytes or as the screen they draw."""

import os
import select
import subprocess
import time
from dataclasses import dataclass, field
from typing import Any

import pyte

from tests.patience import PATIENCE

ALTERNATE_SCREEN = 1049


class Screen(pyte.Screen):
    """An emulated screen that answers no question, as a plain terminal; the alternate screen, and
    the one that is behind it, begin empty."""

    def set_mode(self, *modes: int, **options: Any) -> None:
        super().set_mode(*modes, **options)
        self._empty_where_changed(*modes)

    def reset_mode(self, *modes: int, **options: Any) -> None:
        super().reset_mode(*modes, **options)
        self._empty_where_changed(*modes)

    def _empty_where_changed(self, *modes: int) -> None:
        if ALTERNATE_SCREEN in modes:
            self.erase_in_display(2)

    def report_device_attributes(self, *_args: Any, **_options: Any) -> None:
        """Say nothing."""

    def report_device_status(self, *_args: Any, **_options: Any) -> None:
        """Say nothing."""


@dataclass
class OnTerminal:
    """A program, and the terminal that it is on."""

    process: "subprocess.Popen[bytes]"
    outside: int
    """What a person reads and types into."""
    inside: int
    """What the program writes to; kept open where a test asks for its state."""
    columns: int = 120
    rows: int = 40
    output: bytearray = field(default_factory=bytearray)
    """All that was read."""

    _waited: int = 0
    """Where in the output the last bytes end that were waited for."""
    _drawn: int = 0
    """How much of the output the screen has been fed."""

    def __post_init__(self) -> None:
        self._screen = Screen(self.columns, self.rows)
        self._stream = pyte.ByteStream(self._screen)

    def write(self, keys: bytes) -> None:
        """Type."""
        os.write(self.outside, keys)

    def read(self, seconds: float = 0.1) -> bool:
        """Take what comes within this time; False once nobody writes there any more."""
        if not select.select([self.outside], [], [], max(0.0, seconds))[0]:
            return True
        try:
            self.output += os.read(self.outside, 65536)
        except OSError:  # Linux says so when the last program has closed the terminal.
            return False
        return True

    def comes(self, wanted: bytes, seconds: float) -> bool:
        """Whether these bytes come within this time, behind those that were waited for last."""
        end, at = time.monotonic() + seconds, self._waited
        while self.output.find(wanted, at) < 0:
            at = max(self._waited, len(self.output) - len(wanted))
            if time.monotonic() > end or not self.read(end - time.monotonic()):
                return wanted in self.output[at:]
        return True

    def read_until(self, wanted: bytes) -> bytes:
        """Read until these bytes came; what was read.

        They are for what a program says outside of its screen, and for control sequences: words of
        a screen may be drawn in pieces and in any order, see `shows`.
        """
        assert self.comes(wanted, PATIENCE), bytes(self.output[-2000:])
        begin = self._waited
        self._waited = self.output.index(wanted, begin) + len(wanted)
        return bytes(self.output[begin : self._waited])

    def read_to_end(self) -> bytes:
        """Read until nobody writes there any more; what was read."""
        os.close(self.inside)
        self.inside = -1
        end, begin = time.monotonic() + PATIENCE, self._waited
        while self.read(end - time.monotonic()):
            assert time.monotonic() < end, bytes(self.output[-2000:])
        return bytes(self.output[begin:])

    @property
    def screen(self) -> list[str]:
        """The rows of the screen, as far as it was read."""
        self._stream.feed(bytes(self.output[self._drawn :]))
        self._drawn = len(self.output)
        return list(self._screen.display)

    def shows(self, words: str) -> None:
        """Read until the screen shows these words in one row."""
        end = time.monotonic() + PATIENCE
        while not any(words in row for row in self.screen):
            assert time.monotonic() < end and self.read(), "\n".join([words, *self.screen])
        self._waited = len(self.output)

    def vanish(self) -> None:
        """Be gone, as when a window is killed; no signal says so to who is not its session."""
        for descriptor in (self.inside, self.outside):
            os.close(descriptor)
        self.inside = self.outside = -1

    def wait_until_full(self) -> None:
        """Read nothing until the terminal takes nothing more."""
        end = time.monotonic() + PATIENCE
        while select.select([], [self.inside], [], 0)[1]:
            assert time.monotonic() < end, "the terminal still takes what is written"
            time.sleep(0.02)
