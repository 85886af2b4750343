"""Locates the git directories of a working tree by reading files, without running git."""

import errno
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_MAX_BYTES: Final = 1_000_000
"""Bytes of a `.git` file or a configuration; git also refuses larger `.git` files."""


@dataclass(frozen=True, slots=True)
class GitDirectories:
    """The two are the same for a repository's main checkout and for a bare repository."""

    own: Path
    """Contains `HEAD` and `index` of this working tree (`git rev-parse --git-dir`)."""
    common: Path
    """Contains the branches of all working trees (`git rev-parse --git-common-dir`)."""


def git_directories(root: Path) -> GitDirectories | None:
    """Find the git directories of the working tree or bare repository at `root`, if it is one."""
    marker = root / ".git"
    try:
        if marker.is_dir():
            return _same_directory(marker)
        if marker.is_file():
            own = _read_pointer(marker, "gitdir: ")
            shared = own / "commondir"
            common = _read_pointer(shared) if shared.is_file() else own
            return GitDirectories(_resolve(own), _resolve(common))
        return _same_directory(root) if looks_bare(root) else None
    except OSError:
        return None


def looks_bare(path: Path) -> bool:
    """Whether `path` itself is a git directory, judged by the same files as git does."""
    return (
        not (path / ".git").exists()
        and (path / "HEAD").is_file()
        and (path / "objects").is_dir()
        and (path / "refs").is_dir()
    )


def repository_around(path: Path) -> Path | None:
    """Find the repository that contains `path`: its main checkout, or a bare repository itself."""
    path = _resolve(path)
    for folder in (path, *path.parents):
        try:
            # Agents' sandboxes leave empty folders of this name behind.
            if (folder / ".git" / "HEAD").exists():
                return folder
            if (folder / ".git").is_file() or (folder.name != ".git" and looks_bare(folder)):
                return repository_of(folder)
        except OSError:
            continue
    return None


def repository_of(root: Path) -> Path:
    """Find the main checkout of the linked worktree at `root`; any other root is returned as is."""
    dirs = git_directories(root)
    if dirs is None or dirs.own == dirs.common:
        return root  # Also a submodule, and the parent folder of a bare repository.
    parent = dirs.common.parent
    of_parent = git_directories(parent)
    if of_parent is not None and of_parent.own == dirs.common:
        return parent
    return _configured_worktree(dirs.common) or dirs.common


def borrowed_from(root: Path) -> Path | None:
    """Find the other checkout that owns the repository the `.git` at `root` points to, if any.

    `None` for a linked worktree, a submodule, and a repository created with a separate git
    directory: those belong to `root`.
    """
    dirs = git_directories(root)
    if dirs is None or dirs.own != dirs.common or dirs.own.name != ".git":
        return None
    root, other = _resolve(root), dirs.own.parent
    return None if root in (other, _configured_worktree(dirs.own)) else other


def _configured_worktree(common: Path) -> Path | None:
    """The path in `core.worktree`, which the git directory of a submodule sets."""
    try:
        text = os.fsdecode(_read_small_file(common / "config"))
    except OSError:
        return None
    line = re.search(r"^[ \t]*worktree[ \t]*=[ \t]*(\S.*)$", text, re.MULTILINE)
    return _resolve(common / line[1].rstrip()) if line else None


def _same_directory(directory: Path) -> GitDirectories:
    real = _resolve(directory)
    return GitDirectories(real, real)


def _resolve(path: Path) -> Path:
    """Resolve symlinks; `Path.resolve` raises for symlink loops before Python 3.13."""
    return Path(os.path.realpath(path))


def _read_pointer(file: Path, label: str = "") -> Path:
    text = os.fsdecode(_read_small_file(file)).removesuffix("\n").removeprefix(label)
    return file.parent / text


def _read_small_file(file: Path) -> bytes:
    """Read a small regular file. Raises `OSError`."""
    if not file.is_file():  # Opening a named pipe would block.
        raise FileNotFoundError(file)
    with file.open("rb") as opened:
        content = opened.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES or b"\0" in content:
        raise OSError(errno.EINVAL, "not a text file written by git", str(file))
    return content
