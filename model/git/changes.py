"""Which files differ, and how much of each: in the working tree, in the index, on the branch.

Git's names are bytes, people's are text. `Changed` knows both, and whoever names a file by its text
gets only files that differ, so that no path leads anywhere else.
"""

import asyncio
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import make_visible
from model.domain.changes import FileStatus, Side
from model.git.diff import DIFF, MOST_BYTES, TIMEOUT, branch_ends, head
from model.git.patches import FilePatch, file_patch
from model.git.run import git
from model.git.status import untracked_files
from model.git.untracked import as_new_files, count_lines_of_each

_STATUS: Final[dict[str, FileStatus]] = {
    "A": "added", "M": "modified", "D": "deleted", "R": "renamed", "C": "copied", "T": "retyped",
    "U": "conflicted",
}  # fmt: skip
_SUBMODULE: Final = "160000"
_LINE_BREAKS: Final = str.maketrans({"\n": "␊", "\r": "␍", "\t": "␉"})


@dataclass(frozen=True, slots=True)
class Changed:
    """A file that differs. Lines are `None` for binary files."""

    name: str
    """As `os` finds it."""
    status: FileStatus
    old_name: str | None = None
    added: int | None = 0
    removed: int | None = 0
    old_mode: str = ""
    """Git's, six digits; `000000` where there is no file."""
    mode: str = ""

    @property
    def is_submodule(self) -> bool:
        """Whether it is another repository."""
        return _SUBMODULE in (self.old_mode, self.mode)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that the change concerns."""
        return (self.old_name, self.name) if self.old_name else (self.name,)


def shown_name(name: str) -> str:
    """A file's name as people read it, on one line."""
    return make_visible(os.fsencode(name).decode("utf-8", "replace").translate(_LINE_BREAKS))


async def changed_files(path: Path, side: Side, base: str | None = None) -> list[Changed]:
    """What differs, by name. Conflicts are not staged; they belong to `unstaged`.

    Args:
        path: The worktree.
        side: What is compared.
        base: For `branch`: the base.
    """
    commits = await _commits(path, side, base)
    command = _diff(side, commits, "--raw", "--numstat", "-z")
    shown = await git(path, *command, "--", timeout=TIMEOUT)
    found = await asyncio.to_thread(_read, shown.fields)
    if side == "unstaged":
        new = await untracked_files(path)
        counts = await asyncio.to_thread(count_lines_of_each, path, new)
        found += [
            Changed(name, "untracked", added=lines) for name, lines in zip(new, counts, strict=True)
        ]
    else:
        found = [file for file in found if file.status != "conflicted"]
    return sorted(found, key=lambda file: file.name)


async def changed_file(path: Path, side: Side, shown: str, base: str | None = None) -> Changed:
    """The file that people call this. Raises `SpinneyError` when it does not differ any more."""
    files = [
        file for file in await changed_files(path, side, base) if shown_name(file.name) == shown
    ]
    if len(files) == 1:
        return files[0]
    if files:
        raise SpinneyError(
            f"{len(files)} files are shown as “{shown}”: their names differ in invisible "
            "characters. Rename one of them first.",
            "conflict",
        )
    raise SpinneyError(
        f"“{shown}” has no such changes any more; look at the list anew.", "conflict"
    )


async def patch_of(
    path: Path, side: Side, file: Changed, base: str | None = None
) -> tuple[FilePatch, bool]:
    """The difference of one file, and whether it was cut because it is too large."""
    if file.status == "untracked":
        text = await asyncio.to_thread(as_new_files, path, [file.name])
        return file_patch(text.encode("utf-8", "replace")), False
    commits = await _commits(path, side, base)
    if file.status == "conflicted":  # against ours: three-way differences are hard to read
        commits = (await head(path),)
    command = _diff(side, commits)
    names = literal(file.names)
    shown = await git(path, *command, "--", *names, timeout=TIMEOUT, most=MOST_BYTES)
    raw = shown.raw
    if shown.cut:
        limit = f"{MOST_BYTES // 1_000_000} MB"
        raw = raw.rpartition(b"\n")[0]
        raw += f"\n\\ The rest is not shown: the difference is larger than {limit}.\n".encode()
    return await asyncio.to_thread(file_patch, raw), shown.cut


def _diff(side: Side, commits: tuple[str, ...], *options: str) -> tuple[str, ...]:
    """The call of git without its names."""
    # Only a changed commit of a submodule can be staged; what is loose inside it cannot.
    flag = ("--cached",) if side == "staged" else ()
    # Without commits git 2.39 takes the `--` behind `--end-of-options` for one.
    ends = (DIFF[-1], *commits) if commits else ()
    # Where a context is named, git prints the patch as well.
    every = [option for option in DIFF[:-1] if not (options and option.startswith("--unified"))]
    return (*every, *options, *flag, *ends)


async def _commits(path: Path, side: Side, base: str | None) -> tuple[str, ...]:
    match side:
        case "unstaged":
            return ()
        case "staged":
            return (await head(path),)
        case "branch":
            return await branch_ends(path, base or "HEAD")


def _read(fields: list[str]) -> list[Changed]:
    """The rows of `--raw --numstat -z`: first all of the one, then all of the other."""
    files: dict[str, Changed] = {}
    rest = iter(fields)
    for field in rest:
        if field.startswith(":"):
            # A conflict has as many colons as it has sides, and a mode for each.
            sides = len(field) - len(field.lstrip(":"))
            facts = field[sides:].split(" ")
            old_mode, mode, letter = facts[0], facts[sides], facts[-1]
            status = "conflicted" if sides > 1 else _STATUS.get(letter[:1], "modified")
            old_name = next(rest) if letter[:1] in "RC" else None
            name = next(rest)
            if name not in files or status == "conflicted":
                files[name] = Changed(name, status, old_name, 0, 0, old_mode, mode)
            continue
        added, removed, name = field.split("\t", 2)
        if not name:
            _, name = next(rest), next(rest)
        if name in files:
            files[name] = replace(files[name], added=_number(added), removed=_number(removed))
    return list(files.values())


def _number(digits: str) -> int | None:
    return None if digits == "-" else int(digits)


def literal(names: Iterable[str]) -> list[str]:
    """The names as git takes them: no pattern, from the worktree's root."""
    return [f":(top,literal){name}" for name in names]
