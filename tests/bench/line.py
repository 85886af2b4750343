"""The terminal behind a slow line: key latency while an agent streams, and bytes of other actions.

A pseudo-terminal with a limited output rate and a delay in both directions. Latency is measured on
the emulated screen behind the line: from the press of a key until it is shown.
"""

import codecs
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path

from tests.bench.programs import ROOT
from tests.bench.tables import Table, percentile
from tests.bench.terminal import PATIENCE, SSH, environment
from tests.terminal.emulator import Emulator

COLUMNS, ROWS = 80, 24
STREAM = "/demo stream 2000 20\r"
SETTLED = 8.0
"""Seconds of the stream before it is measured."""
LETTERS = "ÄÖÜÅØÆ"
BETWEEN = 2.0
"""Seconds between two keys."""
ESCAPES = {"esc": "\x1b[27u", "esc_one_byte": "\x1b"}
"""As sent by terminals that support it on request (kitty, foot, Ghostty, WezTerm, iTerm2,
Alacritty), and by others. A single byte may be the start of an arrow key: over SSH the program
waits 0.3 s for the rest."""
_STEP = 0.005
_PIECE = 32
"""Bytes that arrive at the same time."""
_WORD = re.compile(r"\d+:(\d{10}\.\d{6})")
"""A word of the demo's stream: its number and the time at which it was written."""
_WIDE_OPEN = 1e9

_BOUNDS = {10_000: (1.2, 2.0, 1.0), 2_000: (3.0, 5.0, 2.0)}
"""By bytes a second: seconds until a key is shown, age of the text, seconds until esc works."""
_LIMITS = {"start": 16_000, "palette": 8_000, "f2": 4_000, "stream_a_minute": 240_000}
"""Limits in bytes."""


class FarTerminal:
    """An emulated terminal, and the line between it and the program."""

    def __init__(self, descriptor: int, rate: float, delay: float) -> None:
        self.screen = Emulator(COLUMNS, ROWS)
        self.screen.on_question = lambda: self.type("\x1b[0n")
        self.bytes = 0
        self._descriptor = descriptor
        self._rate, self._delay = rate, delay
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._free_at = 0.0
        self._incoming: deque[tuple[float, bytes]] = deque()
        self._outgoing: deque[tuple[float, bytes]] = deque()
        self._queries = {
            "\x1b[?2026$p": "\x1b[?2026;2$y",
            "\x1b[?2048$p": "\x1b[?2048;0$y",
        }

    def type(self, keys: str) -> None:
        """Press keys, which reach the program after the delay."""
        self._outgoing.append((time.monotonic() + self._delay, keys.encode()))

    def shows(self, text: str) -> bool:
        """Whether a row contains the text."""
        return any(text in row for row in self.screen.text)

    def wait_for(self, text: str) -> float:
        """Return the seconds until the text is shown; raises `RuntimeError` after the timeout."""
        began = time.monotonic()
        self.run(lambda: self.shows(text), PATIENCE * 2)
        if not self.shows(text):
            raise RuntimeError(f"{text!r} was not shown:\n" + "\n".join(self.screen.text))
        return time.monotonic() - began

    def rest(self, quiet: float = 1.5) -> int:
        """Run until there is no output for `quiet` seconds; return the number of bytes received."""
        before = self.bytes
        last = [self.bytes, time.monotonic()]

        def is_quiet() -> bool:
            if self.bytes != last[0]:
                last[:] = [self.bytes, time.monotonic()]
            return time.monotonic() - last[1] > quiet and not self._incoming

        self.run(is_quiet, PATIENCE)
        return self.bytes - before

    def run(self, is_over: Callable[[], bool], patience: float) -> None:
        """Transfer data in both directions until `is_over`."""
        end = time.monotonic() + patience
        while not is_over() and time.monotonic() < end:
            if select.select([self._descriptor], [], [], _STEP)[0]:
                try:
                    self._delay_output(os.read(self._descriptor, 65536))
                except OSError:
                    return  # the program has closed its end
            now = time.monotonic()
            while self._incoming and self._incoming[0][0] <= now:
                self._arrive(self._incoming.popleft()[1])
            while self._outgoing and self._outgoing[0][0] <= now:
                os.write(self._descriptor, self._outgoing.popleft()[1])

    def _delay_output(self, data: bytes) -> None:
        self.bytes += len(data)
        for at in range(0, len(data), _PIECE):
            piece = data[at : at + _PIECE]
            self._free_at = max(self._free_at, time.monotonic()) + len(piece) / self._rate
            self._incoming.append((self._free_at + self._delay, piece))

    def _arrive(self, piece: bytes) -> None:
        text = self._decode(piece)
        self.screen.feed(text)
        for query in [query for query in self._queries if query[2:] in text]:
            self.type(self._queries.pop(query))

    @property
    def newest(self) -> float:
        """The time at which the newest word on the screen was written."""
        said = [float(word) for row in self.screen.text for word in _WORD.findall(row)]
        return max(said, default=0.0)


@contextmanager
def far_terminal(rate: float, delay: float, **environ: str) -> Iterator[FarTerminal]:
    """Run the demo behind such a line."""
    far, near = pty.openpty()
    ioctl(near, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "spinney.py"), "demo"],
            stdin=near,
            stdout=near,
            stderr=near,
            cwd=place,
            env=environment(place, TMPDIR=folder, **environ),
            start_new_session=True,
        )
        os.close(near)
        terminal = FarTerminal(far, rate, delay)
        try:
            yield terminal
        finally:
            process.terminate()
            terminal.run(lambda: process.poll() is not None, 10)
            process.kill()
            process.wait()
            os.close(far)


def measure(runs: int) -> Table:
    """Measure two lines; the table has the run with the lowest key latency."""
    table = Table("line", f"a stream of 20 words a second over SSH, {COLUMNS}×{ROWS}")
    for rate, (key, age, stop) in _BOUNDS.items():
        found = min((_stream(rate, 0.3) for _ in range(runs)), key=lambda found: found["key"])
        name = f"{rate / 1000:.0f} KB/s, 300 ms each way"
        table.add(name, **found)
        table.at_most(f"{name}: a key is seen, s", found["key"], key)
        table.at_most(f"{name}: age of the text, s", found["age"], age)
        for escape in ESCAPES:
            obeyed = found[f"{escape}_obeyed"]
            table.at_most(f"{name}: {escape} is obeyed, s", obeyed, stop)
    found = _bytes()
    table.add("bytes", **found)
    for name, most in _LIMITS.items():
        table.at_most(f"bytes: {name}", found[name], most)
    return table


def _stream(rate: float, delay: float) -> dict[str, float]:
    with far_terminal(rate, delay, **SSH) as terminal:
        terminal.wait_for("Message Demo agent")
        terminal.rest()
        _begin(terminal)
        ages: list[float] = []
        delays = []
        for letter in LETTERS:
            terminal.type(letter)
            delays.append(terminal.wait_for(letter))
            for _ in range(8):
                terminal.run(lambda: False, BETWEEN / 8)
                ages.append(time.time() - terminal.newest)
        terminal.type("\x7f" * len(LETTERS))
        found = {"key": max(delays), "age_p50": percentile(ages, 0.5), "age": max(ages)}
        for name, escape in ESCAPES.items():
            if "esc_seen" in found:
                _begin(terminal)  # New text scrolls the first end out of view.
            pressed = time.time()
            terminal.type(escape)
            found[f"{name}_seen"] = terminal.wait_for("stopped")
            terminal.rest()
            found[f"{name}_obeyed"] = max(0.0, terminal.newest - pressed)
    return found


def _begin(terminal: FarTerminal) -> None:
    """Start a stream and wait until it has settled."""
    terminal.type(STREAM)
    terminal.wait_for(" 12:")
    terminal.run(lambda: False, SETTLED)


def _bytes() -> dict[str, float]:
    with far_terminal(_WIDE_OPEN, 0.0, **SSH) as terminal:
        terminal.wait_for("This agent is a demonstration")
        terminal.rest()
        found = {"start": float(terminal.bytes)}
        for name, key in (("palette", "\x10"), ("palette_closed", "\x1b"), ("f2", "\x1bOQ")):
            terminal.type(key)
            found[name] = float(terminal.rest())
        terminal.type("\x1bOQ")
        terminal.rest()
        terminal.type(STREAM)
        terminal.wait_for(" 12:")
        before = terminal.bytes
        terminal.run(lambda: False, 20)
        found["stream_a_minute"] = 3.0 * (terminal.bytes - before)
    return found
