"""Finds the sessions, worktrees and projects that words of a command line stand for.

Each is named by its id, its name or the beginning of its id; a worktree by its branch, too; a
session also by its worktree. Without a word, or with `.`, it is the one of the current directory.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from model.base.errors import SpinneyError, UsageError
from model.base.paths import expand_home, resolve_links
from model.base.suggestions import did_you_mean
from model.base.text import clean_line

Json = dict[str, Any]

_PAGE: Final = 1000
_MAX_CANDIDATES: Final = 10
SHORT_ID: Final = 8
"""Characters of an id that are printed."""


class Source(Protocol):
    """A running Spinney, or what one has saved."""

    def call_all(self, calls: Sequence[tuple[str, Json]]) -> list[Any]:
        """Return the results of commands."""


def list_sessions(source: Source, **wanted: Any) -> list[Json]:
    """Return rows of all sessions that `list_all_sessions` finds, the last used first."""
    rows: list[Json] = []
    while True:
        arguments = {**wanted, "limit": _PAGE, "offset": len(rows)}
        page = source.call_all([("list_all_sessions", arguments)])[0]
        rows += page["sessions"]
        if not page["sessions"] or len(rows) >= page["total"]:
            return rows


def list_projects(source: Source) -> list[Json]:
    """Return all projects, without folders."""
    found = source.call_all([("list_projects", {})])[0]
    return [project for project in found if not project["is_folder"]]


def list_worktrees(
    source: Source, projects: Iterable[Json], *, archived: bool = False
) -> list[Json]:
    """Return the worktrees of the projects, in the order of the tree."""
    calls: list[tuple[str, Json]] = [
        ("list_worktrees", {"projectId": project["id"], "includeArchived": archived})
        for project in projects
    ]
    return [worktree for found in source.call_all(calls) for worktree in found]


def find_session(rows: Sequence[Json], wanted: str | None, waiting: str = "") -> Json:
    """Return the one session that is meant.

    Args:
        rows: All sessions, archived ones too.
        wanted: The word; `None` or `.` is the session of the current directory.
        waiting: What a session must wait for to be preferred to others of the same place:
            `question`, or `plan permission`.

    Raises `SpinneyError` if there is none, `UsageError` with the candidates if there are several.
    """
    if wanted in (None, "."):
        return _choose(_of_directory(rows), waiting)
    assert wanted is not None
    found = _match(rows, wanted) or _of_worktree(rows, wanted)
    if not found:
        names = [row["name"] for row in rows] + [row["worktree_name"] for row in rows]
        raise SpinneyError(
            f"No session has the name or id '{clean_line(wanted)}'.{_suggest(wanted, names)} For a "
            "list: spinney sessions",
            "not_found",
        )
    return _choose(found, waiting)


def find_last_session(rows: Sequence[Json], wanted: str | None) -> Json:
    """As `find_session`, but of several in one worktree it is the last used: only for reading."""
    found = _of_directory(rows) if wanted in (None, ".") else []
    if not found and wanted is not None:
        found = [] if _match(rows, wanted) else _of_worktree(rows, wanted)
    if len({row["worktree_id"] for row in found}) == 1:
        return max(found, key=lambda row: float(row["updated_at"]))
    return find_session(rows, wanted)


def find_worktree(worktrees: Sequence[Json], wanted: str | None) -> Json:
    """Return the one worktree that is meant. Raises as `find_session`."""
    if wanted in (None, "."):
        found = find_innermost(worktrees, Path.cwd())
        if found is None:
            raise SpinneyError(
                "This directory is in no worktree of Spinney. Name one, or go to its directory.",
                "not_found",
            )
        return found
    assert wanted is not None
    matches = _match(worktrees, wanted) or [w for w in worktrees if w["branch"] == wanted]
    return _only(matches, worktrees, "worktree", wanted, lambda tree: tree["branch"])


def find_project(projects: Sequence[Json], worktrees: Sequence[Json], wanted: str | None) -> Json:
    """Return the one project that is meant: also by its path. Raises as `find_session`."""
    if wanted in (None, "."):
        worktree = find_innermost(worktrees, Path.cwd())
        inside = find_innermost(projects, Path.cwd())
        if worktree is not None:
            inside = next(one for one in projects if one["id"] == worktree["project_id"])
        if inside is None:
            raise SpinneyError(
                "This directory is in no project of Spinney. Name one, or add it with: spinney "
                "call add_project path=.",
                "not_found",
            )
        return inside
    assert wanted is not None
    path = str(resolve_links(expand_home(wanted)))
    matches = _match(projects, wanted) or [one for one in projects if one["path"] == path]
    return _only(matches, projects, "project", wanted, lambda project: project["path"])


def find_innermost(places: Iterable[Json], path: Path) -> Json | None:
    """Return the project or worktree with the innermost directory that contains a path."""
    here = resolve_links(path)
    inside = [one for one in places if here.is_relative_to(resolve_links(Path(one["path"])))]
    return max(inside, key=lambda one: len(one["path"]), default=None)


def _match(items: Sequence[Json], wanted: str) -> list[Json]:
    """Return the items with this id or name, else those whose id begins so."""
    if not wanted:
        return []
    return (
        [item for item in items if item["id"] == wanted]
        or [item for item in items if item["name"] == wanted]
        or [item for item in items if item["id"].startswith(wanted)]
    )


def _of_worktree(rows: Sequence[Json], wanted: str) -> list[Json]:
    """Return the sessions of the worktrees with this name, branch or beginning of an id."""
    found = [row for row in rows if wanted in (row["worktree_name"], row["branch"])]
    if not found and wanted:
        found = [row for row in rows if row["worktree_id"].startswith(wanted)]
    return [row for row in found if row["archived_at"] is None] or found


def _of_directory(rows: Sequence[Json]) -> list[Json]:
    """Return the sessions of the innermost worktree that the current directory is in."""
    here = resolve_links(Path.cwd())
    places = {row["worktree_path"] for row in rows}
    inside = [place for place in places if here.is_relative_to(resolve_links(Path(place)))]
    place = max(inside, key=len, default=None)
    found = [row for row in rows if row["worktree_path"] == place and row["archived_at"] is None]
    if not found:
        raise SpinneyError(
            "There is no session in the worktree of this directory. Name one; list them with: "
            "spinney sessions",
            "not_found",
        )
    return found


def _choose(found: list[Json], waiting: str) -> Json:
    """Return the only session, or the only one that waits for what is given."""
    preferred = [row for row in found if row["waiting_for"] and row["waiting_for"] in waiting]
    for candidates in (found, preferred):
        if len(candidates) == 1:
            return candidates[0]
    raise UsageError(
        _list_candidates("session", found, lambda row: f"{row['worktree_name']}, {row['status']}")
    )


def _only(found: list[Json], known: Sequence[Json], kind: str, wanted: str, describe: Any) -> Json:
    if not found:
        hint = _suggest(wanted, [item["name"] for item in known])
        raise SpinneyError(
            f"No {kind} has the name or id '{clean_line(wanted)}'.{hint} For a list: spinney ls",
            "not_found",
        )
    if len(found) > 1:
        raise UsageError(_list_candidates(kind, found, describe))
    return found[0]


def _suggest(wanted: str, names: list[str]) -> str:
    hint = clean_line(did_you_mean(wanted[:100], names[:_PAGE]))
    return f" {hint}" if hint else ""


def _list_candidates(kind: str, found: list[Json], describe: Any) -> str:
    lines = [
        f"  {item['id'][:SHORT_ID]}  {clean_line(item['name'])} ({clean_line(describe(item))})"
        for item in found[:_MAX_CANDIDATES]
    ]
    more = len(found) - len(lines)
    lines += [f"  … and {more} more"] if more else []
    return "\n".join([f"More than one {kind} is meant. Give the beginning of an id:", *lines])
