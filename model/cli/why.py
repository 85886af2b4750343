"""`spinney why`: explain why a line of a file is there."""

import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from model.base.errors import SpinneyError
from model.base.paths import expand_home, resolve_links
from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line, make_visible
from model.cli.lookup import find_innermost, list_projects, list_worktrees
from model.cli.quick_call import connect_here, request_here

_INDENT: Final = "    "


def why(options: Namespace) -> int:
    """Print the origin of a line; returns the exit code."""
    path, line = _split(options)
    worktree = _find_worktree(path)
    root = resolve_links(Path(worktree["path"]))
    origin = request_here(
        "explain_line", worktreeId=worktree["id"], path=str(path.relative_to(root)), line=line
    )
    if options.json:
        write_json(origin)
    else:
        write_output("\n".join(_describe(origin)) + "\n")
    return 0


def _split(options: Namespace) -> tuple[Path, int]:
    name, _, line = options.place.rpartition(":")
    if not name or not line.isdecimal() or len(line) > 9 or int(line) < 1:
        options.parser.error("name a file and a line, as in src/parse.py:120")
    path = expand_home(name).absolute()
    return resolve_links(path.parent) / path.name, int(line)


def _find_worktree(path: Path) -> dict[str, Any]:
    """Return the worktree that has the file: of nested ones, the innermost."""
    with connect_here() as connection:
        worktrees = list_worktrees(connection, list_projects(connection))
    found = find_innermost(worktrees, path.parent)
    if found is None:
        raise SpinneyError(
            f"{clean_line(str(path))} is not in a worktree that Spinney knows.", "not_found"
        )
    return found


def _describe(origin: dict[str, Any]) -> Iterator[str]:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(origin["time"]))
    commit = f"{origin['commit'][:10]} {clean_line(origin['summary'])}" if origin["commit"] else ""
    match origin["kind"]:
        case "turn":
            yield f"Written by {clean_line(origin['author'] or 'an agent')} before {when}"
        case "edit":
            yield f"Changed by a person or another program before {when}"
        case _:
            yield f"Committed by {clean_line(origin['author'])} on {when}"
    if commit:
        yield f"Commit: {commit}"
    for title in ("prompt", "plan"):
        if origin[title]:
            yield f"{title.capitalize()}:"
            yield from (_INDENT + line for line in make_visible(origin[title]).split("\n"))
    if origin["session_id"]:
        yield f"Session: {clean_line(origin['session_id'])}"
