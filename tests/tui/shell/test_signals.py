"""The program restores the terminal when a signal ends it; run in a pseudo-terminal."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys
sys.path.insert(0, ".")
from tests.tui.fake_client import FakeClient
from tui.shell.app import SpinneyApp
SpinneyApp(FakeClient).run()
"""


def read_until(terminal: int, word: bytes, seen: bytes = b"", within: float = PATIENCE) -> bytes:
    """Read what the program writes, up to a word or its end."""
    end = time.monotonic() + within
    while word not in seen and time.monotonic() < end:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            seen += os.read(terminal, 65536)
        except OSError:
            break
    return seen


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_restores_the_terminal(number: signal.Signals) -> None:
    terminal, end = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        stdin=end,
        stdout=end,
        stderr=end,
        env={**os.environ, "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(end)
    try:
        assert b"repository" in read_until(terminal, b"repository")
        program.send_signal(number)
        left = read_until(terminal, b"\x1b[?1049l")
        assert b"\x1b[?1049l" in left, "the alternate screen is still on"
        assert b"\x1b[?1000l" in left, "the mouse is still reported"
        program.wait(PATIENCE)
    finally:
        program.kill()
        program.wait()
        os.close(terminal)
