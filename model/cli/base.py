"""`spinney base`: change the branch that a worktree lands in."""

from argparse import Namespace

from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.lookup import find_worktree, list_projects, list_worktrees
from model.cli.quick_call import connect_here, request_here


def base(options: Namespace) -> int:
    """Change it, and move the worktree's commits onto it if asked to; returns the exit code."""
    with connect_here() as connection:
        known = list_worktrees(connection, list_projects(connection))
    worktree = find_worktree(known, options.worktree)
    changed = request_here(
        "set_worktree_base",
        worktreeId=worktree["id"],
        baseBranch=options.branch,
        moveCommits=options.move,
    )
    if options.json:
        write_json(changed)
        return 0
    moved = ", and its commits are on top of it" if options.move else ""
    name, branch = clean_line(changed["name"]), clean_line(options.branch)
    write_output(f"{name} lands in {branch} now{moved}.\n")
    return 0
