"""Find the files of a checkout that git would overwrite without a word, as it ignores them."""

import asyncio
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from model.git.run import git
from model.git.three_way import TIMEOUT

_SUBMODULE: Final = "160000"
_MAX_FOUND: Final = 20


async def find_in_the_way(
    path: Path, to: str, environment: Mapping[str, str] | None = None
) -> list[str]:
    """Return files that are not in the index, where a commit has files that the index lacks.

    They stand at such a path, above it (a file where a folder is needed) or below it. Git deletes
    those that it ignores. The work is in proportion to what differs between index and commit, and
    at most `_MAX_FOUND` files are returned.
    """
    compared = await git(
        path, "diff-index", "--cached", "-R", "-z", "--no-renames", "--ignore-submodules=none",
        to, "--", environment=environment, timeout=TIMEOUT,
    )  # fmt: skip
    return await asyncio.to_thread(_find, os.fspath(path), compared.raw_stdout)


def _find(root: str, differences: bytes) -> list[str]:
    gone: list[str] = []
    added: dict[str, bool] = {}
    """Whether each is a submodule, for which git leaves a folder as it is."""
    fields = os.fsdecode(differences).split("\0")
    for facts, name in zip(fields[::2], fields[1::2], strict=False):
        before, after, _, _, status = facts.removeprefix(":").split(" ")
        if status == "D":
            gone.append(name)
        elif status == "A" or before == _SUBMODULE != after:
            added[name] = after == _SUBMODULE
    # By what they are, not by name: a file system may take `a` for `A`.
    leaving = {_identify(f"{root}/{name}") for name in gone}
    found: dict[str, None] = {}
    seen: dict[str, bool] = {"": True}
    for name, is_submodule in added.items():
        for each in _find_at(root, name, is_submodule, leaving, seen):
            found[each] = None
            if len(found) >= _MAX_FOUND:
                return list(found)
    return list(found)


def _identify(file: str) -> tuple[int, int] | None:
    """Return what identifies a file among all others; `None` for a folder, or if there is none."""
    try:
        facts = os.lstat(file)
    except OSError:
        return None
    return None if stat.S_ISDIR(facts.st_mode) else (facts.st_dev, facts.st_ino)


def _find_at(
    root: str,
    name: str,
    is_submodule: bool,
    leaving: set[tuple[int, int] | None],
    seen: dict[str, bool],
) -> Iterable[str]:
    """Yield what stands at, above or below a path. `seen` has whether a folder is on disk."""
    parts = name.split("/")
    for depth in range(1, len(parts)):
        folder = "/".join(parts[:depth])
        if folder not in seen:
            seen[folder] = _is_folder(f"{root}/{folder}")
            if not seen[folder] and _is_kept(f"{root}/{folder}", leaving):
                yield folder
        if not seen[folder]:
            return
    if not _is_folder(f"{root}/{name}"):
        if _is_kept(f"{root}/{name}", leaving):
            yield name
    elif not is_submodule:
        for folder, folders, files in os.walk(f"{root}/{name}"):
            links = (each for each in folders if Path(folder, each).is_symlink())
            for each in (*files, *links):
                if _is_kept(f"{folder}/{each}", leaving):
                    yield os.path.relpath(f"{folder}/{each}", root)


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _is_kept(file: str, leaving: set[tuple[int, int] | None]) -> bool:
    """Whether there is a file that is not among those leaving the index."""
    facts = _identify(file)
    return facts is not None and facts not in leaving
