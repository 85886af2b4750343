"""A pseudo-terminal of 120×40 for a program, which answers queries as terminals do.

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
"""The environment of a connection over SSH."""
_PIECE = 256 * 1024

_RESPONSES = {
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",  # supports synchronized output, as most terminals do
    b"\x1b[?2048$p": b"\x1b[?2048;0$y",  # reports a new size by a signal
}


class Terminal:
    """The terminal of a program, and its output."""

    def __init__(self, pid: int, descriptor: int, began: float) -> None:
        self.pid = pid
        self.began = began
        self.shown = b""
        self._descriptor = descriptor
        self._open_queries = set(_RESPONSES)

    def wait_for(self, marker: bytes, patience: float = PATIENCE) -> float:
        """Return the seconds from the program's start until `marker` was written."""
        deadline = time.perf_counter() + patience
        while marker not in self.shown:
            if not self._read(deadline - time.perf_counter()):
                raise RuntimeError(f"{marker!r} was not shown; the end is {self.shown[-2000:]!r}")
        return time.perf_counter() - self.began

    def wait_for_end(self, patience: float = PATIENCE) -> None:
        """Read until the program closes its terminal; raises `RuntimeError` after the timeout."""
        deadline = time.perf_counter() + patience
        while self._read(deadline - time.perf_counter()):
            pass
        if time.perf_counter() > deadline:
            raise RuntimeError(f"it does not end; the end is {self.shown[-2000:]!r}")

    def cpu_seconds(self) -> float:
        """Return the CPU time used by the program and its children."""
        return sum(_cpu_seconds(pid) for pid in self._processes())

    def memory(self) -> int:
        """Return the memory (PSS) in bytes of the program and its children."""
        return sum(psutil.Process(pid).memory_full_info().pss for pid in self._processes())

    def _processes(self) -> list[int]:
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [self.pid, *map(int, children)]

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._descriptor, text.encode())

    def read_for(self, seconds: float) -> int:
        """Read for `seconds`; return the number of bytes."""
        before, end = len(self.shown), time.perf_counter() + seconds
        while (rest := end - time.perf_counter()) > 0:
            self._read(rest)
        return len(self.shown) - before

    def time_keys(self, keys: Iterable[str]) -> list[float]:
        """Press keys one by one; return the seconds until each was written to the terminal."""
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
        """Discard the output up to now."""
        self.shown = b""

    def end(self) -> None:
        """End the program, and its children, which would continue without the terminal."""
        children = [psutil.Process(pid) for pid in self._processes()[1:]]
        os.kill(self.pid, signal.SIGTERM)
        deadline = time.perf_counter() + 10
        while self._read(deadline - time.perf_counter()):
            pass
        if os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            time.sleep(0.2)
            if os.waitpid(self.pid, os.WNOHANG) == (0, 0):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
        for process in psutil.wait_procs(children, timeout=10)[1]:
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
        for query in [query for query in self._open_queries if query in self.shown]:
            self._open_queries.discard(query)
            os.write(self._descriptor, _RESPONSES[query])
        return bool(piece)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    children = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9 + children


def environment(home: Path, **environ: str) -> dict[str, str]:
    """Return the environment of a program with the home directory `home`."""
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
    """Run Python with these arguments in a new terminal, with the home directory `home`."""
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
