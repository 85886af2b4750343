"""Programs of the benches: each runs in a process of its own and is asked in JSON lines."""

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
        """Its process id."""
        return self._process.pid

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Ask and wait for the answer."""
        self.say(do, **arguments)
        return self.answer()

    def say(self, do: str, **arguments: Any) -> None:
        """Ask; `answer` gives the answer later."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Wait for what was asked last."""
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
    """Start a program of this package, in this process's environment or the one given.

    It ends when its stdin closes.
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
    """A program's answer."""
    print(json.dumps(answer), flush=True)


class Progress:
    """How many bytes the slowest client has got, shared between two processes without a call."""

    def __init__(self, path: str | Path) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(descriptor, 8)
        self._memory = mmap.mmap(descriptor, 8)
        os.close(descriptor)

    def set(self, count: int) -> None:
        """Note it."""
        struct.pack_into("<q", self._memory, 0, count)

    def get(self) -> int:
        """The newest count."""
        count: int = struct.unpack_from("<q", self._memory, 0)[0]
        return count
