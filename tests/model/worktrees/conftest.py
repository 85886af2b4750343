"""A workspace with a real repository, in a home of its own."""

from pathlib import Path

import pytest

from model.commands.projects import add_project
from model.commands.worktrees import create_worktree
from model.domain.events import TaskCompleted, WorktreeCreateFailed
from model.domain.resources import Project, Worktree
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.model.git.conftest import (  # noqa: F401 - fixtures
    counts_from,
    fake_git,
    make_repository,
    own_home,
    repository,
    with_remote,
)
from tests.model.git.made_repository import Repository


@pytest.fixture
async def added(workspace: Workspace, repository: Repository) -> Project:  # noqa: F811
    """The repository as a project."""
    return await add_project(workspace, str(repository.root))


class Told:
    """What was told of since this began to listen."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._reader = workspace.bus.reader()
        self.tasks: list[TaskCompleted] = []
        self.failures: list[str] = []

    def look(self) -> "Told":
        """Take what came."""
        for entry in self._reader.take()[0]:
            if isinstance(entry.event, TaskCompleted):
                self.tasks.append(entry.event)
            if isinstance(entry.event, WorktreeCreateFailed):
                self.failures.append(entry.event.error)
        return self

    async def failure(self) -> str:
        """Why a worktree could not be made, as soon as that is told."""
        await Eventually(self.workspace.bus)(lambda: bool(self.look().failures))
        return self.failures[-1]

    def task(self, name: str) -> TaskCompleted | None:
        """The newest end of a task of this name."""
        found = [task for task in self.look().tasks if task.task == name]
        return found[-1] if found else None


@pytest.fixture
def told(workspace: Workspace) -> Told:
    return Told(workspace)


class Maker:
    """Makes worktrees and waits for them."""

    def __init__(self, workspace: Workspace, project: Project, eventually: Eventually) -> None:
        self.workspace = workspace
        self.project = project
        self.eventually = eventually

    async def __call__(self, name: str | None = None, **given: object) -> Worktree:
        """A ready worktree; fails when it could not be made."""
        announced = await create_worktree(
            self.workspace,
            self.project.id,
            custom_name=name,
            **given,  # type: ignore[arg-type]
        )
        await self.settled(announced.id)
        return self.workspace.store.state.worktrees[announced.id]

    async def settled(self, worktree_id: str) -> None:
        """Wait until the worktree is made or has failed."""

        def done() -> bool:
            worktree = self.workspace.store.state.worktrees.get(worktree_id)
            return worktree is None or worktree.status != "creating"

        await self.eventually(done)


@pytest.fixture
def make(workspace: Workspace, added: Project, eventually: Eventually) -> Maker:
    return Maker(workspace, added, eventually)


@pytest.fixture
def home_of_worktrees(own_home: Path) -> Path:  # noqa: F811
    return own_home / "spinney" / "project"
