"""Keeps conflicts out of commits: files that are not resolved, and markers that git left."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.git.added_lines import AddedLines, Additions, parse_added_lines, read_added_lines
from model.git.changes import to_display_name
from model.git.diff import resolve_head
from model.git.merging import find_other_side
from model.git.run import git
from model.git.status import list_untracked_files
from model.git.untracked import render_new_files

_FIRST: Final = "^<<<<<<<"
"""A pattern of the first marker, for git."""
_FIRST_ADDED: Final = b"\n+<<<<<<<"
_MARKERS: Final = tuple(
    re.compile(sign + "{7,}" + end)
    for sign, end in (("<", r"(?: |\r?$)"), ("=", r"\r?$"), (">", r"(?: |\r?$)"))
)
"""The markers in their order; others, as of the base, may stand between them. Git makes them longer
where a file says so (`conflict-marker-size`), and without a name for sides that have none."""
_SHOWN: Final = 5
"""Files that a refusal names."""


async def refuse_conflicts(path: Path, *, stage_all: bool, allow_markers: bool = False) -> None:
    """Raise `conflict` for files that are not resolved, or with markers in what they would add.

    Args:
        path: The worktree.
        stage_all: Whether all changes would be committed; else those in the index.
        allow_markers: Whether lines that look like markers may be added.
    """
    refuse_unmerged(await list_unmerged(path))
    if not allow_markers:
        refuse_marked(await find_added_markers(path, stage_all=stage_all))


def refuse_unmerged(files: Sequence[str]) -> None:
    """Raise `conflict` if there are files that are not resolved."""
    if unmerged := list(dict.fromkeys(files)):
        raise SpinneyError(
            f"Nothing was committed: {_name(unmerged)} {_verb(unmerged)} a conflict. Take a side, "
            "or stage what you have resolved.",
            "conflict",
        )


def refuse_marked(marked: Sequence[str]) -> None:
    """Raise `conflict` if there are files to which a commit would add markers."""
    if marked:
        raise SpinneyError(
            f"Nothing was committed: {_name(marked)} {_verb(marked)} conflict markers (<<<<<<< and "
            ">>>>>>>). Resolve the conflict first. If they belong there, commit with git in a "
            "shell, or with `allowMarkers`.",
            "conflict",
        )


async def list_unmerged(path: Path) -> list[str]:
    """Return the files with a conflict in the index, for people."""
    listed = await git(path, "ls-files", "--unmerged", "-z")
    names = dict.fromkeys(field.partition("\t")[2] for field in listed.fields)
    return [to_display_name(name) for name in names]


async def find_added_markers(path: Path, *, stage_all: bool) -> list[str]:
    """Return the files in which a commit would add all markers of a conflict, for people.

    What the other side of a merge in progress has as well is not added by it.
    """
    index = () if stage_all else ("--cached",)
    head = [await resolve_head(path)] if stage_all else []
    marked = await compare_markers(path, *index, *head)
    if marked and (other := await find_other_side(path)):
        theirs = await compare_markers(path, *index, other)
        marked = [name for name in marked if name in theirs]
    if stage_all:
        names = await list_untracked_files(path)
        marked += await asyncio.to_thread(_find_in_new_files, path, names)
    return marked


def may_have_markers(additions: Additions) -> bool:
    """Whether lines that would be committed may be markers: `find_added_markers` says which are.

    Found without renames, they are all that could be found with them.
    """
    return not additions.is_whole or _FIRST_ADDED in additions.raw


async def compare_markers(path: Path, *compared: str) -> list[str]:
    """Return the files to which a `git diff` with these arguments adds all markers."""
    additions = await read_added_lines(path, "--find-renames", f"-G{_FIRST}", *compared)
    return await asyncio.to_thread(lambda: _find_marked(additions.lines()))


def has_markers(lines: Iterable[str]) -> bool:
    """Whether these lines of a file contain all markers of a conflict, in order."""
    return _follow(lines, 0) == len(_MARKERS)


def _find_in_new_files(path: Path, names: Sequence[str]) -> list[str]:
    return _find_marked(parse_added_lines(render_new_files(path, names)))


def _find_marked(added: Iterable[AddedLines]) -> list[str]:
    seen: dict[str, int] = {}
    for lines in added:
        seen[lines.path] = _follow(lines.text.split("\n"), seen.get(lines.path, 0))
    return [path for path, count in seen.items() if count == len(_MARKERS)]


def _follow(lines: Iterable[str], seen: int) -> int:
    """Return how many markers were seen after these lines, with those before them."""
    for line in lines:
        if seen < len(_MARKERS) and _MARKERS[seen].match(line):
            seen += 1
    return seen


def _name(files: Sequence[str]) -> str:
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    return ", ".join(f"'{name}'" for name in files[:_SHOWN]) + more


def _verb(files: Sequence[str]) -> str:
    return "has" if len(files) == 1 else "have"
