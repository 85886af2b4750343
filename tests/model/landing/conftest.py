"""A project whose repository has scripts, and the worktrees of it."""

import json
from pathlib import Path

import pytest

from model.commands.projects import add_project
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
from tests.model.worktrees.conftest import EventLog, Maker, event_log, make  # noqa: F401

CHECK = "echo checked; test ! -e broken"
"""Passes unless there is a file `broken`."""


def write_scripts(repository: Repository, **scripts: str) -> None:  # noqa: F811
    """Commit a config file with these scripts."""
    repository.commit("spinney.json", json.dumps({"scripts": scripts}))


@pytest.fixture
async def added(workspace: Workspace, repository: Repository) -> Project:  # noqa: F811
    """The repository, with a check, as a project."""
    write_scripts(repository, check=CHECK)
    return await add_project(workspace, str(repository.root))


class Landing:
    """Works in the worktrees of the project, and waits until all of it is known."""

    def __init__(
        self,
        workspace: Workspace,
        repository: Repository,  # noqa: F811
        make: Maker,  # noqa: F811
        eventually: Eventually,
    ) -> None:
        self.workspace = workspace
        self.repository = repository
        self.make = make
        self.eventually = eventually

    async def branch(self, name: str, **files: str) -> Worktree:
        """Return a new worktree with a commit for each file, `name_txt` as `name.txt`."""
        worktree = await self.make(name)
        for file, text in files.items():
            self.commit(worktree, file.replace("_", "."), text)
        await self.settle(worktree)
        return worktree

    def commit(self, worktree: Worktree, file: str, text: str) -> str:
        return self.repository.commit(file, text, cwd=Path(worktree.path))

    def git(self, worktree: Worktree, *args: str) -> str:
        return self.repository.git(*args, cwd=Path(worktree.path))

    async def settle(self, *worktrees: Worktree) -> None:
        """Wait until the status of these worktrees and their conflicts are known."""
        await self.workspace.poller.refresh_and_wait([one.id for one in worktrees])
        await self.workspace.radar.settle(self.make.project.id)


@pytest.fixture
def landing(
    workspace: Workspace,
    repository: Repository,  # noqa: F811
    make: Maker,  # noqa: F811
    eventually: Eventually,
) -> Landing:
    return Landing(workspace, repository, make, eventually)
