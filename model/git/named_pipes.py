"""What git waits at for ever: a named pipe in the place of a file that it reads."""

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

_IN_THE_TREE: Final = frozenset({".gitignore", ".gitattributes", ".gitmodules"})
_ITS_OWN: Final = frozenset({"worktrees", "modules", "hooks"})
"""Folders of a git directory that belong to other working trees, or that are run."""
_SOON: Final = 2.0
"""Seconds after which a git that only reads is looked after."""
_LONGEST: Final = 2.0
"""Seconds to look for one; git's own limit holds where that is too short."""


async def end_what_waits(running: Future[Any], cwd: Path, stop: Callable[[], None]) -> None:
    """Stop a git that takes long and waits at a pipe in `cwd`. Raises `SpinneyError` then."""
    done, _ = await asyncio.wait({running}, timeout=_SOON)
    if done:
        return
    pipe = await asyncio.to_thread(lambda: next(_pipes(cwd, time.monotonic() + _LONGEST), None))
    if pipe is None:
        return
    stop()
    await asyncio.wait({running})
    raise SpinneyError(
        f"{clean_line(str(pipe))} is a named pipe where git reads a file, and git would wait there"
        " for ever. Remove it, and look again.",
        "git_error",
    )


def _pipes(cwd: Path, until: float) -> Iterator[Path]:
    root = next((at for at in (cwd, *cwd.parents) if (at / ".git").exists()), cwd)
    found = git_directories(root)
    for folder in {found.own, found.common} if found is not None else ():
        yield from _pipes_below(folder, frozenset(), until)
    yield from _pipes_below(root, _IN_THE_TREE, until)


def _pipes_below(top: Path, names: frozenset[str], until: float) -> Iterator[Path]:
    """The pipes with these names; without names, all that git's own folder has."""
    for folder, folders, files in os.walk(top):
        if time.monotonic() > until:
            return
        at = Path(folder)
        if names:
            folders[:] = [each for each in folders if each != ".git"]
        elif at == top:
            folders[:] = [each for each in folders if each not in _ITS_OWN]
        elif at == top / "objects":
            folders[:] = ["info"]  # The rest is as large as the history.
        for name in files:
            if (not names or name in names) and _is_pipe(at / name):
                yield at / name


def _is_pipe(path: Path) -> bool:
    try:
        return stat.S_ISFIFO(path.stat().st_mode)
    except OSError:
        return False
