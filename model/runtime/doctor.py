"""Checks this installation: what is present, what is missing, and the one step that fixes it."""

import asyncio
import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from model.agents.agents_file import PREFIX
from model.agents.catalog import Catalog
from model.backends.base import Backend, Probe
from model.backends.probing import probe_all
from model.base.amounts import format_size
from model.base.errors import SpinneyError
from model.base.free_space import is_short
from model.base.log import LEVELS
from model.base.paths import Directories
from model.base.plural import count
from model.base.text import clean_line
from model.domain.findings import Finding
from model.git import run
from model.git.hosts import list_hosting_remotes
from model.landing.disk_usage import measure_directory
from model.preferences.file import read_preferences
from model.runtime.doctor_reach import examine_reach
from model.runtime.recovery_findings import check_recovery_points, read_project_paths
from model.store.backups import list_backups, list_kept_copies
from model.store.repair import find_damage

_MEASURE_SECONDS: Final = 3.0


def format_report(findings: Iterable[Finding]) -> str:
    """Format the report: a line for each finding, and one for its remedy."""
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
    """Check programs and directories; takes a few seconds at most and contacts no provider."""
    rows = catalog.backend_rows(demo="demo" in backends)
    machine, reach, agents = await asyncio.gather(
        examine_machine(directories), examine_reach(directories), probe_all(rows, backends)
    )
    findings = [_check_agent(row.name, row.label, probe) for row, probe in agents]
    if not any(probe.program for _, probe in agents):
        findings.append(Finding("agents", False, "none installed", "Install at least one of them."))
    return [*findings, *_check_log_level(os.environ.get("SPINNEY_LOG", "")), *machine, *reach]


async def examine_machine(directories: Directories) -> list[Finding]:
    """Check git, gh, glab and our directories; `probe_all` checks the agents."""
    git, hosting, *folders = await asyncio.gather(
        _check_git(),
        _check_hosting_programs(directories),
        asyncio.to_thread(_check_directory, "configuration", directories.config),
        asyncio.to_thread(_check_directory, "data", directories.data),
        asyncio.to_thread(_check_directory, "worktrees", directories.worktrees_home),
    )
    preferences = await asyncio.to_thread(_check_preferences, directories.preferences)
    return [
        git,
        *hosting,
        *folders,
        *preferences,
        *await asyncio.to_thread(_check_database_if_readable, directories.database),
        *await check_recovery_points(directories),
    ]


async def _check_git() -> Finding:
    try:
        return Finding("git", True, await run.git_version())
    except SpinneyError as error:
        return Finding("git", False, "not usable", error.message)


async def _check_hosting_programs(directories: Directories) -> list[Finding]:
    """Return a finding for gh, and one for glab if a project is on GitLab."""
    findings = [await _check_hosting_program("gh", "GitHub", "pull requests")]
    for path in await asyncio.to_thread(read_project_paths, directories.database):
        with contextlib.suppress(SpinneyError):
            if any(remote.service == "gitlab" for remote in await list_hosting_remotes(path)):
                findings.append(await _check_hosting_program("glab", "GitLab", "merge requests"))
                break
    return findings


async def _check_hosting_program(name: str, service: str, purpose: str) -> Finding:
    program = await asyncio.to_thread(shutil.which, name)
    if program is None:
        remedy = f"Only for {purpose}: install {service}'s {name}, then run: {name} auth login"
        return Finding(name, None, "not found", remedy)
    return Finding(name, True, program)


def _check_log_level(level: str) -> list[Finding]:
    if level.lower() in ("", *LEVELS):
        return []
    remedy = f"Use one of {', '.join(LEVELS)}; anything else is treated as info."
    return [Finding("SPINNEY_LOG", False, f"'{clean_line(level)}' is not a log level", remedy)]


def _check_agent(name: str, label: str, probe: Probe) -> Finding:
    if probe.program is None:
        return Finding(label, None, "not found", probe.problem or "", probe.fix, name)
    sign_in = {True: "signed in", False: "not signed in", None: "sign-in unknown"}
    status = f"{probe.version or 'unknown version'}, {sign_in[probe.signed_in]}"
    if name.startswith(PREFIX) and probe.version is None and probe.problem is None:
        status = "answers as an ACP agent"
    status_with_path = f"{status} ({probe.program})"
    return Finding(
        label, probe.problem is None, status_with_path, probe.problem or "", probe.fix, name
    )


def _check_preferences(path: Path) -> list[Finding]:
    """Return a finding for each invalid preference."""
    remedy = f"Fix {path}. Until then, the default value is used."
    problems = read_preferences(path)[1]
    return [Finding("preferences", False, problem, remedy) for problem in problems]


def _check_database_if_readable(path: Path) -> list[Finding]:
    try:
        return _check_database(path)
    except OSError as error:
        return [Finding("database", False, "not readable", f"{path}: {error.strerror}.")]


def _check_database(path: Path) -> list[Finding]:
    """Check the database, its newest backup, and the copies kept of damaged ones."""
    findings = [_check_integrity(path) if path.exists() else Finding("database", None, "none yet")]
    newest = next(iter(list_backups(path)), None)
    if newest is not None:
        hours = max(0, (time.time() - newest.at) / 3600)
        age = count(round(hours), "hour") if hours < 48 else count(round(hours / 24), "day")
        findings.append(Finding("backup", True, f"{newest.path}, {newest.when}, {age} old"))
    elif path.exists():
        remedy = "Spinney makes one a day while it runs."
        findings.append(Finding("backup", None, "none yet", remedy))
    if copies := list_kept_copies(path):
        more = f" and {len(copies) - 1} more" if len(copies) > 1 else ""
        remedy = "A damaged or replaced database. Read it with: spinney export FOLDER --from FILE"
        findings.append(Finding("kept", None, f"{copies[-1]}{more}", remedy))
    return findings


def _check_integrity(path: Path) -> Finding:
    command = "spinney doctor --repair"
    try:
        if damage := find_damage(path):
            remedy = f"Quit Spinney (spinney stop), then run: {command}"
            return Finding("database", False, f"{path} is damaged: {damage}", remedy, command)
    except SpinneyError as error:
        return Finding("database", False, str(path), error.message)
    except (sqlite3.Error, OSError) as error:
        remedy = "Check the disk and the file's permissions."
        return Finding("database", False, f"{path} cannot be read: {error}", remedy)
    return Finding("database", True, f"{path}, {path.stat().st_size / 1e6:.1f} MB")


def _check_directory(name: str, path: Path) -> Finding:
    existing = path
    while not os.path.exists(existing):  # noqa: PTH110 - `Path.exists` raises if it may not look
        existing = existing.parent
    usage = shutil.disk_usage(existing)
    # A file system of size zero holds no files, whatever its permissions say: /proc, for example.
    if not existing.is_dir() or not os.access(existing, os.W_OK) or not usage.total:
        remedy = f"Make {existing} a directory that you can write to."
        return Finding(name, False, f"{path} is not writable", remedy)
    if usage.free < 50 * 1024 * 1024:
        return Finding(name, False, str(path), "The disk is almost full. Free some space.")
    if name == "worktrees" and is_short(usage.free, usage.total):
        return Finding(name, None, f"{path}, {format_size(usage.free)} free", _advise_sweep(path))
    return Finding(name, True, str(path))


def _advise_sweep(path: Path) -> str:
    taken = measure_directory(path, seconds=_MEASURE_SECONDS)
    amount = f"The worktrees take {format_size(taken)}. " if taken is not None else ""
    return f"{amount}'spinney prune' lists those that can go without a loss."
