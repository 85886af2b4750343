"""Where git keeps what it knows about a working tree: found by reading files, not by asking git."""

import errno
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_LARGEST: Final = 1_000_000
"""Bytes of a `.git` file or a configuration; git refuses larger ones of the former, too."""


@dataclass(frozen=True, slots=True)
class GitDirectories:
    """Both are the same for a repository's own checkout and for a bare repository."""

    own: Path
    """Holds `HEAD` and `index` of this working tree."""
    common: Path
    """Holds the branches, for all working trees of the repository."""


def git_directories(root: Path) -> GitDirectories | None:
    """The git directories of the working tree or bare repository at `root`; `None`: not there."""
    marker = root / ".git"
    try:
        if marker.is_dir():
            return _same(marker)
        if marker.is_file():
            own = _pointed_at(marker, "gitdir: ")
            shared = own / "commondir"
            common = _pointed_at(shared) if shared.is_file() else own
            return GitDirectories(_real(own), _real(common))
        return _same(root) if looks_bare(root) else None
    except OSError:
        return None


def looks_bare(path: Path) -> bool:
    """Whether `path` itself is a git directory, told by its files as git tells it."""
    return (
        not (path / ".git").exists()
        and (path / "HEAD").is_file()
        and (path / "objects").is_dir()
        and (path / "refs").is_dir()
    )


def repository_around(path: Path) -> Path | None:
    """The repository that holds this path: its own checkout, or, where it has none, itself."""
    path = _real(path)
    for folder in (path, *path.parents):
        try:
            # Sandboxes of agents leave empty folders of this name.
            if (folder / ".git" / "HEAD").exists():
                return folder
            if (folder / ".git").is_file() or (folder.name != ".git" and looks_bare(folder)):
                return repository_of(folder)
        except OSError:
            continue
    return None


def repository_of(root: Path) -> Path:
    """The repository that a linked worktree at `root` belongs to; any other root itself."""
    found = git_directories(root)
    if found is None or found.own == found.common:
        return root  # Also a submodule, and the folder around a bare repository.
    around = found.common.parent
    beside = git_directories(around)
    if beside is not None and beside.own == found.common:
        return around
    return _configured_root(found.common) or found.common


def borrowed_from(root: Path) -> Path | None:
    """The other checkout whose own repository the `.git` at `root` leads to, if it does.

    Not that of a linked worktree or a submodule, nor a repository that was made apart from its
    files: those belong together.
    """
    found = git_directories(root)
    if found is None or found.own != found.common or found.own.name != ".git":
        return None
    root, other = _real(root), found.own.parent
    return None if root in (other, _configured_root(found.own)) else other


def _configured_root(common: Path) -> Path | None:
    """What `core.worktree` says, as in the git directory of a submodule."""
    try:
        text = os.fsdecode(_content(common / "config"))
    except OSError:
        return None
    line = re.search(r"^[ \t]*worktree[ \t]*=[ \t]*(\S.*)$", text, re.MULTILINE)
    return _real(common / line[1].rstrip()) if line else None


def _same(directory: Path) -> GitDirectories:
    real = _real(directory)
    return GitDirectories(real, real)


def _real(path: Path) -> Path:
    """Where links lead; `Path.resolve` raises where they lead in a circle (before Python 3.13)."""
    return Path(os.path.realpath(path))


def _pointed_at(file: Path, label: str = "") -> Path:
    text = os.fsdecode(_content(file)).removesuffix("\n").removeprefix(label)
    return file.parent / text


def _content(file: Path) -> bytes:
    """All of a small file that is one. Raises `OSError`."""
    if not file.is_file():  # A pipe would be waited at.
        raise FileNotFoundError(file)
    with file.open("rb") as opened:
        content = opened.read(_LARGEST + 1)
    if len(content) > _LARGEST or b"\0" in content:
        raise OSError(errno.EINVAL, "no text that git wrote", str(file))
    return content
