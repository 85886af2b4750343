"""Worktrees with changes, and people who look at them."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.page.diff.tree import BOTH_ENDS, NUMBERS, Tree


@pytest.fixture
def repository(repository: Path) -> Path:
    """Somebody commits in it, and it has a remote."""
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
def tree(worktree: Any) -> Tree:
    return Tree(worktree["id"], Path(worktree["path"]), worktree["project_id"])


@pytest.fixture
def two_hunks(tree: Tree) -> Tree:
    """`list.txt` differs at both its ends."""
    tree.commit("list.txt", NUMBERS)
    tree.write("list.txt", BOTH_ENDS)
    return tree
