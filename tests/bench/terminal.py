"""A terminal for a program: a pty of 120×40 that is drained and answers like a terminal.

Linux only: CPU seconds are read from /proc.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.bench.programs import ROOT

COLUMNS, LINES = 120, 40
PATIENCE = 60.0
SSH = {"SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}
"""The environment of somebody who came over SSH."""
_PIECE = 256 * 1024

_ANSWERS = {
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",  # draws a frame as a whole, like most terminals by now
    b"\x1b[?2048$p": b"\x1b[?2048;0$y",  # tells of a new size by a signal
}


class Terminal:
    """A program's terminal and what it has shown."""

    def __init__(self, pid: int, descriptor: int, began: float) -> None:
        self.pid = pid
        self.began = began
        self.shown = b""
        self._descriptor = descriptor
        self._asked = set(_ANSWERS)

    def wait_for(self, marker: bytes, patience: float = PATIENCE) -> float:
        """Seconds from the program's start until `marker` was written."""
        deadline = time.perf_counter() + patience
        while marker not in self.shown:
            if not self._read(deadline - time.perf_counter()):
                raise RuntimeError(f"{marker!r} was not shown; the end is {self.shown[-2000:]!r}")
        return time.perf_counter() - self.began

    def wait_for_end(self, patience: float = PATIENCE) -> None:
        """Drain what it writes until it has closed its terminal, or raise."""
        deadline = time.perf_counter() + patience
        while self._read(deadline - time.perf_counter()):
            pass
        if time.perf_counter() > deadline:
            raise RuntimeError(f"it does not end; the end is {self.shown[-2000:]!r}")

    def cpu_seconds(self) -> float:
        """What it has used up to now, with the Spinney behind it and children it has waited for."""
        return sum(_cpu_seconds(pid) for pid in self._processes())

    def memory(self) -> int:
        """Bytes that it holds with the Spinney behind it; what programs share counts once."""
        return sum(psutil.Process(pid).memory_full_info().pss for pid in self._processes())

    def _processes(self) -> list[int]:
        behind = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [self.pid, *map(int, behind)]

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._descriptor, text.encode())

    def read_for(self, seconds: float) -> int:
        """Take what it writes for so long; how many bytes that was."""
        before, end = len(self.shown), time.perf_counter() + seconds
        while (rest := end - time.perf_counter()) > 0:
            self._read(rest)
        return len(self.shown) - before

    def time_keys(self, keys: Iterable[str]) -> list[float]:
        """Press one after the other; the seconds until each was written to the terminal."""
        delays = []
        for key in keys:
            self.forget()
            began = time.perf_counter()
            self.type(key)
            self.wait_for(key.encode())
            delays.append(time.perf_counter() - began)
            self.read_for(0.03)
        return delays

    def forget(self) -> None:
        """What was shown up to now is not waited for any more."""
        self.shown = b""

    def end(self) -> None:
        """Ask it to end, and see to it; the Spinney behind it would go on without its terminal."""
        behind = [psutil.Process(pid) for pid in self._processes()[1:]]
        os.kill(self.pid, signal.SIGTERM)
        deadline = time.perf_counter() + 10
        while self._read(deadline - time.perf_counter()):
            pass
        if os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            time.sleep(0.2)
            if os.waitpid(self.pid, os.WNOHANG) == (0, 0):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
        for process in psutil.wait_procs(behind, timeout=10)[1]:
            process.kill()

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._descriptor], [], [], max(0.0, seconds))
        if not ready:
            return False
        try:
            piece = os.read(self._descriptor, _PIECE)
        except OSError:
            return False  # the program has closed its end
        self.shown += piece
        for question in [asked for asked in self._asked if asked in self.shown]:
            self._asked.discard(question)
            os.write(self._descriptor, _ANSWERS[question])
        return bool(piece)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    children = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9 + children


def environment(home: Path, **environ: str) -> dict[str, str]:
    """What a program at home in `home` knows of this machine."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "PYTHONPATH": str(ROOT),
        "SPINNEY_CONFIG_DIR": str(home / "config"),
        "SPINNEY_DATA_DIR": str(home / "data"),
        **environ,
    }


@contextmanager
def terminal(arguments: Sequence[str], home: Path, **environ: str) -> Iterator[Terminal]:
    """Run Python with these arguments in a terminal of its own, at home in `home`."""
    began = time.perf_counter()
    pid, descriptor = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        os.chdir(home)
        os.execve(sys.executable, [sys.executable, *arguments], environment(home, **environ))
    running = Terminal(pid, descriptor, began)
    try:
        yield running
    finally:
        running.end()
        os.close(descriptor)
