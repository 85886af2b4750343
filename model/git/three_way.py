"""Merge two commits beside all worktrees, and write the result as a commit.

Since 2.38 git merges without a worktree (`merge-tree`); an older one gets a scratch worktree. No
hook takes part. Merge drivers are those of the user's own configuration, not of the repository's.
"""

import asyncio
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.paths import create_private_folders
from model.git.diff import explain_no_common_commit
from model.git.run import GitResult, git, git_version
from model.git.safe_config import drop_merge_drivers
from model.git.working_tree import read_working_tree

_OLDEST_MERGE_TREE: Final = (2, 38)
TIMEOUT: Final = 300.0
"""Seconds; large trees with many renames take minutes."""
_CONFLICT: Final = 1
_WHOLE_FILES: Final = ("-c", "core.bigFileThreshold=512m")
"""Reads take files from 5 MB on for binary, which are never merged."""
NO_HOOKS: Final = ("-c", f"core.hooksPath={os.devnull}")
_UTF8: Final = ("-c", "i18n.commitEncoding=UTF-8")
_RAW_DATE: Final = re.compile(r"[0-9]+ [+-][0-9]{4}")


@dataclass(frozen=True, slots=True)
class Merge:
    """The result of a merge."""

    tree: str
    """Empty if there are conflicts."""
    conflicts: tuple[str, ...] = ()
    """The files, as `os` accepts them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where commits are merged."""

    root: Path
    """A working tree of the repository, or a bare one."""
    folder: Path
    """Does not exist; an older git gets its worktree there."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Where objects are written, if not to the repository."""
    sign: bool = False
    """Whether the user wants commits to be signed."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a commit, and when: `1700000000 +0100`.

    Bytes that are not UTF-8 are surrogate escapes.
    """

    name: str
    email: str
    date: str


async def can_merge_trees() -> bool:
    """Whether the installed git merges without a worktree."""
    numbers = (await git_version()).split(".")
    return tuple(int(number) for number in numbers[:2]) >= _OLDEST_MERGE_TREE


async def wants_signatures(root: Path) -> bool:
    """Whether the user wants commits in this repository to be signed (`commit.gpgsign`)."""
    found = await git(root, "config", "--type=bool", "--get", "commit.gpgsign", check=False)
    return found.stdout == "true"


async def merge_commits(place: Place, ours: str, theirs: str) -> Merge:
    """Merge two commits.

    Raises:
        SpinneyError: What git reports, such as unrelated histories or a full disk.
    """
    if not await can_merge_trees():
        return await _merge_in_worktree(place, ours, theirs)
    drivers = await asyncio.to_thread(drop_merge_drivers, place.root)
    merged = await git(
        place.root, *_WHOLE_FILES, *drivers,
        "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs,
        check=False, timeout=TIMEOUT, environment=place.environment,
    )  # fmt: skip
    if merged.returncode > _CONFLICT:
        raise await _to_error(place.root, merged)
    tree, *files = merged.fields
    if merged.returncode == _CONFLICT:
        return Merge("", tuple(dict.fromkeys(files)))
    return Merge(tree)


async def _to_error(root: Path, merged: GitResult) -> SpinneyError:
    error = SpinneyError(merged.message, "git_error")
    if "unrelated histories" not in merged.stderr:
        return error
    return await asyncio.to_thread(explain_no_common_commit, root, error)


async def commit_tree(
    place: Place, tree: str, parents: list[str], message: str, author: Author | None = None
) -> str:
    """Write a commit by the user, and return its id. Raises what git reports."""
    environment = dict(place.environment)
    if author is not None:
        # Without the `@` git does not take numbers below 100000000 for seconds, and corrects zones.
        # A date that some program wrote wrongly is left to git to guess.
        is_raw = _RAW_DATE.fullmatch(author.date)
        environment |= {
            "GIT_AUTHOR_NAME": author.name,
            "GIT_AUTHOR_EMAIL": author.email,
            "GIT_AUTHOR_DATE": f"@{author.date}" if is_raw else author.date,
        }
    options = [option for parent in parents for option in ("-p", parent)]
    made = await git(
        place.root, *_UTF8, "commit-tree", *(["-S"] if place.sign else []), *options, tree,
        stdin=message.encode("utf-8", "surrogateescape"), environment=environment, write=True,
        timeout=TIMEOUT,
    )  # fmt: skip
    return made.stdout


async def add_detached_worktree(
    root: Path, folder: Path, commit: str, environment: Mapping[str, str] | None = None
) -> None:
    """Check a commit out in a new worktree, without hooks. Raises what git reports."""
    await remove_detached_worktree(root, folder)
    await asyncio.to_thread(create_private_folders, folder.parent)
    await git(
        root, *NO_HOOKS, "worktree", "add", "--quiet", "--detach", "--end-of-options",
        str(folder), commit, write=True, timeout=TIMEOUT, environment=environment,
    )  # fmt: skip


async def remove_detached_worktree(root: Path, folder: Path) -> None:
    """Remove a worktree of ours with all that is in it; does nothing if there is none."""
    # Twice, because a killed git leaves its entry locked as "initializing".
    await git(
        root, "worktree", "remove", "--force", "--force", "--end-of-options", str(folder),
        write=True, check=False, timeout=TIMEOUT,
    )  # fmt: skip
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _merge_in_worktree(place: Place, ours: str, theirs: str) -> Merge:
    await add_detached_worktree(place.root, place.folder, ours, place.environment)
    try:
        drivers = await asyncio.to_thread(drop_merge_drivers, place.root)
        merged = await git(
            place.folder, *NO_HOOKS, *drivers,
            "merge", "--quiet", "--no-commit", "--no-ff", "--no-rerere-autoupdate",
            "--no-overwrite-ignore", "--end-of-options", theirs,
            check=False, write=True, timeout=TIMEOUT, environment=place.environment,
        )  # fmt: skip
        if merged.returncode:
            found, _ = await read_working_tree(place.folder)
            if not found.unmerged:
                raise await _to_error(place.root, merged)
            return Merge("", tuple(dict.fromkeys(path for _, path, _ in found.unmerged)))
        written = await git(place.folder, "write-tree", environment=place.environment)
        return Merge(written.stdout)
    finally:
        with suppress(SpinneyError):
            await remove_detached_worktree(place.root, place.folder)
