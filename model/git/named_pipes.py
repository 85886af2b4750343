"""Detect named pipes in place of files that git reads: git would block on them forever."""

import asyncio
import os
import stat
import time
from asyncio import Future
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from model.base.errors import SpinneyError
from model.base.git_layout import git_directories
from model.base.text import clean_line

_TREE_FILES: Final = frozenset({".gitignore", ".gitattributes", ".gitmodules"})
_SKIPPED_FOLDERS: Final = frozenset({"worktrees", "modules", "hooks"})
"""Subfolders of a git directory that belong to other worktrees or hold programs."""
_CHECK_AFTER: Final = 2.0
"""Seconds after which a running read is checked."""
_SEARCH_TIMEOUT: Final = 2.0
"""Seconds to search for a pipe; git's own time limit applies if that is too short."""


async def stop_if_blocked(running: Future[Any], cwd: Path, stop: Callable[[], None]) -> None:
    """Stop a slow git that is blocked on a named pipe in `cwd`, and raise `SpinneyError`."""
    done, _ = await asyncio.wait({running}, timeout=_CHECK_AFTER)
    if done:
        return
    pipe = await asyncio.to_thread(
        lambda: next(_find_pipes(cwd, time.monotonic() + _SEARCH_TIMEOUT), None)
    )
    if pipe is None:
        return
    stop()
    await asyncio.wait({running})
    raise SpinneyError(
        f"{clean_line(str(pipe))} is a named pipe where git expects a file, so git would wait "
        "forever. Remove it, then try again.",
        "git_error",
    )


def _find_pipes(cwd: Path, deadline: float) -> Iterator[Path]:
    root = next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)
    directories = git_directories(root)
    for folder in {directories.own, directories.common} if directories is not None else ():
        yield from _find_pipes_below(folder, frozenset(), deadline)
    yield from _find_pipes_below(root, _TREE_FILES, deadline)


def _find_pipes_below(top: Path, names: frozenset[str], deadline: float) -> Iterator[Path]:
    """Yield the pipes with these names; without names, all pipes in git's own directory."""
    for current, folders, files in os.walk(top):
        if time.monotonic() > deadline:
            return
        folder = Path(current)
        if names:
            folders[:] = [name for name in folders if name != ".git"]
        elif folder == top:
            folders[:] = [name for name in folders if name not in _SKIPPED_FOLDERS]
        elif folder == top / "objects":
            folders[:] = ["info"]  # The rest is as large as the history.
        for name in files:
            if (not names or name in names) and _is_pipe(folder / name):
                yield folder / name


def _is_pipe(path: Path) -> bool:
    try:
        return stat.S_ISFIFO(path.stat().st_mode)
    except OSError:
        return False
