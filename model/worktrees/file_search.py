"""Finding a file of a worktree by a few letters of its path."""

import asyncio
import heapq
import re
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from model.base.text import make_visible
from model.git import tracked_files

FRESH: Final = 5.0
"""Seconds for which a list is taken as it is; after that it is made anew while it is used."""
KEPT: Final = 4
"""Worktrees whose lists are kept: 100,000 paths are some 20 MB."""


@dataclass(slots=True)
class _Files:
    paths: list[str] = field(default_factory=list)
    lowered: list[str] = field(default_factory=list)
    made: float = 0.0


class WorktreeFiles:
    """The lists of the worktrees in which somebody looked for a file lately."""

    def __init__(self) -> None:
        self._lists: OrderedDict[Path, _Files] = OrderedDict()
        self._making: dict[Path, asyncio.Task[_Files]] = {}

    async def find(self, root: Path, query: str, limit: int) -> list[str]:
        """The paths that fit best, at most `limit`; `query` is letters of the path in their order.

        Raises `SpinneyError` when there is no list yet and git cannot make one.
        """
        known = self._lists.get(root)
        if known is None:
            known = await asyncio.shield(self._make(root))
        elif time.monotonic() - known.made > FRESH:
            self._make(root)
        if root in self._lists:
            self._lists.move_to_end(root)
        return await asyncio.to_thread(_best, known, query.lower(), limit)

    def _make(self, root: Path) -> "asyncio.Task[_Files]":
        making = self._making.get(root)
        if making is None:
            making = self._making[root] = asyncio.create_task(self._made(root))
            making.add_done_callback(lambda done: self._over(root, done))
        return making

    async def _made(self, root: Path) -> _Files:
        return await asyncio.to_thread(_listed, await tracked_files.list_files(root))

    def _over(self, root: Path, done: "asyncio.Task[_Files]") -> None:
        del self._making[root]
        # Asked for, so that nobody is told of an exception that no one waited for.
        if done.cancelled() or done.exception() is not None:
            self._lists.pop(root, None)
            return
        self._lists[root] = done.result()
        while len(self._lists) > KEPT:
            self._lists.popitem(last=False)


def _listed(names: list[str]) -> _Files:
    # A name with control characters or other than UTF-8 can be shown and written by nobody.
    paths = [name for name in names if make_visible(name) == name]
    return _Files(paths, [path.lower() for path in paths], time.monotonic())


def _best(files: _Files, query: str, limit: int) -> list[str]:
    """First where the letters stand together, and best in the file's own name."""
    lowered = files.lowered
    found = [at for at, path in enumerate(lowered) if query in path]
    if len(found) < limit:
        # From the path's beginning and without going back: a fifth of the time of `.*?`.
        letters = (f"[^{re.escape(letter)}]*{re.escape(letter)}" for letter in query)
        apart, together = re.compile("".join(letters)).match, set(found)
        found += [at for at, path in enumerate(lowered) if apart(path) and at not in together]
    ranked = heapq.nsmallest(
        limit, found, key=lambda at: (_rank(lowered[at], query), len(lowered[at]), at)
    )
    return [files.paths[at] for at in ranked]


def _rank(path: str, query: str) -> int:
    name = path.rpartition("/")[2]
    if name.startswith(query):
        return 0
    if query in name:
        return 1
    return 2 if query in path else 3
