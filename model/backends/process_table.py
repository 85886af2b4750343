"""The system's process table: finds processes by descent or by a marker variable, and kills them.

Agents start their tools in sessions of their own, so a process group does not contain them all; an
environment variable marks them, because children inherit it. Reads `/proc`; without one (macOS)
every result is empty.
"""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")

READABLE = (_PROC / "self" / "environ").exists()
"""Whether this system has a readable `/proc`."""


def start_time(pid: int) -> str | None:
    """When the process started, in clock ticks since boot; `None` if there is no such process.

    Together with the pid it identifies a process uniquely: pids are reused.
    """
    fields = _stat(pid)
    if not fields or fields[0] in ("Z", "X"):
        return None
    return fields[19]


def cpu_time(pid: int) -> int:
    """The CPU time that the process has used, in clock ticks; 0 if unknown."""
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
class ProcessRef:
    """A process, identified by pid and start time: the pid alone may have been reused."""

    pid: int
    started: str


def family(root: int | None, name: str, mark: str) -> set[ProcessRef]:
    """The descendants of `root`, and processes started with the variable `name` set to `mark`."""
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
    start_times = {pid: start_time(pid) for pid in pids - {os.getpid()}}
    return {ProcessRef(pid, time) for pid, time in start_times.items() if time is not None}


def kill(members: Iterable[ProcessRef]) -> None:
    """Send SIGKILL to those that are still running."""
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
    """The fields from the state on; the name before it may contain anything, even parentheses."""
    try:
        return (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
