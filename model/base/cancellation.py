"""Slow git operations (hooks, networks) by worktree, so that the user can cancel them."""

import asyncio
from collections.abc import Collection, Coroutine
from typing import Any, TypeVar

from model.base.errors import SpinneyError

T = TypeVar("T")


class CancellableTasks:
    """The cancellable tasks and their worktrees. Belongs to the core's event loop."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Task[Any], Collection[str]] = {}

    async def run(
        self, worktree_ids: str | Collection[str], operation: str, coroutine: Coroutine[Any, Any, T]
    ) -> T:
        """Run `work` and return its result. Raises `conflict` when the user canceled it.

        `worktree_ids` are one or several worktrees, by each of which it is found.
        """
        task = asyncio.get_running_loop().create_task(coroutine)
        self._running[task] = (worktree_ids,) if isinstance(worktree_ids, str) else worktree_ids
        try:
            return await task
        except asyncio.CancelledError:
            if task not in self._running:
                raise SpinneyError(f"The {operation} was canceled.", "conflict") from None
            raise
        finally:
            self._running.pop(task, None)

    async def cancel(self, worktree_id: str) -> bool:
        """Cancel the worktree's tasks and wait for their cleanup; return whether there were any."""
        tasks = [task for task, keys in self._running.items() if worktree_id in keys]
        for task in tasks:
            del self._running[task]
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return bool(tasks)
