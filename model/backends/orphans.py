"""Finds and kills processes that a killed Spinney left running, by a mark in their environment.

Agents exit on their own when their stdin closes; the processes they started do not. Every agent
carries the mark of the Spinney that owns it, and the next start on the same data directory kills
those that are left.
"""

import hashlib
import os
import time
from pathlib import Path
from typing import Final

from model.backends import process_table
from model.backends.process_table import ProcessRef

OWNER: Final = "SPINNEY_OWNER"
"""The environment variable that holds the mark."""

_PASSES: Final = 5
"""A process that forks during the search is found in the next pass."""


def owner_mark(data_dir: Path) -> str:
    """The `SPINNEY_OWNER` of processes started by this one: `<data dir>:<pid>:<start>`."""
    pid = os.getpid()
    return f"{_fingerprint(data_dir)}:{pid}:{process_table.start_time(pid) or '0'}"


def end_leftovers(data_dir: Path) -> list[int]:
    """Kill processes left behind by earlier owners of `data_dir`; return their pids.

    Processes of a running Spinney or of another data directory are not touched.
    """
    killed: set[ProcessRef] = set()
    for _ in range(_PASSES):
        found = _find_orphans(data_dir) - killed
        if not found:
            break
        process_table.kill(found)
        killed |= found
        time.sleep(0.02)
    return [member.pid for member in killed]


def _find_orphans(data_dir: Path) -> set[ProcessRef]:
    fingerprint = _fingerprint(data_dir)
    orphans = set()
    for pid, mark in process_table.environment_entries(OWNER):
        directory, _, owner = mark.partition(":")
        if directory == fingerprint and pid != os.getpid() and not _is_running(owner):
            started = process_table.start_time(pid)
            if started is not None:
                orphans.add(ProcessRef(pid, started))
    return orphans


def _is_running(owner: str) -> bool:
    pid, _, started = owner.partition(":")
    return pid.isdigit() and process_table.start_time(int(pid)) == started


def _fingerprint(data_dir: Path) -> str:
    return hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:16]
