"""A project with a real repository in a workspace."""

from dataclasses import dataclass, replace
from pathlib import Path

from model.commands.projects import add_project
from model.domain.events.worktrees import WorktreeCreated
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.model.git.repository import Repository


@dataclass(frozen=True)
class GitProject:
    """A project with its repository, and helpers for its worktrees."""

    workspace: Workspace
    repository: Repository
    project: Project

    async def add(self, name: str) -> Worktree:
        """Add a worktree on its own new branch, created by git itself."""
        path = self.repository.root.parent / name
        self.repository.git("worktree", "add", "--quiet", "-b", name, str(path))
        worktree = Worktree(
            id=f"id of {name}",
            project_id=self.project.id,
            name=name,
            path=str(path),
            branch=name,
            created_at=1.0,
        )
        await self.workspace.store.accept(WorktreeCreated(worktree=worktree))
        return worktree

    def now(self, worktree: Worktree) -> Worktree:
        """Return the current state of the worktree."""
        return self.workspace.store.state.worktrees[worktree.id]

    def in_worktree(self, worktree: Worktree) -> Repository:
        """Return helpers for git and files in a worktree."""
        return replace(self.repository, root=Path(worktree.path))


async def add_git_project(workspace: Workspace, repository: Repository) -> GitProject:
    """Add the repository to the workspace as a project."""
    project = await add_project(workspace, str(repository.root))
    return GitProject(workspace, repository, project)
