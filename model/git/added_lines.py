"""The lines that the next commit would add, or that a push would publish."""

import asyncio
import os
import re
import shutil
import tempfile
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from model.base.errors import worktree_directory_missing
from model.base.git_layout import find_git_directories
from model.base.text import clean_line
from model.git.diff import MAX_BYTES
from model.git.hosts import identify_url
from model.git.run import git

_OPTIONS: Final = (
    "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--no-renames",
    "-O/dev/null", "--ignore-submodules=all", "--src-prefix=a/", "--dst-prefix=b/",
    "--unified=0", "--inter-hunk-context=0",
)  # fmt: skip
_QUIET: Final = (
    # A replacement is read here in place of the object that a push sends.
    "--no-replace-objects", "-c", "core.quotePath=false", "-c", "diff.suppressBlankEmpty=false",
)  # fmt: skip
_TIMEOUT: Final = 120
_HUNK: Final = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_COMMIT: Final = "\0"
"""Begins the line with the id of a commit; no other line of a diff has this character there."""


@dataclass(frozen=True, slots=True)
class AddedLines:
    """Consecutive lines that a change adds to a file."""

    path: str
    """As git prints it, for people."""
    first: int
    """The number of the first line."""
    text: str
    commit: str = ""
    """The commit that adds them; empty if they are not committed."""


@dataclass(frozen=True, slots=True)
class Additions:
    """All that a commit or a push adds."""

    raw: bytes
    """Git's diff, from which `lines` are read."""
    is_whole: bool
    """Whether all of it was read; the limit is 32 MB of diff."""
    tree: str = ""
    """The id of the tree that would be committed."""

    def lines(self) -> Iterator[AddedLines]:
        """Yield the added lines; takes time in proportion to the diff."""
        return parse_added_lines(self.raw.decode("utf-8", "replace"))


async def read_staged_additions(
    root: Path, *, stage_all: bool, against: str | None = None
) -> Additions:
    """Read what a commit of the staged changes would add; with `stage_all`, of all changes.

    The index stays as it is: all changes are staged in a copy of it. `against` is the commit that
    they are compared with, by default the last one.
    """
    if not stage_all:
        return await _read_index(root, against, {})
    directories = await asyncio.to_thread(find_git_directories, root)
    if directories is None:
        raise worktree_directory_missing(str(root))
    with tempfile.TemporaryDirectory(prefix="spinney-index-") as folder:
        copy = Path(folder) / "index"
        await asyncio.to_thread(_copy_if_present, directories.git_dir / "index", copy)
        environment = {"GIT_INDEX_FILE": os.fspath(copy)}
        await git(root, "add", "--all", write=True, timeout=_TIMEOUT, environment=environment)
        return await _read_index(root, against, environment)


async def read_unpublished_additions(root: Path, remote: str, ref: str) -> Additions:
    """Read what the commits of `ref` add that no branch of `remote` has; merges are left out."""
    printed = await git(
        root, *_QUIET, "log", "--patch", "--no-merges", "--no-show-signature", "--format=%x00%h",
        *_OPTIONS, ref, *await _leave_out_published(root, remote), "--",
        timeout=_TIMEOUT, max_bytes=MAX_BYTES,
    )  # fmt: skip
    return Additions(printed.raw_stdout, not printed.is_truncated)


async def read_unpublished_messages(root: Path, remote: str, ref: str) -> list[AddedLines]:
    """Read the messages of the commits of `ref` that no branch of `remote` has, also of merges."""
    printed = await git(
        root, *_QUIET, "log", "--no-patch", "--no-show-signature", "-z", "--format=%h%n%B", ref,
        *await _leave_out_published(root, remote), "--", timeout=_TIMEOUT, max_bytes=MAX_BYTES,
    )  # fmt: skip
    found = (one.partition("\n") for one in printed.stdout.split("\0") if one)
    return [AddedLines("message", 1, text, commit) for commit, _, text in found]


async def read_added_lines(root: Path, *compared: str) -> Additions:
    """Read what a `git diff` with these arguments adds."""
    printed = await git(
        root, *_QUIET, "diff", *_OPTIONS, *compared, "--", timeout=_TIMEOUT, max_bytes=MAX_BYTES
    )
    return Additions(printed.raw_stdout, not printed.is_truncated)


async def read_index_tree(root: Path) -> str:
    """Return the id of the tree in the index; empty if it has unresolved conflicts."""
    written = await git(root, "write-tree", check=False, write=True)
    return written.stdout if written.returncode == 0 else ""


def parse_added_lines(diff: str) -> Iterator[AddedLines]:
    """Yield the added lines of a diff without context, also of several commits."""
    # Without the marks of files that do not end with a line break.
    lines = (line for line in diff.split("\n") if not line.startswith("\\"))
    path = commit = ""
    for line in lines:
        if line.startswith(_COMMIT):
            commit = line[1:]
        elif line.startswith("+++ "):
            path = clean_line(line[4:].strip('"').removeprefix("b/").removesuffix("\t"))
        elif found := _HUNK.match(line):
            removed, added = (int(found[group] or 1) for group in (1, 3))
            # Counted, not recognized: an added line may look like any other part of a diff.
            deque(islice(lines, removed), maxlen=0)
            text = "\n".join(line[1:] for line in islice(lines, added))
            yield AddedLines(path, int(found[2]), text, commit)


async def _leave_out_published(root: Path, remote: str) -> tuple[str, ...]:
    """Return the options that leave out what a remote has: nothing, if a push goes elsewhere."""
    fetched, pushed = [
        {
            identify_url(url)
            for url in (await git(root, "remote", *get_url, remote)).stdout.split("\n")
        }
        for get_url in (("get-url", "--all"), ("get-url", "--all", "--push"))
    ]
    return ("--not", f"--remotes={remote}") if pushed <= fetched else ()


async def _read_index(root: Path, commit: str | None, environment: dict[str, str]) -> Additions:
    # The tree first: what is staged after it is noticed before the commit.
    tree = await git(root, "write-tree", check=False, write=True, environment=environment)
    printed = await git(
        root, *_QUIET, "diff", "--cached", *_OPTIONS, *([commit] if commit else []), "--",
        timeout=_TIMEOUT, max_bytes=MAX_BYTES, environment=environment,
    )  # fmt: skip
    is_whole = not printed.is_truncated
    return Additions(printed.raw_stdout, is_whole, tree.stdout if tree.returncode == 0 else "")


def _copy_if_present(index: Path, copy: Path) -> None:
    if index.exists():
        shutil.copy2(index, copy)
