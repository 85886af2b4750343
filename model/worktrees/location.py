"""Checks that a directory for worktrees is in nothing that goes, or is changed, with other work."""

import os
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.git_layout import is_bare_repository
from model.base.paths import Directories
from model.base.text import clean_line


def check_location(directory: Path, repository: Path, directories: Directories) -> None:
    """Raise `SpinneyError` if worktrees of `repository` must not be made in `directory`; blocks.

    They may be in its own main checkout. A home directory that is a repository, as some keep their
    settings in one, does not count.
    """
    place = Path(os.path.realpath(directory))
    problem = _find_problem(place, Path(os.path.realpath(repository)), directories)
    if problem:
        raise SpinneyError(
            f"Worktrees cannot be in {clean_line(str(directory))}: it is inside {problem}. Choose a"
            " directory outside of repositories and of Spinney's data."
        )


def _find_problem(place: Path, repository: Path, directories: Directories) -> str:
    data = Path(os.path.realpath(directories.data))
    default = Path(os.path.realpath(directories.worktrees_home))
    if place.is_relative_to(data) and not place.is_relative_to(default):
        return "the data directory of Spinney"
    home = Path(os.path.realpath(directories.home))
    for folder in (place, *place.parents):
        # As git sees it, also on a disk that does not distinguish case.
        if folder.name.lower() == ".git" or (folder.exists() and is_bare_repository(folder)):
            return f"the git directory {clean_line(str(folder))}"
        if folder in (repository, home):
            continue
        marker = folder / ".git"
        if marker.is_file():
            return f"the worktree {clean_line(str(folder))}, and would be deleted with it"
        if (marker / "HEAD").exists():
            return f"the repository {clean_line(str(folder))}"
    return ""
