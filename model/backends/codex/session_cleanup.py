"""Cleans up after a session's commands: running processes, and empty folders in the worktree."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from model.backends import process_table
from model.backends.codex import policy
from model.backends.process_table import ProcessRef

_SANDBOX_FOLDERS: Final = (".agents", ".aws", ".codex", ".git")
"""Empty folders that the sandbox leaves in its working directory when it is killed (0.169)."""


class SessionCleanup:
    """Cleanup for the session whose commands carry `mark`; existing folders are not removed."""

    def __init__(self, worktree: Path, mark: str) -> None:
        self._mark = mark
        folders = (worktree / name for name in _SANDBOX_FOLDERS)
        self._folders = [path for path in folders if not path.exists()]

    async def find_processes(self) -> set[ProcessRef]:
        """Running processes of the session's commands, found by their mark."""
        return await asyncio.to_thread(
            process_table.family, None, policy.SESSION_VARIABLE, self._mark
        )

    async def kill_and_remove(self, known: Iterable[ProcessRef] = ()) -> None:
        """Kill the running processes, and those already `known`, and remove the folders."""
        processes = {*known, *await self.find_processes()}
        await asyncio.to_thread(process_table.kill, processes)
        await self.remove_folders()

    async def remove_folders(self) -> None:
        """Remove the folders."""
        await asyncio.to_thread(_remove_empty, self._folders)


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in folders:
        with suppress(OSError):  # missing, or not empty
            folder.rmdir()
