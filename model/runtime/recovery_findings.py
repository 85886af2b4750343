"""Reports how many recovery points each project's repository has, and their size."""

import asyncio
import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.paths import Directories, resolve_links
from model.base.plural import count
from model.base.text import clean_line
from model.domain.findings import Finding
from model.git.snapshots.recovery import list_points

_PROJECTS = "SELECT body FROM documents WHERE kind = 'project'"


async def check_recovery_points(directories: Directories) -> list[Finding]:
    """Return a finding for each repository with recovery points; it only lists their refs."""
    paths = await asyncio.to_thread(read_project_paths, directories.database)
    findings = []
    for path in [*paths, directories.recovery]:
        with suppress(SpinneyError, OSError):
            if points := (await list_points(path)).points:
                size = sum(point.facts.size_bytes for point in points) / 1e6
                found = f"{count(len(points), 'recovery point')}, {size:.1f} MB"
                findings.append(Finding("recovery", True, f"{clean_line(str(path))}, {found}"))
    return findings


def read_project_paths(database: Path) -> list[Path]:
    """Return the folders of projects that can be read; `find_damage` reports the rest."""
    paths = []
    with suppress(sqlite3.Error, ValueError, OSError):
        uri = f"{resolve_links(database).as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=1)) as connection:
            for (body,) in connection.execute(_PROJECTS):
                path = json.loads(body).get("path")
                paths += [Path(path)] if path else []
    return sorted(set(paths))
