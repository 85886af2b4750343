"""`spinney conflicts`: list the worktrees that are heading for a conflict."""

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.lookup import find_project, list_projects, list_worktrees
from model.cli.quick_call import connect_here, request_here


def conflicts(options: Namespace) -> int:
    """Print the conflicts of all projects or of one; returns the exit code."""
    found = []
    names: dict[str, str] = {}
    for project in _choose_projects(options.project):
        project_id = project["id"]
        request_here("fetch_worktrees_status", projectId=project_id)
        found += request_here("list_conflicts", projectId=project_id)
        worktrees = request_here("list_worktrees", projectId=project_id)
        names |= {worktree["id"]: clean_line(worktree["name"]) for worktree in worktrees}
    if options.json:
        write_json(found)
    elif found:
        write_output("".join(line + "\n" for line in _describe(found, names)))
    else:
        write_output("No worktrees are heading for a conflict.\n")
    return 0


def _choose_projects(name: str | None) -> list[dict[str, Any]]:
    with connect_here() as connection:
        projects = list_projects(connection)
        if name is None:
            return projects
        return [find_project(projects, list_worktrees(connection, projects), name)]


def _describe(found: list[dict[str, Any]], names: dict[str, str]) -> Iterator[str]:
    """Yield a line for each pair, and one for each of its files."""
    pairs = set()
    for conflict in found:
        pair = frozenset((conflict["worktree_id"], conflict["with"]))
        if pair in pairs:
            continue
        pairs.add(pair)
        other = names.get(conflict["with"], clean_line(conflict["with"]))
        yield f"{names[conflict['worktree_id']]} and {other}"
        for file in conflict["files"]:
            lines = ", ".join(str(hunk["ours"]["start"]) for hunk in file["hunks"])
            yield f"  {clean_line(file['path'])}" + (f":{lines}" if lines else "")
