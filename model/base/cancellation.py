"""Slow git operations (hooks, networks) by worktree, so that the user can cancel them."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from model.base.errors import SpinneyError

T = TypeVar("T")


class SlowWork:
    """The cancellable tasks that run in each worktree. Belongs to the core's event loop."""

    def __init__(self) -> None:
        self._running: dict[str, set[asyncio.Task[Any]]] = {}

    async def run(self, worktree_id: str, operation: str, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run `work` and return its result. Raises `conflict` when the user canceled it."""
        task = asyncio.get_running_loop().create_task(coroutine)
        running = self._running.setdefault(worktree_id, set())
        running.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if task not in running:
                raise SpinneyError(f"The {operation} was canceled.", "conflict") from None
            raise
        finally:
            running.discard(task)
            if not running:
                self._running.pop(worktree_id, None)

    async def cancel(self, worktree_id: str) -> bool:
        """Cancel the worktree's tasks and wait for their cleanup; return whether there were any."""
        tasks = list(self._running.get(worktree_id, ()))
        for task in tasks:
            self._running[worktree_id].discard(task)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return bool(tasks)
