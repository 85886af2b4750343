"""Programs of the benchmarks: processes that read requests from stdin as JSON lines."""

import json
import mmap
import os
import struct
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

Answer = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


class Program:
    """A running `python -m tests.bench.NAME`."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Send a request and return its answer."""
        self.say(do, **arguments)
        return self.answer()

    def say(self, do: str, **arguments: Any) -> None:
        """Send a request; `answer` returns the answer later."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Return the answer to the last request."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args!r} ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def program(
    name: str, *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[Program]:
    """Run a program of this package until its stdin is closed.

    Its environment is `environment`, or that of this process.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", f"tests.bench.{name}", *arguments],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Program(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def say(answer: dict[str, Any]) -> None:
    """Write a program's answer to stdout."""
    print(json.dumps(answer), flush=True)


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process's present threads, finer than the ticks of `psutil`."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(path.read_text().split()[0]) for path in threads) / 1e9


class Progress:
    """The number of bytes received by the slowest client, in memory shared by two processes."""

    def __init__(self, path: str | Path) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(descriptor, 8)
        self._memory = mmap.mmap(descriptor, 8)
        os.close(descriptor)

    def set(self, count: int) -> None:
        """Set the count."""
        struct.pack_into("<q", self._memory, 0, count)

    def get(self) -> int:
        """Return the count."""
        count: int = struct.unpack_from("<q", self._memory, 0)[0]
        return count
