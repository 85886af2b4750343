"""The terminal at the far end of a slow line: what a stream does to keys, and bytes for the rest.

A pseudo-terminal whose output comes at so many bytes a second, and both ways with a delay. All is
measured on the screen that a person would see there: from the key that is pressed to the letters.
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
"""Seconds of the stream before it is looked at."""
LETTERS = "ÄÖÜÅØÆ"
BETWEEN = 2.0
"""Seconds between two keys."""
ESCAPES = {"esc": "\x1b[27u", "esc_one_byte": "\x1b"}
"""As terminals send it that are asked to (kitty, foot, Ghostty, WezTerm, iTerm2, Alacritty), and as
others do. One byte may be the beginning of an arrow key: over SSH it is waited for the rest for
0.3 s."""
_STEP = 0.005
_PIECE = 32
"""Bytes that arrive together."""
_WORD = re.compile(r"\d+:(\d{10}\.\d{6})")
"""A word of the demo's stream: its number and the moment at which it was said."""
_WIDE_OPEN = 1e9

_BOUNDS = {10_000: (1.2, 2.0, 1.0), 2_000: (3.0, 5.0, 2.0)}
"""By bytes a second: seconds until a key is seen, age of the text, seconds until esc is obeyed."""
_MOST = {"start": 16_000, "palette": 8_000, "f2": 4_000, "stream_a_minute": 240_000}
"""Bytes that each may cost."""


class FarTerminal:
    """A terminal, and the line between it and the program."""

    def __init__(self, descriptor: int, rate: float, delay: float) -> None:
        self.screen = Emulator(COLUMNS, ROWS)
        self.screen.on_question = lambda: self.type("\x1b[0n")
        self.bytes = 0
        self._descriptor = descriptor
        self._rate, self._delay = rate, delay
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._free_at = 0.0
        self._coming: deque[tuple[float, bytes]] = deque()
        self._going: deque[tuple[float, bytes]] = deque()
        self._questions = {
            "\x1b[?2026$p": "\x1b[?2026;2$y",
            "\x1b[?2048$p": "\x1b[?2048;0$y",
        }

    def type(self, keys: str) -> None:
        """Press keys; the program has them after the delay."""
        self._going.append((time.monotonic() + self._delay, keys.encode()))

    def shows(self, text: str) -> bool:
        """Whether a row holds this now."""
        return any(text in row for row in self.screen.text)

    def wait_for(self, text: str) -> float:
        """Seconds until it is shown. Raises `RuntimeError`."""
        began = time.monotonic()
        self.run(lambda: self.shows(text), PATIENCE * 2)
        if not self.shows(text):
            raise RuntimeError(f"{text!r} was not shown:\n" + "\n".join(self.screen.text))
        return time.monotonic() - began

    def rest(self, quiet: float = 1.5) -> int:
        """Run until nothing comes any more; how many bytes that were."""
        before = self.bytes
        last = [self.bytes, time.monotonic()]

        def is_quiet() -> bool:
            if self.bytes != last[0]:
                last[:] = [self.bytes, time.monotonic()]
            return time.monotonic() - last[1] > quiet and not self._coming

        self.run(is_quiet, PATIENCE)
        return self.bytes - before

    def run(self, is_over: Callable[[], bool], patience: float) -> None:
        """Let the line carry what comes and goes."""
        end = time.monotonic() + patience
        while not is_over() and time.monotonic() < end:
            if select.select([self._descriptor], [], [], _STEP)[0]:
                try:
                    self._send(os.read(self._descriptor, 65536))
                except OSError:
                    return  # the program has closed its end
            now = time.monotonic()
            while self._coming and self._coming[0][0] <= now:
                self._arrive(self._coming.popleft()[1])
            while self._going and self._going[0][0] <= now:
                os.write(self._descriptor, self._going.popleft()[1])

    def _send(self, data: bytes) -> None:
        self.bytes += len(data)
        for at in range(0, len(data), _PIECE):
            piece = data[at : at + _PIECE]
            self._free_at = max(self._free_at, time.monotonic()) + len(piece) / self._rate
            self._coming.append((self._free_at + self._delay, piece))

    def _arrive(self, piece: bytes) -> None:
        text = self._decode(piece)
        self.screen.feed(text)
        for question in [asked for asked in self._questions if asked[2:] in text]:
            self.type(self._questions.pop(question))

    @property
    def newest(self) -> float:
        """When the newest word that is shown was said."""
        said = [float(word) for row in self.screen.text for word in _WORD.findall(row)]
        return max(said, default=0.0)


@contextmanager
def far_terminal(rate: float, delay: float, **environ: str) -> Iterator[FarTerminal]:
    """The demo behind such a line."""
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
    """Over three lines; of each the run with the fastest keys."""
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
    for name, most in _MOST.items():
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
                _begin(terminal)  # What is said pushes the first end out of sight.
            pressed = time.time()
            terminal.type(escape)
            found[f"{name}_seen"] = terminal.wait_for("stopped")
            terminal.rest()
            found[f"{name}_obeyed"] = max(0.0, terminal.newest - pressed)
    return found


def _begin(terminal: FarTerminal) -> None:
    """Have it stream, and let that settle."""
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
