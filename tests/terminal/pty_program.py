"""Spinney in a pseudo-terminal: typed into, read from, or left unread."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE
from tests.program import ROOT


@dataclass
class Screen:
    """The far end of the terminal: what a person would sit at."""

    process: "subprocess.Popen[bytes]"
    far: int
    output: bytearray = field(default_factory=bytearray)

    def type(self, keys: str) -> None:
        os.write(self.far, keys.encode())

    def read(self, seconds: float = 0.1) -> bytes:
        """What comes within this time, at least one chunk if there is one."""
        ready, _, _ = select.select([self.far], [], [], seconds)
        if not ready:
            return b""
        try:
            chunk = os.read(self.far, 65536)
        except OSError:
            return b""
        self.output += chunk
        return chunk

    def shows(self, text: str) -> None:
        """Read until this text was drawn; spaces may be drawn by moving the cursor."""
        end = time.monotonic() + PATIENCE
        while text.encode() not in self.output:
            assert time.monotonic() < end, f"never showed {text!r}: {bytes(self.output[-2000:])!r}"
            self.read()


@contextmanager
def demo_in_terminal(
    place: Path, columns: int = 120, rows: int = 40, **more: str
) -> Iterator[Screen]:
    """`spinney demo` in a terminal of this size, with everything it makes below `place`; `more` of
    its environment.
    """
    far, near = pty.openpty()
    fcntl.ioctl(near, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    home = place / "home"
    home.mkdir()
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(place),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        **more,
    }
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "spinney.py"), "demo"],
        stdin=near,
        stdout=near,
        stderr=near,
        env=environ,
        cwd=place,
        start_new_session=True,
    )
    os.close(near)
    screen = Screen(process, far)
    try:
        yield screen
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=PATIENCE)
        os.close(far)


def server_of(place: Path) -> dict[str, Any]:
    """Address and token of the server in the demo's terminal, once it has one."""
    end = time.monotonic() + PATIENCE
    while True:
        for path in place.glob("spinney-demo-*/data/server.json"):
            found: dict[str, Any] = json.loads(path.read_text())
            return found
        assert time.monotonic() < end, "the server did not start"
        time.sleep(0.05)
