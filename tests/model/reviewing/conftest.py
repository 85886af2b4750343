"""Fixtures: a worktree of a real repository, in which a file has three changed hunks."""

import pytest

from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.model.git.conftest import (  # noqa: F401 - fixtures
    make_repository,
    own_home,
    repository,
    with_remote,
)
from tests.model.git.git_project import GitProject, add_git_project
from tests.model.git.repository import Repository

LINES = [f"line {number}\n" for number in range(1, 41)]


def change(*numbers: int) -> str:
    """The file with these lines changed."""
    changed = {number: f"changed {number}\n" for number in numbers}
    return "".join(changed.get(at, line) for at, line in enumerate(LINES, 1))


@pytest.fixture
async def git_project(workspace: Workspace, repository: Repository) -> GitProject:  # noqa: F811
    repository.commit("loom.txt", "".join(LINES))
    return await add_git_project(workspace, repository)


@pytest.fixture
async def worktree(git_project: GitProject) -> Worktree:
    """A worktree with changes in the lines 2, 20 and 38 of `loom.txt`."""
    made = await git_project.add("otter")
    git_project.in_worktree(made).write("loom.txt", change(2, 20, 38))
    return made
