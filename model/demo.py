"""The demo: a temporary repository with one worktree and one session, ready to try."""

import asyncio
from pathlib import Path

from model.base.paths import Directories
from model.commands.projects import add_project
from model.commands.sessions import create_session
from model.git.run import git
from model.preferences.apply import changed
from model.runtime.workspace import Workspace
from model.worktrees import announce, create

_FILES = {
    "README.md": "# Orchard\n\nCounts apples. A small project to try Spinney on.\n",
    "orchard.py": (
        '"""Count the apples of an orchard."""\n\n\n'
        "def count(trees: list[int]) -> int:\n"
        '    """The apples on all trees."""\n'
        "    total = 0\n"
        "    for apples in trees:\n"
        "        total += apples\n"
        "    return total\n\n\n"
        'if __name__ == "__main__":\n'
        "    print(count([3, 5, 8]))\n"
    ),
}

_IDENTITY = {"user.name": "Spinney demo", "user.email": "demo@example.invalid"}
"""Git's own identity may not be configured yet, and commits are part of the demo."""


def demo_directories(root: Path) -> Directories:
    """Return directories inside `root` only: the demo touches nothing else."""
    return Directories(config=root / "config", data=root / "data", home=root / "home")


async def prepare(workspace: Workspace, directories: Directories) -> None:
    """Create the repository, a worktree and a session in it. Raises `SpinneyError`."""
    # A regular Spinney running at the same time keeps the usual port.
    preferences = workspace.store.state.preferences
    await workspace.change_preferences(changed(preferences, {"http_server_port": 0}))
    root = directories.home / "orchard"
    await _make_repository(root)
    project = await add_project(workspace, str(root))
    worktree = await announce(
        workspace.store, workspace.directories, project.id, name="first-steps"
    )
    await create(workspace.store, workspace.slow_work, worktree)
    if workspace.store.state.worktrees.get(worktree.id) is not None:
        await create_session(workspace, worktree.id, name="Tour")


async def _make_repository(root: Path) -> None:
    await asyncio.to_thread(_write_files, root)
    await git(root, "init", "--quiet", "--initial-branch=main", write=True)
    for key, value in _IDENTITY.items():
        await git(root, "config", key, value, write=True)
    await git(root, "add", ".", write=True)
    await git(root, "commit", "--quiet", "--message", "Plant the orchard", write=True)


def _write_files(root: Path) -> None:
    root.mkdir(parents=True)
    for name, text in _FILES.items():
        (root / name).write_text(text)
