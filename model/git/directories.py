"""Where git keeps what it knows about a working tree: found by reading files, not by asking git."""

import os
from dataclasses import dataclass
from pathlib import Path

from model.git.run import looks_bare


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
            return GitDirectories(own.resolve(), common.resolve())
        return _same(root) if looks_bare(root) else None
    except OSError:
        return None


def _same(directory: Path) -> GitDirectories:
    real = directory.resolve()
    return GitDirectories(real, real)


def _pointed_at(file: Path, label: str = "") -> Path:
    text = os.fsdecode(file.read_bytes()).removesuffix("\n").removeprefix(label)
    return file.parent / text
