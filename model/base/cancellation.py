"""Git's slow work, by worktree, so that a person can end it: hooks and networks take their time."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from model.base.errors import SpinneyError

T = TypeVar("T")


class SlowWork:
    """What runs now in each worktree. Belongs to the core's loop."""

    def __init__(self) -> None:
        self._running: dict[str, set[asyncio.Task[Any]]] = {}

    async def run(self, worktree_id: str, what: str, work: Coroutine[Any, Any, T]) -> T:
        """Run it to its end. Raises what it raises, and `conflict` when a person ended it."""
        task = asyncio.get_running_loop().create_task(work)
        running = self._running.setdefault(worktree_id, set())
        running.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if task not in running:
                raise SpinneyError(f"The {what} was cancelled.", "conflict") from None
            raise
        finally:
            running.discard(task)
            if not running:
                self._running.pop(worktree_id, None)

    async def cancel(self, worktree_id: str) -> bool:
        """End what runs in the worktree and undo what is half done; whether there was anything."""
        tasks = list(self._running.get(worktree_id, ()))
        for task in tasks:
            self._running[worktree_id].discard(task)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return bool(tasks)
