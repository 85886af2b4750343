"""Spinney in a pseudo-terminal whose output is drawn by a terminal emulator."""

import fcntl
import os
import pty
import signal
import struct
import termios
import time
from collections.abc import Callable
from threading import Condition, Thread
from typing import Any, Final

import pyte

from tests.on_terminal import Screen
from tests.program import Program

SYNCHRONIZED: Final = 2026
"""The private mode that is set while a frame is drawn."""
_QUERY, _SUPPORTED = b"\x1b[?2026$p", "\x1b[?2026;2$y"


class SynchronizedScreen(Screen):
    """A screen with synchronized output: `shown` has no frame that is drawn in part."""

    def __init__(self, columns: int, rows: int) -> None:
        self._last: list[str] | None = None
        """The frame before the one that is being drawn."""
        super().__init__(columns, rows)

    @property
    def shown(self) -> list[str]:
        """The rows of the newest whole frame."""
        return self._last or list(self.display)

    def set_mode(self, *modes: int, **options: Any) -> None:
        if SYNCHRONIZED in modes and self._last is None:
            self._last = list(self.display)
        super().set_mode(*modes, **options)

    def reset_mode(self, *modes: int, **options: Any) -> None:
        super().reset_mode(*modes, **options)
        if SYNCHRONIZED in modes:
            self._last = None


class Terminal:
    """The program in a terminal: `write` sends keys, `rows` is the drawn screen."""

    def __init__(self, program: Program, *arguments: str, columns: int, rows: int) -> None:
        self.columns, self.lines = columns, rows
        self.raw = bytearray()
        """The newest output, for failure reports."""
        self.drawn = Condition()
        """Notified after each piece of output."""
        self._screen = SynchronizedScreen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._far, near = pty.openpty()
        self._set_size()
        self.process = program.open_process(
            (*program.command, *arguments),
            env={"TERM": "xterm-256color", "COLORTERM": "truecolor"},
            stdin=near,
            stdout=near,
            stderr=near,
            start_new_session=True,
        )
        os.close(near)
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def rows(self) -> list[str]:
        """The rows of the screen."""
        with self.drawn:
            return self._screen.shown

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def write(self, keys: str) -> None:
        """Send keys in a single write."""
        os.write(self._far, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        with self.drawn:
            self.columns, self.lines = columns, rows
            self._screen.resize(rows, columns)
        self._set_size()
        os.kill(self.process.pid, signal.SIGWINCH)

    def wait(self, condition: Callable[[list[str]], object], seconds: float) -> bool:
        """Wait at most `seconds` until the rows satisfy the condition. Return whether they do."""
        end = time.monotonic() + seconds
        while not condition(self.rows):
            left = end - time.monotonic()
            if left <= 0 or not self.is_alive:
                return bool(condition(self.rows))
            with self.drawn:
                self.drawn.wait(min(left, 0.2))
        return True

    def close(self) -> None:
        """Kill the program if it still runs, and close the terminal."""
        if self.is_alive:
            self.process.kill()
        self.process.wait()
        os.close(self._far)
        self._reader.join()

    def _set_size(self) -> None:
        size = struct.pack("HHHH", self.lines, self.columns, 0, 0)
        fcntl.ioctl(self._far, termios.TIOCSWINSZ, size)

    def _read(self) -> None:
        while True:
            try:
                output = os.read(self._far, 65536)
            except OSError:
                return
            if _QUERY in output:
                self.write(_SUPPORTED)
            with self.drawn:
                self.raw += output
                del self.raw[:-200_000]
                self._stream.feed(output)
                self.drawn.notify_all()
