"""`spinney land`: show what landing a worktree would do, ask, and land it; undo; trains."""

import shlex
from argparse import Namespace
from collections.abc import Iterator
from typing import Any, Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.choices import confirm
from model.cli.lookup import (
    Json,
    find_project,
    find_worktree,
    list_projects,
    list_worktrees,
)
from model.cli.quick_call import connect_here, request_here
from model.cli.train import run_train

_SHORT: Final = 7
"""Characters of a commit's id that are printed."""


def land(options: Namespace) -> int:
    """Run what the command line asks for; returns the exit code, 1 if it was not confirmed."""
    if options.undo:
        return _undo(options)
    if options.train:
        worktrees = [_find_worktree(name) for name in options.train]
        return run_train(worktrees, options, lambda landing: _report(landing, options))
    worktree = _find_worktree(options.worktree)
    method = {"method": options.method} if options.method else {}
    preview = request_here("preview_landing", worktreeId=worktree["id"], **method)
    if options.json and not options.yes:
        write_json(preview)
        return 0
    if not options.json:
        write_output("".join(f"{line}\n" for line in _describe(worktree, preview, options)))
    is_passed_over = (options.ignore_check and preview["held_by_check"]) or (
        options.stash and preview["offers_stash"]
    )
    if preview["problem"] and not is_passed_over:
        hint = _describe_ways(worktree, preview)
        raise SpinneyError(f"{clean_line(preview['problem'])}{hint}", "conflict")
    if not options.yes and not confirm(options, "Land?", "land"):
        return 1
    given = {"message": options.message, "after": options.after}
    landing = request_here(
        "land_worktree",
        worktreeId=worktree["id"],
        baseCommit=preview["base_commit"],
        method=preview["method"],
        ignoreCheck=options.ignore_check,
        stashBase=options.stash,
        **{name: value for name, value in given.items() if value is not None},
    )
    _report(landing, options)
    return 0


def _find_worktree(wanted: str | None) -> Json:
    """Return the worktree that is named; by default that of the current directory."""
    with connect_here() as connection:
        return find_worktree(list_worktrees(connection, list_projects(connection)), wanted)


def _describe_ways(worktree: Json, preview: Json) -> str:
    """How it can land anyway, as the end of a message; empty if that is not known."""
    name = shlex.quote(clean_line(worktree["name"]))
    if preview["new_base"]:
        base = shlex.quote(clean_line(preview["new_base"]))
        return f" Run 'spinney base {base} {name} --move'."
    if preview["offers_stash"]:
        return " Or add --stash, which brings them back after the landing."
    if not preview["held_by_check"]:
        return ""
    return (
        f" Run 'spinney land --train {name}' to check it and land it, or add --ignore-check to "
        "land it anyway."
    )


def _describe(worktree: Json, preview: Json, options: Namespace) -> Iterator[str]:
    name, base = clean_line(worktree["name"]), clean_line(preview["base"])
    commits, files = count(preview["commits"], "commit"), count(preview["files"], "file")
    yield f"{name} → {base} ({preview['method']}): {commits}, {files}, " + (
        f"+{preview['added']} −{preview['removed']}"
    )
    for path in preview["conflicts"]:
        yield f"  in conflict: {clean_line(path)}"
    for path in preview["marked_files"]:
        yield f"  adds conflict markers: {clean_line(path)}"
    yield from (f"  {clean_line(warning)}" for warning in preview["warnings"])
    check = preview["check"]
    if check["has_script"]:
        stale = ", but files have changed since" if check["is_stale"] else ""
        yield f"Check: {'not run' if check['status'] == 'none' else check['status']}{stale}"
    if preview["checked_out_in"]:
        yield f"{base} is checked out in {clean_line(preview['checked_out_in'])}, which follows."
    after = options.after or preview["after"]
    if after != "keep":
        yield f"Afterwards: {after} the worktree"
    message = options.message or preview["message"]
    yield from (f"  {clean_line(line)}".rstrip() for line in message.splitlines())


def _report(landing: Json, options: Namespace) -> None:
    if options.json:
        write_json(landing)
        return
    base, number = clean_line(landing["base"]), len(landing["worktree_ids"])
    lines = [
        f"Landed {count(number, 'worktree')} in {base}: "
        f"{landing['before'][:_SHORT]}..{landing['after'][:_SHORT]}",
        *map(clean_line, landing["notes"]),
        "Take it back with: spinney land --undo",
    ]
    write_output("".join(f"{line}\n" for line in lines))


def _undo(options: Namespace) -> int:
    """Take the newest landing of a project back."""
    project = _find_project(options.worktree)
    landings = request_here("list_landings", projectId=project["id"])
    landing = next((one for one in landings if one["undone_at"] is None), None)
    if landing is None:
        raise SpinneyError(
            f"Nothing has landed in '{clean_line(project['name'])}' that can be taken back.",
            "not_found",
        )
    base = clean_line(landing["base"])
    if not options.json:
        what = count(len(landing["worktree_ids"]), "worktree")
        write_output(f"Take back: {what} in {base}; it returns to {landing['before'][:_SHORT]}\n")
    if not options.yes and not confirm(options, "Take it back?", "take it back"):
        return 1
    undone = request_here("undo_landing", landingId=landing["id"])
    if options.json:
        write_json(undone)
        return 0
    lines = [f"{base} is at {undone['before'][:_SHORT]} again", *map(clean_line, undone["notes"])]
    write_output("".join(f"{line}\n" for line in lines))
    return 0


def _find_project(wanted: str | None) -> dict[str, Any]:
    """Return the project of the given worktree, or else of the current directory."""
    with connect_here() as connection:
        projects = list_projects(connection)
        worktrees = list_worktrees(connection, projects)
    if wanted in (None, "."):
        return find_project(projects, worktrees, None)
    project_id = find_worktree(worktrees, wanted)["project_id"]
    return next(one for one in projects if one["id"] == project_id)
