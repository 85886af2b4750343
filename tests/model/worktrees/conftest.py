"""A workspace with a real repository and its own home directory."""

from pathlib import Path

import pytest

from model.commands.projects import add_project
from model.commands.worktrees import create_worktree
from model.domain.events.program import TaskCompleted
from model.domain.events.worktrees import WorktreeCreateFailed
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.model.git.conftest import (  # noqa: F401 - fixtures
    delay_timeout,
    fake_git,
    make_repository,
    own_home,
    repository,
    with_remote,
)
from tests.model.git.repository import Repository


@pytest.fixture
async def added(workspace: Workspace, repository: Repository) -> Project:  # noqa: F811
    """The repository as a project."""
    return await add_project(workspace, str(repository.root))


class EventLog:
    """The ends of tasks and the failed creations published since it was created."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._reader = workspace.bus.reader()
        self.tasks: list[TaskCompleted] = []
        self.failures: list[str] = []

    def update(self) -> "EventLog":
        """Read the new events."""
        for entry in self._reader.take()[0]:
            if isinstance(entry.event, TaskCompleted):
                self.tasks.append(entry.event)
            if isinstance(entry.event, WorktreeCreateFailed):
                self.failures.append(entry.event.error)
        return self

    async def wait_for_failure(self) -> str:
        """Wait for a `WorktreeCreateFailed` event and return its error."""
        await Eventually(self.workspace.bus)(lambda: bool(self.update().failures))
        return self.failures[-1]

    def last_task(self, name: str) -> TaskCompleted | None:
        """Return the newest `TaskCompleted` event of the named task."""
        tasks = [task for task in self.update().tasks if task.task == name]
        return tasks[-1] if tasks else None


@pytest.fixture
def event_log(workspace: Workspace) -> EventLog:
    return EventLog(workspace)


class Maker:
    """Creates worktrees and waits until they are ready."""

    def __init__(self, workspace: Workspace, project: Project, eventually: Eventually) -> None:
        self.workspace = workspace
        self.project = project
        self.eventually = eventually

    async def __call__(self, name: str | None = None, **given: object) -> Worktree:
        """Return a new worktree that is ready; fails if it cannot be created."""
        announced = await create_worktree(
            self.workspace,
            self.project.id,
            custom_name=name,
            **given,  # type: ignore[arg-type]
        )
        await self.wait_until_settled(announced.id)
        return self.workspace.store.state.worktrees[announced.id]

    async def wait_until_settled(self, worktree_id: str) -> None:
        """Wait until the worktree is created or its creation failed."""

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
