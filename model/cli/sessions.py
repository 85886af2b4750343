"""`spinney sessions`: list and search all sessions."""

from argparse import Namespace

from model.base.standard_streams import write_json, write_output
from model.cli.arguments import backend_of_agent
from model.cli.lookup import find_project, list_projects, list_worktrees
from model.cli.session_lines import format_rows
from model.cli.sources import open_source


def sessions(options: Namespace) -> int:
    """Print the sessions that match; returns the exit code."""
    wanted = {
        "status": options.state,
        "backend": backend_of_agent(options.agent) if options.agent else None,
        "search": options.search,
        "archived": "only" if options.archived else "exclude",
        "limit": min(options.limit, 1000),
        "offset": 0,
    }
    with open_source() as source:
        if options.project is not None:
            projects = list_projects(source)
            worktrees = list_worktrees(source, projects)
            wanted["projectId"] = find_project(projects, worktrees, options.project)["id"]
        found = source.call("list_all_sessions", **wanted)
    if options.json:
        write_json(found)
        return 0
    lines = format_rows(found["sessions"], with_place=True)
    if not lines:
        lines = ["No session matches." if found["total"] == 0 else ""]
    if found["total"] > len(found["sessions"]):
        lines.append(f"{len(lines)} of {found['total']}; for more: --limit {found['total']}")
    write_output("".join(f"{line}\n" for line in lines))
    return 0
