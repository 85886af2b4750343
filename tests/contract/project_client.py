"""A client that works in the worktrees of a project."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.model.git.repository import Repository
from tests.server.conftest import Socket

Call = Callable[..., Awaitable[Any]]
"""Runs a command by its wire name and arguments."""


@dataclass
class ProjectClient:
    """Calls commands on a project with a bare `origin`, and runs git in its worktrees."""

    call: Call
    listener: Socket
    project_id: str
    repository: Repository

    async def create(self, **args: Any) -> Any:
        """Create a worktree, and wait until it is ready."""
        made = await self.call("create_worktree", projectId=self.project_id, **args)
        assert (await self.listener.event("worktree:created"))["payload"]["worktree"]["id"] == (
            made["id"]
        )
        return await self.call("get_worktree", worktreeId=made["id"])

    def write(self, worktree: Any, name: str = "read.me", text: str = "changed\n") -> None:
        self.repository.write(name, text, cwd=Path(worktree["path"]))

    def git(self, worktree: Any, *args: str) -> str:
        return self.repository.git(*args, cwd=Path(worktree["path"]))

    async def list_names(self, **args: Any) -> list[str]:
        found = await self.call("list_worktrees", projectId=self.project_id, **args)
        return [worktree["name"] for worktree in found]
