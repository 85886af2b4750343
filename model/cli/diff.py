"""`spinney diff`: show what a worktree changed."""

import asyncio
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.standard_streams import write_output
from model.base.text import clean_line
from model.cli.lookup import (
    Json,
    find_session,
    find_worktree,
    list_projects,
    list_sessions,
    list_worktrees,
)
from model.cli.sources import open_source
from model.cli.styles import has_color, paint
from model.git.diff import clean_text
from model.git.patch_of_worktree import PatchForm, read_patch


def diff(options: Namespace) -> int:
    """Print the changes; returns the exit code."""
    worktree, base = _find(options.place)
    form: PatchForm = "stat" if options.stat else "names" if options.name_only else "patch"
    patch = asyncio.run(read_patch(Path(worktree["path"]), base, form))
    if not sys.stdout.isatty():
        _write_bytes(patch)
        return 0
    if not patch:
        write_output(f"{clean_line(worktree['name'])} has no changes.\n")
        return 0
    text = clean_text(patch.decode("utf-8", "replace"))
    lines = _paint(text) if form == "patch" else text.splitlines(keepends=True)
    _page("".join(lines), options)
    return 0


def _find(wanted: str | None) -> tuple[Json, str]:
    """Return the worktree that is named, or that of the session, and its base branch."""
    with open_source() as source:
        projects = list_projects(source)
        worktrees = list_worktrees(source, projects, archived=True)
        try:
            worktree = find_worktree(worktrees, wanted)
        except SpinneyError as error:
            if wanted is None or error.error_type != "not_found":
                raise
            session = find_session(list_sessions(source, archived="include"), wanted)
            worktree = next(one for one in worktrees if one["id"] == session["worktree_id"])
    project = next(one for one in projects if one["id"] == worktree["project_id"])
    return worktree, worktree["base_branch"] or project["default_branch"]


def _write_bytes(data: bytes) -> None:
    """Write a patch as it is: `git apply` needs every byte."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise SpinneyError(f"The output could not be written: {error.strerror}.") from None


def _paint(text: str) -> Iterator[str]:
    """Yield the lines in the colors of git."""
    if not has_color():
        yield text
        return
    is_head = True
    for line in text.splitlines(keepends=True):
        body, end = line.rstrip("\n"), "\n"
        if body.startswith("diff --git"):
            is_head = True
        if body.startswith("@@"):
            is_head = False
            hunk, mark, rest = body[2:].partition("@@")
            yield paint(f"@@{hunk}{mark}", "cyan") + rest + end
        elif is_head:
            yield paint(body, "bold") + end
        else:
            style = {"+": "green", "-": "red"}.get(body[:1], "")
            yield (paint(body, style) if style else body) + end


def _page(text: str, options: Namespace) -> None:
    """Show a text in the user's pager, or print it if there is none."""
    pager = _choose_pager()
    if options.no_pager or not pager:
        write_output(text)
        return
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    try:
        # By a shell, as git does: the setting is the user's own and may have options.
        process = subprocess.Popen(pager, shell=True, stdin=subprocess.PIPE, env=environment)
    except OSError:
        write_output(text)
        return
    try:
        process.communicate(text.encode("utf-8", "replace"))
    except KeyboardInterrupt:
        process.wait()  # The pager decides what ctrl+c does.


def _choose_pager() -> str:
    """Return the command of the pager: as git chooses it, but never from the repository."""
    settings = (os.environ.get("GIT_PAGER"), _read_git_setting(), os.environ.get("PAGER"), "less")
    chosen = next(setting for setting in settings if setting is not None).strip()
    return "" if chosen == "cat" else chosen


def _read_git_setting() -> str | None:
    found = subprocess.run(
        ["git", "config", "--global", "--get", "core.pager"], capture_output=True, text=True
    )
    return found.stdout.strip() if found.returncode == 0 else None
