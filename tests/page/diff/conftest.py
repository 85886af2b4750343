"""Worktrees with changes."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.page.diff.work_tree import BOTH_ENDS, NUMBERS, WorkTree


@pytest.fixture
def repository(repository: Path) -> Path:
    """A repository with a user's identity and a remote."""
    remote = repository.parent / "remote.git"
    for words in (
        ["config", "user.name", "Ada"],
        ["config", "user.email", "ada@example.org"],
        ["init", "--quiet", "--bare", str(remote)],
        ["remote", "add", "origin", str(remote)],
        ["push", "--quiet", "origin", "HEAD"],
    ):
        subprocess.run(["git", *words], cwd=repository, check=True)
    return repository


@pytest.fixture
def tree(worktree: Any) -> WorkTree:
    return WorkTree(worktree["id"], Path(worktree["path"]), worktree["project_id"])


@pytest.fixture
def two_hunks(tree: WorkTree) -> WorkTree:
    """A worktree whose `list.txt` has two hunks, one at each end."""
    tree.commit("list.txt", NUMBERS)
    tree.write("list.txt", BOTH_ENDS)
    return tree
