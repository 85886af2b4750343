"""The system's process table, as far as Spinney needs it: who descends from whom, who has a mark.

Agents start their tools in sessions of their own, so a process group does not hold them all; an
environment variable does, because children inherit it. Reads `/proc`; where there is none (macOS),
every answer is empty.
"""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")

READABLE = (_PROC / "self" / "environ").exists()
"""Whether this system has such a table."""


def start_time(pid: int) -> str | None:
    """When the process started, in clock ticks since boot; `None` when there is no such process.

    Together with the pid it names a process for good: pids are used again.
    """
    fields = _stat(pid)
    if not fields or fields[0] in ("Z", "X"):
        return None
    return fields[19]


def processor_time(pid: int) -> int:
    """What the process has used of the processors, in clock ticks; 0 where that is not known."""
    fields = _stat(pid)
    return int(fields[11]) + int(fields[12]) if fields else 0


def environment_entries(name: str) -> Iterator[tuple[int, str]]:
    """The pid and value of every readable process that was started with the variable `name`."""
    prefix = f"{name}=".encode()
    for pid in _pids():
        with suppress(OSError):
            for entry in (_PROC / str(pid) / "environ").read_bytes().split(b"\0"):
                if entry.startswith(prefix):
                    yield pid, entry[len(prefix) :].decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Member:
    """A process named for good: a pid alone may be somebody else's by now."""

    pid: int
    started: str


def family(root: int | None, name: str, mark: str) -> set[Member]:
    """What descends from `root`, or was started with the variable `name` set to `mark`."""
    pids = {found for found, value in environment_entries(name) if value == mark}
    children: dict[int, list[int]] = {}
    for candidate in _pids():
        if fields := _stat(candidate):
            children.setdefault(int(fields[1]), []).append(candidate)
    unseen = [*pids] if root is None else [root, *pids]
    while unseen:
        for child in children.get(unseen.pop(), ()):
            if child not in pids:
                pids.add(child)
                unseen.append(child)
    started = {pid: start_time(pid) for pid in pids - {os.getpid()}}
    return {Member(pid, time) for pid, time in started.items() if time is not None}


def kill(members: Iterable[Member]) -> None:
    """SIGKILL those that still live."""
    for member in members:
        if start_time(member.pid) == member.started:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(member.pid, signal.SIGKILL)


def _pids() -> list[int]:
    try:
        return [int(entry.name) for entry in os.scandir(_PROC) if entry.name.isdigit()]
    except OSError:
        return []


def _stat(pid: int) -> list[str]:
    """The fields from the state on; the name before it may hold anything, also brackets."""
    try:
        return (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
