"""The fixtures of tests/model/git, for tests of polling."""

import pytest

from model.runtime.workspace import Workspace
from tests.model.git.conftest import (
    base_dir,
    fake_git,
    make_repository,
    own_home,
    repository,
    with_remote,
)
from tests.model.git.git_project import GitProject, add_git_project
from tests.model.git.repository import Repository

__all__ = ["base_dir", "fake_git", "make_repository", "own_home", "repository", "with_remote"]


@pytest.fixture
async def git_project(workspace: Workspace, repository: Repository) -> GitProject:
    return await add_git_project(workspace, repository)
