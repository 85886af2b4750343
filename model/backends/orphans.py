"""What a Spinney that was killed left running, found by a mark in the environment and ended.

Agents end by themselves when their stdin closes; what they started does not. Every agent carries
the mark of the Spinney that owns it, and the next start on the same data directory cleans up.
"""

import hashlib
import os
import time
from pathlib import Path
from typing import Final

from model.backends import process_table
from model.backends.process_table import Member

OWNER: Final = "SPINNEY_OWNER"
"""The environment variable that holds the mark."""

_PASSES: Final = 5
"""A process that forks while it is being looked for is found in the next pass."""


def owner_mark(data_dir: Path) -> str:
    """The `SPINNEY_OWNER` of what this very process starts: `<data dir>:<pid>:<start>`."""
    pid = os.getpid()
    return f"{_fingerprint(data_dir)}:{pid}:{process_table.start_time(pid) or '0'}"


def end_leftovers(data_dir: Path) -> list[int]:
    """Kill what earlier owners of `data_dir` left behind; the pids that were killed.

    What belongs to a Spinney that lives, or to another data directory, is left alone.
    """
    killed: set[Member] = set()
    for _ in range(_PASSES):
        found = _orphans(data_dir) - killed
        if not found:
            break
        process_table.kill(found)
        killed |= found
        time.sleep(0.02)
    return [member.pid for member in killed]


def _orphans(data_dir: Path) -> set[Member]:
    fingerprint = _fingerprint(data_dir)
    orphans = set()
    for pid, mark in process_table.environment_entries(OWNER):
        directory, _, owner = mark.partition(":")
        if directory == fingerprint and pid != os.getpid() and not _lives(owner):
            started = process_table.start_time(pid)
            if started is not None:
                orphans.add(Member(pid, started))
    return orphans


def _lives(owner: str) -> bool:
    pid, _, started = owner.partition(":")
    return pid.isdigit() and process_table.start_time(int(pid)) == started


def _fingerprint(data_dir: Path) -> str:
    return hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:16]
