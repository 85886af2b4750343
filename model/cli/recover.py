"""`spinney recover`: list recovery points, and bring back what they keep."""

import time
from argparse import Namespace
from typing import Any, Final

from model.base.plural import count
from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.choices import choose
from model.cli.quick_call import request_here

_ID_LENGTH: Final = 8
"""Characters of an id that are printed; any unique beginning of an id is accepted."""


def recover(options: Namespace) -> int:
    """Run what the command line asks for; returns the exit code."""
    match options.action:
        case "restore":
            _restore(options)
        case "files":
            _files(options)
        case _:
            _list(options)
    return 0


def _list(options: Namespace) -> None:
    points = request_here("list_recovery_points")
    if options.json:
        write_json(points)
    elif points:
        write_output("".join(_describe(point) + "\n" for point in points))
    else:
        write_output("There are no recovery points.\n")


def _restore(options: Namespace) -> None:
    point = _find(options)
    if point["sessions_only"]:
        _restore_sessions(options, point)
        return
    recovery_id = point["recovery_id"]
    worktree = request_here("restore_worktree", recoveryId=recovery_id, name=options.name)
    if options.json:
        write_json(worktree)
    else:
        write_output(f"Restored {clean_line(worktree['name'])} in {clean_line(worktree['path'])}\n")


def _restore_sessions(options: Namespace, point: dict[str, Any]) -> None:
    if options.name is not None:
        options.parser.error("--name: only a worktree can get another name")
    sessions = request_here("restore_sessions", recoveryId=point["recovery_id"])
    if options.json:
        write_json(sessions)
    else:
        restored = count(len(sessions), "session")
        write_output(f"Restored {clean_line(point['name'])} ({restored})\n")


def _files(options: Namespace) -> None:
    """List the files of a point, or restore those that are named."""
    recovery_id = _find(options)["recovery_id"]
    if options.paths:
        request_here("restore_files", recoveryId=recovery_id, paths=options.paths)
        if options.json:
            write_json(options.paths)
        else:
            write_output(f"Restored {count(len(options.paths), 'file')}\n")
        return
    files = request_here("list_recovery_files", recoveryId=recovery_id)
    if options.json:
        write_json(files)
    else:
        write_output("".join(f"{file['status']:<9} {file['path']}\n" for file in files))


def _find(options: Namespace) -> dict[str, Any]:
    """Return the point whose id begins with the given one."""
    if not options.point:
        options.parser.error("name a recovery point; list them with: spinney recover")
    points = request_here("list_recovery_points")
    found = [point for point in points if point["recovery_id"].startswith(options.point)]
    return choose(found, "recovery point", options.point, "List them with: spinney recover")


def _describe(point: dict[str, Any]) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(point["created_at"]))
    parts = [] if point["sessions_only"] else [count(point["files"], "file")]
    parts.append(f"{point['size_bytes'] / 1e6:.1f} MB")
    if point["sessions"]:
        parts.append(count(point["sessions"], "session"))
    if point["left_out"]:
        parts.append(f"{point['left_out']} not kept")
    what = clean_line(point["reason"] or point["kind"])
    name = clean_line(point["name"])
    return f"{point['recovery_id'][:_ID_LENGTH]}  {when}  {name}: {what} ({', '.join(parts)})"
