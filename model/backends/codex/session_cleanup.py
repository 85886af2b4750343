"""What a session's commands leave behind: processes, and empty folders in the worktree."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from model.backends import process_table
from model.backends.codex import policy
from model.backends.process_table import ProcessRef

_STRAYS: Final = (".agents", ".aws", ".codex", ".git")
"""Empty directories that the sandbox leaves where it stood when it is ended (0.169)."""


class Remains:
    """Of the session whose commands carry this mark; folders that stood there before are not."""

    def __init__(self, worktree: Path, mark: str) -> None:
        self._mark = mark
        strays = (worktree / name for name in _STRAYS)
        self._strays = [path for path in strays if not path.exists()]

    async def processes(self) -> set[ProcessRef]:
        """What the session's commands have running, as far as it is known by its mark."""
        return await asyncio.to_thread(process_table.family, None, policy.MARK, self._mark)

    async def sweep(self, known: Iterable[ProcessRef] = ()) -> None:
        """End what runs, with those `known` from before, and remove the folders."""
        left = {*known, *await self.processes()}
        await asyncio.to_thread(process_table.kill, left)
        await self.tidy()

    async def tidy(self) -> None:
        """Remove the folders."""
        await asyncio.to_thread(_remove_empty, self._strays)


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in folders:
        with suppress(OSError):  # not there, or not empty
            folder.rmdir()
