"""`spinney prune`: list what worktrees take on disk; archive or delete those no longer needed."""

import time
from argparse import Namespace
from collections.abc import Iterator
from typing import Final

from model.base.amounts import format_age, format_size
from model.base.plural import count
from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.choices import confirm
from model.cli.lookup import Json, find_project, list_projects, list_worktrees
from model.cli.quick_call import connect_here, request_here

_DAY: Final = 86_400
_MERGED: Final = {
    "commits": "merged",
    "squash": "its changes are in the base",
    "content": "the base has the same content",
    "pull_request": "its pull request was merged",
}


def prune(options: Namespace) -> int:
    """Run what the command line asks for; returns the exit code, 1 if it was not confirmed or a
    worktree could not go.
    """
    if options.delete_remote_branch and options.action != "delete":
        options.parser.error("--delete-remote-branch: only for --delete")
    project = {} if options.project is None else {"projectId": _find_project(options.project)}
    sweep = request_here("list_sweep", withSizes=True, **project)
    reasons = {row["worktree_id"]: find_reason(row, options) for row in sweep["rows"]}
    going = [row for row in sweep["rows"] if not reasons[row["worktree_id"]]]
    if options.action is None or not options.json:
        _show(sweep, reasons, options)
    if options.action is None or not going:
        if options.action and options.json:
            write_json([])
        return 0
    size = format_size(sum(row["size"] or 0 for row in going))
    question = f"{options.action.capitalize()} {count(len(going), 'worktree')} ({size})?"
    if options.delete_remote_branch:
        question += " Their branches at the remote are deleted, too, and stay deleted."
    if not options.yes and not confirm(options, question, options.action):
        return 1
    ids = [row["worktree_id"] for row in going]
    remote = {"deleteRemoteBranch": True} if options.delete_remote_branch else {}
    swept = request_here("sweep_worktrees", worktreeIds=ids, action=options.action, **remote)
    if options.json:
        write_json(swept)
    else:
        names = {row["worktree_id"]: clean_line(row["name"]) for row in going}
        lines = (f"{names[one['worktree_id']]}: {clean_line(one['message'])}" for one in swept)
        write_output("".join(f"{line}\n" for line in lines))
        if options.action == "delete":
            write_output("Bring one back with: spinney recover\n")
    return 0 if all(one["ok"] for one in swept) else 1


def find_reason(row: Json, options: Namespace) -> str:
    """Why a worktree stays; '' if it goes.

    Without `--merged` and `--older-than` those that are merged go.
    """
    if row["is_running"]:
        return "a session is at work"
    if row["archived"] and options.action == "archive":
        return "archived already"
    if row["uncommitted"]:
        return count(row["uncommitted"], "uncommitted file")
    if row["unpushed"] and row["merged"] is None:
        return f"{count(row['unpushed'], 'commit')} nowhere else"
    if row["besides"]:
        return clean_line(", ".join(row["besides"]))
    if row["reverted"] and (options.merged or options.older_than is None):
        return "the base has taken its changes back"
    if (options.merged or options.older_than is None) and row["merged"] is None:
        return "not merged"
    days = (time.time() - row["last_used_at"]) / _DAY
    if options.older_than is not None and days < options.older_than:
        return f"used {format_age(row['last_used_at'], time.time())} ago".replace("now ago", "now")
    return ""


def _find_project(wanted: str) -> str:
    with connect_here() as connection:
        projects = list_projects(connection)
        worktrees = list_worktrees(connection, projects)
    return str(find_project(projects, worktrees, wanted)["id"])


def _show(sweep: Json, reasons: dict[str, str], options: Namespace) -> None:
    if options.json:
        rows = [{**row, "stays": reasons[row["worktree_id"]]} for row in sweep["rows"]]
        write_json({**sweep, "rows": rows})
    elif sweep["rows"]:
        write_output("".join(f"{line}\n" for line in _describe(sweep, reasons, options)))
    else:
        write_output("There are no worktrees.\n")


def _describe(sweep: Json, reasons: dict[str, str], options: Namespace) -> Iterator[str]:
    for row in sweep["rows"]:
        stays = reasons[row["worktree_id"]]
        merged = _MERGED.get(row["merged"], "nothing is lost")
        about = f"stays: {stays}" if stays else f"goes: {merged}"
        size = "?" if row["size"] is None else format_size(row["size"])
        used = format_age(row["last_used_at"], time.time())
        yield f"{size:>9}  {used:>4}  {clean_line(row['name'])}: {about}"
    if options.action is None and not all(reasons.values()):
        yield "Nothing was changed. Add --archive or --delete for those that go."
