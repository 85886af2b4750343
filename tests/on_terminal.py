"""A program on a pseudo-terminal: input, and output as bytes or as an emulated screen."""

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
    """An emulated plain terminal, which answers no queries.

    The screen is cleared whenever the alternate screen is switched on or off.
    """

    def set_mode(self, *modes: int, **options: Any) -> None:
        super().set_mode(*modes, **options)
        self._clear_if_switched(*modes)

    def reset_mode(self, *modes: int, **options: Any) -> None:
        super().reset_mode(*modes, **options)
        self._clear_if_switched(*modes)

    def _clear_if_switched(self, *modes: int) -> None:
        if ALTERNATE_SCREEN in modes:
            self.erase_in_display(2)

    def report_device_attributes(self, *_args: Any, **_options: Any) -> None:
        """Do not answer."""

    def report_device_status(self, *_args: Any, **_options: Any) -> None:
        """Do not answer."""


@dataclass
class OnTerminal:
    """A process and the pseudo-terminal that it runs on."""

    process: "subprocess.Popen[bytes]"
    outside: int
    """The side that tests read from and type into."""
    inside: int
    """The side that the program writes to; kept open so that tests can query its state."""
    columns: int = 120
    rows: int = 40
    output: bytearray = field(default_factory=bytearray)
    """All output read so far."""

    _waited: int = 0
    """The offset in `output` behind the bytes that were waited for last."""
    _drawn: int = 0
    """The length of the output that the screen has processed."""

    def __post_init__(self) -> None:
        self._screen = Screen(self.columns, self.rows)
        self._stream = pyte.ByteStream(self._screen)

    def write(self, keys: bytes) -> None:
        """Send keys to the program."""
        os.write(self.outside, keys)

    def read(self, seconds: float = 0.1) -> bool:
        """Read what arrives within `seconds`; False once every writer closed the terminal."""
        if not select.select([self.outside], [], [], max(0.0, seconds))[0]:
            return True
        try:
            self.output += os.read(self.outside, 65536)
        except OSError:  # on Linux, once the last program closed the terminal
            return False
        return True

    def wait_for_output(self, wanted: bytes, seconds: float) -> bool:
        """Whether `wanted` arrives within `seconds`, behind the bytes that were waited for last."""
        end, at = time.monotonic() + seconds, self._waited
        while self.output.find(wanted, at) < 0:
            at = max(self._waited, len(self.output) - len(wanted))
            if time.monotonic() > end or not self.read(end - time.monotonic()):
                return wanted in self.output[at:]
        return True

    def read_until(self, wanted: bytes) -> bytes:
        """Read up to and including `wanted`, and return what was read.

        Use it for messages outside the screen and for control sequences. Text of the screen may be
        drawn in pieces and in any order: see `wait_for_text`.
        """
        assert self.wait_for_output(wanted, PATIENCE), bytes(self.output[-2000:])
        begin = self._waited
        self._waited = self.output.index(wanted, begin) + len(wanted)
        return bytes(self.output[begin : self._waited])

    def read_to_end(self) -> bytes:
        """Read until every writer closed the terminal, and return what was read."""
        os.close(self.inside)
        self.inside = -1
        end, begin = time.monotonic() + PATIENCE, self._waited
        while self.read(end - time.monotonic()):
            assert time.monotonic() < end, bytes(self.output[-2000:])
        return bytes(self.output[begin:])

    @property
    def screen(self) -> list[str]:
        """The rows of the screen after the output read so far."""
        self._stream.feed(bytes(self.output[self._drawn :]))
        self._drawn = len(self.output)
        return list(self._screen.display)

    def wait_for_text(self, text: str) -> None:
        """Read until a row of the screen contains `text`."""
        end = time.monotonic() + PATIENCE
        while not any(text in row for row in self.screen):
            assert time.monotonic() < end and self.read(), "\n".join([text, *self.screen])
        self._waited = len(self.output)

    def disconnect(self) -> None:
        """Close both sides, as when a terminal window is killed.

        Processes outside the terminal's session get no signal.
        """
        for descriptor in (self.inside, self.outside):
            os.close(descriptor)
        self.inside = self.outside = -1

    def wait_until_full(self) -> None:
        """Wait, without reading, until the terminal's buffer is full."""
        end = time.monotonic() + PATIENCE
        while select.select([], [self.inside], [], 0)[1]:
            assert time.monotonic() < end, "the terminal still accepts output"
            time.sleep(0.02)
