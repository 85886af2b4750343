"""`spinney ls`: list projects, worktrees and sessions."""

import time
from argparse import Namespace
from collections.abc import Iterator

from model.base.amounts import format_age
from model.base.plural import count
from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.lookup import (
    Json,
    find_project,
    list_projects,
    list_sessions,
    list_worktrees,
)
from model.cli.session_lines import format_rows
from model.cli.sources import open_source
from model.cli.styles import paint


def ls(options: Namespace) -> int:
    """Print the tree; returns the exit code."""
    with open_source() as source:
        projects = list_projects(source)
        worktrees = list_worktrees(source, projects, archived=options.archived)
        if options.project is not None:
            projects = [find_project(projects, worktrees, options.project)]
        archived = "include" if options.archived else "exclude"
        only = {"projectId": projects[0]["id"]} if options.project is not None else {}
        rows = list_sessions(source, archived=archived, **only)
    ids = {project["id"] for project in projects}
    worktrees = [worktree for worktree in worktrees if worktree["project_id"] in ids]
    if options.json:
        write_json({"projects": projects, "worktrees": worktrees, "sessions": rows})
    elif projects:
        write_output("".join(f"{line}\n" for line in _describe(projects, worktrees, rows)))
    else:
        write_output("There are no projects. Add one with: spinney call add_project path=.\n")
    return 0


def _describe(projects: list[Json], worktrees: list[Json], rows: list[Json]) -> Iterator[str]:
    lines = dict(zip((row["id"] for row in rows), format_rows(rows), strict=True))
    for project in projects:
        yield f"{paint(clean_line(project['name']), 'bold')}  {clean_line(project['path'])}"
        for worktree in worktrees:
            if worktree["project_id"] == project["id"]:
                yield f"  {_describe_worktree(worktree)}"
                inside = [row for row in rows if row["worktree_id"] == worktree["id"]]
                yield from (f"    {lines[row['id']]}" for row in inside)
    waiting = sum(row["status"] == "waiting" for row in rows)
    if waiting:
        verb = "waits" if waiting == 1 else "wait"
        yield f"{count(waiting, 'session')} {verb} for you. See: spinney status"


def _describe_worktree(worktree: Json) -> str:
    parts = [paint(clean_line(worktree["name"]), "cyan")]
    if worktree["branch"] != worktree["name"]:
        parts.append(f"on {clean_line(worktree['branch'])}")
    if worktree["archived_at"] is not None:
        age = format_age(worktree["archived_at"], time.time())
        parts.append(f"archived {age}")
    if worktree["status"] != "ready":
        parts.append(worktree["status"])
    added, removed = worktree["cached_branch_diff_added"], worktree["cached_branch_diff_removed"]
    if added or removed:
        parts.append(f"+{added or 0} −{removed or 0}")
    for key, word in (("ahead", "ahead"), ("behind", "behind")):
        if number := worktree[f"cached_{key}_count"]:
            parts.append(f"{number} {word}")
    if worktree["pr_number"]:
        parts.append(f"#{worktree['pr_number']}")
    return "  ".join(parts)
