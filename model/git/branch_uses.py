"""Who else moves a branch: an unfinished rebase or bisect, or a second checkout, in any worktree.

A branch that is being rebased is checked out nowhere by its name. Git itself looks at the same
files before it lets go of a branch (`worktree.c`, `branch.c`).
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from model.base.git_layout import find_git_directories, find_main_checkout
from model.base.text import clean_line

_MAX_BYTES: Final = 1_000_000
_HEADS: Final = "refs/heads/"
_OPERATIONS: Final = (
    ("rebase-merge/head-name", "rebased"),
    ("rebase-merge/update-refs", "rebased"),
    ("rebase-apply/head-name", "rebased"),
    ("BISECT_START", "bisected"),
)


def describe_use(root: Path, branch: str) -> str:
    """Return why a branch must not be moved, and the next step; empty if it may. Blocks.

    A merge or the like in its only checkout is not looked for here.
    """
    directories = find_git_directories(root)
    if directories is None:
        return ""
    places = list(_list_places(root, directories.common_dir))
    for git_dir, path in places:
        for file, done in _OPERATIONS:
            if branch in _read_branches(git_dir / file):
                return (
                    f"'{clean_line(branch)}' is being {done} in {clean_line(str(path))}. Finish or "
                    "abort that, then try again."
                )
    head = f"ref: {_HEADS}{branch}"
    checkouts = [path for git_dir, path in places if _read(git_dir / "HEAD").strip() == head]
    if len(checkouts) > 1:
        where = " and in ".join(clean_line(str(path)) for path in checkouts)
        return (
            f"'{clean_line(branch)}' is checked out in {where}, of which only one could follow. "
            "Switch the others to another branch, then try again."
        )
    return ""


def _list_places(root: Path, common: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the git directory and the folder of each checkout that exists."""
    main = find_main_checkout(root)
    if main != common:
        yield common, main
    for entry in sorted(common.glob("worktrees/*")):
        marker = _read(entry / "gitdir").removesuffix("\n")
        if marker and os.path.lexists(entry / marker):
            yield entry, (entry / marker).parent


def _read_branches(file: Path) -> set[str]:
    """The branches that a file of an operation names, in full or (a bisect) by their names."""
    words = _read(file).split()
    return {word.removeprefix(_HEADS) for word in words}


def _read(file: Path) -> str:
    try:
        if not file.is_file():  # Opening a named pipe would block.
            return ""
        with file.open("rb") as opened:
            return os.fsdecode(opened.read(_MAX_BYTES))
    except OSError:
        return ""
