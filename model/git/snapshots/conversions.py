"""Files whose bytes on disk are not those that git stores: line endings, encodings, filters.

Git calls such a file unchanged, and a checkout does not always bring the same bytes back. A
snapshot therefore stores the bytes on disk, found by their size; what a filter handles is always
looked at.
"""

import asyncio
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.git_layout import GitDirectories
from model.git.run import git
from model.git.safe_config import list_settings
from model.git.snapshots import plumbing

_SETTINGS: Final = frozenset({"core.autocrlf", "core.eol", "core.attributesfile"})
_MAX_FILTERED: Final = 50_000_000
"""Bytes; a larger file that a filter handles (Git LFS) is left to the filter."""


async def may_convert(root: Path, directories: GitDirectories, names: Iterable[str]) -> bool:
    """Whether any file of a worktree may differ; `names` are all that may be `.gitattributes`."""
    return await asyncio.to_thread(_may_convert, root, directories, names)


@dataclass(frozen=True, slots=True)
class ConvertedFiles:
    """The files whose bytes on disk may differ from what git stores."""

    paths: list[str]
    left_to_filters: list[str]
    """Too large to be stored a second time, while a filter brings them back (Git LFS)."""


async def find_converted_files(root: Path, tree: str) -> ConvertedFiles:
    """Compare the files on disk with `tree`, which has them as git would store them."""
    listed = await git(root, "ls-tree", "-r", "-l", "-z", "--full-tree", tree, timeout=120)
    sizes = await asyncio.to_thread(_parse_sizes, listed.raw_stdout)
    filtered = await list_filtered(root, sizes)
    return await asyncio.to_thread(_find_different, root, sizes, filtered)


async def hash_as_git(
    root: Path, paths: list[str], environment: Mapping[str, str] | None = None
) -> list[str]:
    """Store files with their line endings as git would; no filter runs. Return the object ids."""
    stdin = b"".join(plumbing.quote_path(path) + b"\n" for path in paths)
    hashed = await plumbing.run(
        root, "hash-object", "-w", "--stdin-paths", stdin=stdin, environment=environment
    )
    return hashed.stdout.split()


def _parse_sizes(listed: bytes) -> dict[str, int]:
    sizes = {}
    for line in listed.split(b"\0"):
        head, _, path = line.partition(b"\t")
        fields = head.split()
        if len(fields) == 4 and fields[0].startswith(b"100"):
            sizes[os.fsdecode(path)] = int(fields[3])
    return sizes


def _may_convert(root: Path, directories: GitDirectories, paths: Iterable[str]) -> bool:
    if any(path.endswith(".gitattributes") for path in paths):
        return True
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    files = (directories.common_dir / "info" / "attributes", Path(folder) / "git" / "attributes")
    return any(file.is_file() for file in files) or any(
        name in _SETTINGS and value.lower() not in ("", "false", "native")
        for name, value in list_settings(root)
    )


async def list_filtered(root: Path, paths: Iterable[str]) -> set[str]:
    """Return the files among `paths` that a filter handles."""
    settings = await asyncio.to_thread(lambda: [name for name, _ in list_settings(root)])
    if not any(name.startswith("filter.") for name in settings):
        return set()
    stdin = b"\0".join(os.fsencode(path) for path in paths)
    listed = await git(root, "check-attr", "-z", "--stdin", "filter", stdin=stdin, timeout=120)
    fields = listed.raw_stdout.split(b"\0")
    pairs = zip(fields[::3], fields[2::3], strict=False)
    return {os.fsdecode(path) for path, value in pairs if value not in (b"unspecified", b"unset")}


def _find_different(root: Path, sizes: dict[str, int], filtered: set[str]) -> ConvertedFiles:
    found = ConvertedFiles([], [])
    for path, size in sizes.items():
        try:
            facts = (root / path).lstat()
        except OSError:
            continue  # Not checked out, as in a sparse checkout.
        if path in filtered and facts.st_size > _MAX_FILTERED:
            found.left_to_filters.append(path)
        elif facts.st_size != size or path in filtered:
            found.paths.append(path)
    return found
