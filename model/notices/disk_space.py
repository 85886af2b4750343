"""Looks now and then whether the disk gets full."""

import asyncio
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from model.base.amounts import format_size
from model.base.free_space import is_short

INTERVAL: Final = 300.0
"""Seconds between two looks."""

_ENOUGH: Final = 1.2
"""How many times as much must be free again, so that a few bytes do not raise one notice after
another."""


class DiskSpace:
    """Raises a notice when the disk of one of the folders gets short, and withdraws it after that.

    Args:
        paths: The folders.
        on_short: Called once, with a sentence.
        on_enough: Called when there is space again.
    """

    def __init__(
        self,
        paths: Iterable[Path],
        on_short: Callable[[str], None],
        on_enough: Callable[[], None],
    ) -> None:
        self._paths = tuple(paths)
        self._on_short = on_short
        self._on_enough = on_enough
        self._is_short = False

    async def run(self) -> None:
        """Look until canceled."""
        while True:
            await self.look()
            await asyncio.sleep(INTERVAL)

    async def look(self) -> None:
        """Look once."""
        problem = await asyncio.to_thread(self._find_problem)
        if problem and not self._is_short:
            self._is_short = True
            self._on_short(problem)
        elif not problem and self._is_short:
            self._is_short = False
            self._on_enough()

    def _find_problem(self) -> str:
        factor = _ENOUGH if self._is_short else 1.0
        for path in self._paths:
            try:
                usage = shutil.disk_usage(path)
            except OSError:
                continue
            if is_short(int(usage.free / factor), usage.total):
                return f"{format_size(usage.free)} are free for {path}"
        return ""
