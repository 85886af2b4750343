"""What this installation has and lacks, each with the one step that mends it."""

import asyncio
import os
import shutil
import sqlite3
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from model.agents.agents_file import PREFIX
from model.agents.catalog import Catalog
from model.backends.base import Backend, Probe
from model.backends.probing import probe_all
from model.base.errors import SpinneyError
from model.base.log import LEVELS
from model.base.paths import Directories
from model.base.text import clean_line
from model.git import run
from model.preferences.file import problems_of
from model.store.backups import list_backups, list_kept_copies
from model.store.repair import find_damage


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    name: str
    ok: bool | None
    """`None`: neither good nor bad."""
    found: str
    remedy: str = ""
    fix: str | None = None
    """The command alone that mends it, where one does."""
    id: str = ""
    """Of an agent: the `backend` that commands and preferences call it."""


def as_text(findings: Iterable[Finding]) -> str:
    """The report for people, a line for each finding and one for what mends it."""
    marks = {True: "ok ", False: "BAD", None: " · "}
    lines = []
    for finding in findings:
        lines.append(f"{marks[finding.ok]}  {finding.name:<14} {finding.found}")
        if finding.remedy:
            lines.append(f"{'':<20}{finding.remedy}")
    return "\n".join(lines)


async def examine(
    directories: Directories, backends: Mapping[str, Backend], catalog: Catalog
) -> list[Finding]:
    """Look at programs and directories; takes at most some seconds and asks no provider."""
    rows = catalog.backend_rows(demo="demo" in backends)
    machine, agents = await asyncio.gather(examine_machine(directories), probe_all(rows, backends))
    found = [_agent(row.name, row.label, probe) for row, probe in agents]
    if not any(probe.program for _, probe in agents):
        found.append(Finding("agents", False, "none is installed", "Spinney needs one of them."))
    return [*found, *_odd_level(os.environ.get("SPINNEY_LOG", "")), *machine]


async def examine_machine(directories: Directories) -> list[Finding]:
    """Look at git, gh and our directories; the agents are left to `probe_all`."""
    found = await asyncio.gather(
        _git(),
        _gh(),
        asyncio.to_thread(_directory, "configuration", directories.config),
        asyncio.to_thread(_directory, "data", directories.data),
        asyncio.to_thread(_directory, "worktrees", directories.worktrees_home),
    )
    preferences = await asyncio.to_thread(_preferences, directories.preferences)
    return [*found, *preferences, *await asyncio.to_thread(_database, directories.database)]


async def _git() -> Finding:
    try:
        return Finding("git", True, await run.git_version())
    except SpinneyError as error:
        return Finding("git", False, "not usable", error.message)


async def _gh() -> Finding:
    program = await asyncio.to_thread(shutil.which, "gh")
    if program is None:
        remedy = "Only for pull requests: install GitHub's gh, then run: gh auth login"
        return Finding("gh", None, "not found", remedy)
    return Finding("gh", True, program)


def _odd_level(level: str) -> list[Finding]:
    if level.lower() in ("", *LEVELS):
        return []
    remedy = f"It may be {', '.join(LEVELS)}; anything else counts as info."
    return [Finding("SPINNEY_LOG", False, f"“{clean_line(level)}” is no level", remedy)]


def _agent(name: str, label: str, probe: Probe) -> Finding:
    if probe.program is None:
        return Finding(label, None, "not found", probe.problem or "", probe.fix, name)
    signed = {True: "signed in", False: "not signed in", None: "sign-in not known"}
    known = f"{probe.version or 'unknown version'}, {signed[probe.signed_in]}"
    if name.startswith(PREFIX) and probe.version is None and probe.problem is None:
        known = "answers as an ACP agent"
    found = f"{known} ({probe.program})"
    return Finding(label, probe.problem is None, found, probe.problem or "", probe.fix, name)


def _preferences(path: Path) -> list[Finding]:
    """What in the person's settings cannot be used."""
    remedy = f"Mend {path}; a setting that cannot be used has its default."
    return [Finding("preferences", False, told, remedy) for told in problems_of(path)]


def _database(path: Path) -> list[Finding]:
    """The database, its newest backup, and what was kept of damaged ones."""
    found = [_looked_into(path) if path.exists() else Finding("database", None, "none yet")]
    newest = next(iter(list_backups(path)), None)
    if newest is not None:
        hours = max(0, (time.time() - newest.at) / 3600)
        age = f"{hours:.0f} hours" if hours < 48 else f"{hours / 24:.0f} days"
        found.append(Finding("backup", True, f"{newest.path}, {newest.when}, {age} old"))
    elif path.exists():
        remedy = "Spinney makes one a day while it runs."
        found.append(Finding("backup", None, "none yet", remedy))
    if kept := list_kept_copies(path):
        more = f" and {len(kept) - 1} more" if len(kept) > 1 else ""
        remedy = "What was damaged or replaced. Read it with: spinney export FOLDER --from FILE"
        found.append(Finding("kept", None, f"{kept[-1]}{more}", remedy))
    return found


def _looked_into(path: Path) -> Finding:
    repair = "spinney doctor --repair"
    try:
        if damage := find_damage(path):
            remedy = f"End Spinney (spinney stop), then run: {repair}"
            return Finding("database", False, f"{path} is damaged: {damage}", remedy, repair)
    except SpinneyError as error:
        return Finding("database", False, str(path), error.message)
    except (sqlite3.Error, OSError) as error:
        remedy = "Look at the disk, and at who may read the file."
        return Finding("database", False, f"{path} cannot be read: {error}", remedy)
    return Finding("database", True, f"{path}, {path.stat().st_size / 1e6:.1f} MB")


def _directory(name: str, path: Path) -> Finding:
    standing = path
    while not standing.exists():
        standing = standing.parent
    usage = shutil.disk_usage(standing)
    # One of no size holds no files, whatever its permissions say: /proc, for example.
    if not standing.is_dir() or not os.access(standing, os.W_OK) or not usage.total:
        remedy = f"Make {standing} a directory that you may write in."
        return Finding(name, False, f"{path} cannot be written", remedy)
    if usage.free < 50 * 1024 * 1024:
        return Finding(name, False, str(path), "The disk is almost full: free some space.")
    return Finding(name, True, str(path))
