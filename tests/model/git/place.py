"""A workspace with a real repository in it, for tests of what git does for worktrees."""

from dataclasses import dataclass, replace
from pathlib import Path

from model.commands.projects import add_project
from model.domain.events import WorktreeCreated
from model.domain.resources import Project, Worktree
from model.runtime.workspace import Workspace
from tests.model.git.made_repository import Repository


@dataclass(frozen=True)
class Place:
    """A project, its repository, and worktrees as they are added."""

    workspace: Workspace
    repository: Repository
    project: Project

    async def add(self, name: str) -> Worktree:
        """A worktree on a branch of its own, made by git itself."""
        path = self.repository.root.parent / name
        self.repository.git("worktree", "add", "--quiet", "-b", name, str(path))
        made = Worktree(
            id=f"id of {name}",
            project_id=self.project.id,
            name=name,
            path=str(path),
            branch=name,
            created_at=1.0,
        )
        await self.workspace.store.accept(WorktreeCreated(worktree=made))
        return made

    def now(self, worktree: Worktree) -> Worktree:
        """The worktree as it is known now."""
        return self.workspace.store.state.worktrees[worktree.id]

    def in_worktree(self, worktree: Worktree) -> Repository:
        """Git and files of a worktree."""
        return replace(self.repository, root=Path(worktree.path))


async def place_of(workspace: Workspace, repository: Repository) -> Place:
    """The repository as a project of the workspace."""
    project = await add_project(workspace, str(repository.root))
    return Place(workspace, repository, project)
