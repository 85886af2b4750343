"""Worktrees created outside Spinney are listed and adopted, and never deleted."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.projects import add_project
from model.commands.sessions import create_session
from model.commands.worktrees import (
    adopt_worktree,
    archive_worktree,
    create_worktree,
    get_removal_losses,
    ignore_outside_worktree,
    list_outside_worktrees,
    remove_worktree,
    rename_worktree,
)
from model.domain.projects import Project
from model.runtime.workspace import Workspace
from model.worktrees import adopting
from model.worktrees.adopting import OutsideWorktrees
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import Maker


@pytest.fixture
def outside(repository: Repository, tmp_path: Path) -> Path:
    """A worktree created with git, with an uncommitted file."""
    path = tmp_path.resolve() / "by-hand"
    repository.git("worktree", "add", "-b", "theirs", str(path))
    (path / "new.txt").write_text("not committed\n")
    return path


async def test_outside_worktrees_are_listed_until_they_are_adopted(
    workspace: Workspace, added: Project, outside: Path, repository: Repository, tmp_path: Path
) -> None:
    repository.git("worktree", "add", "--detach", str(tmp_path / "loose"))
    gone = tmp_path / "gone"
    repository.git("worktree", "add", "-b", "gone", str(gone))
    gone.rename(tmp_path / "moved")
    made = await create_worktree(workspace, added.id)
    offered = await list_outside_worktrees(workspace, added.id)
    assert {(one.path, one.branch) for one in offered} == {
        (str(outside), "theirs"),
        (str(tmp_path.resolve() / "loose"), None),
    }
    adopted = await adopt_worktree(workspace, added.id, f"{outside}/")
    assert (adopted.path, adopted.branch, adopted.name) == (str(outside), "theirs", "theirs")
    assert adopted.adopted and adopted.status == "ready"
    shown = workspace.store.state.worktrees_of(added.id)
    assert [one.id for one in shown] == [made.id, adopted.id]
    assert await list_outside_worktrees(workspace, added.id) == [
        one for one in offered if one.branch is None
    ]
    detached = tmp_path / "loose"
    for path, why in ((outside, "no worktree at"), (detached, "No branch is checked out")):
        with pytest.raises(SpinneyError, match=why):
            await adopt_worktree(workspace, added.id, str(path))
    assert (await create_session(workspace, adopted.id)).worktree_id == adopted.id


async def test_folder_and_branch_of_an_adopted_worktree_survive_its_removal(
    workspace: Workspace, added: Project, outside: Path, repository: Repository
) -> None:
    adopted = await adopt_worktree(workspace, added.id, str(outside))
    renamed = await rename_worktree(workspace, adopted.id, "mine")
    assert (renamed.name, renamed.branch, renamed.path) == ("mine", "theirs", str(outside))
    session = await create_session(workspace, adopted.id)
    losses = await get_removal_losses(workspace, adopted.id)
    assert (losses.files, losses.commits, losses.sessions) == ([], 0, 1)
    await archive_worktree(workspace, adopted.id)
    await remove_worktree(workspace, adopted.id, force=True, for_good=True)
    assert adopted.id not in workspace.store.state.worktrees
    assert session.id not in workspace.store.state.sessions
    assert (outside / "new.txt").read_text() == "not committed\n"
    assert "theirs" in repository.git("branch", "--list", "theirs")
    offered = await list_outside_worktrees(workspace, added.id)
    assert [one.branch for one in offered] == ["theirs"]


async def test_adding_a_linked_worktree_adds_its_repository(
    workspace: Workspace, outside: Path, repository: Repository
) -> None:
    added = await add_project(workspace, str(outside))
    assert added.path == str(repository.root)
    with pytest.raises(SpinneyError, match=f"^Project already exists: {repository.root}$"):
        await add_project(workspace, str(outside))


async def test_the_name_of_a_bare_repository_omits_the_git_suffix(
    workspace: Workspace, repository: Repository, tmp_path: Path
) -> None:
    bare = tmp_path / "tools.git"
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    repository.git("worktree", "add", "-q", "-b", "hand", str(tmp_path / "hand"), cwd=bare)
    added = await add_project(workspace, str(tmp_path / "hand"))
    assert (added.name, added.path) == ("tools", str(bare.resolve()))
    adopted = await adopt_worktree(workspace, added.id, str(tmp_path / "hand"))
    assert adopted.branch == "hand"


async def test_worktrees_from_outside_are_counted_until_they_are_adopted_or_ignored(
    make: Maker, workspace: Workspace, repository: Repository, tmp_path: Path
) -> None:
    def count() -> int:
        return workspace.store.state.projects[make.project.id].outside_worktrees

    for name in ("one", "two"):
        repository.git("worktree", "add", "-q", "-b", name, str(tmp_path / name))
    inside = workspace.directories.data / "trains" / "x"
    repository.git("worktree", "add", "-q", "--detach", str(inside))  # Spinney's own
    await workspace.outside_worktrees.update_count(make.project.id)
    assert count() == 2
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    await ignore_outside_worktree(workspace, make.project.id, one)
    assert count() == 1
    assert [each.path for each in await list_outside_worktrees(workspace, make.project.id)] == [two]
    every = await list_outside_worktrees(workspace, make.project.id, include_ignored=True)
    assert [(each.path, each.ignored) for each in every] == [(one, True), (two, False)]
    await ignore_outside_worktree(workspace, make.project.id, one, ignored=False)
    assert count() == 2
    await ignore_outside_worktree(workspace, make.project.id, one)
    await adopt_worktree(workspace, make.project.id, one)  # also one that was ignored
    await adopt_worktree(workspace, make.project.id, two)
    project = workspace.store.state.projects[make.project.id]
    assert (project.outside_worktrees, project.ignored_worktrees) == (0, [])


async def test_a_worktree_that_an_agent_makes_is_found_by_itself(
    make: Maker,
    workspace: Workspace,
    repository: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(adopting, "_INTERVAL", 0.02)
    finder = asyncio.create_task(OutsideWorktrees(workspace.store, tmp_path / "data").run())

    def has(number: int) -> Callable[[], bool]:
        return lambda: workspace.store.state.projects[make.project.id].outside_worktrees == number

    try:
        repository.git("worktree", "add", "-q", "-b", "theirs", str(tmp_path / "theirs"))
        await make.eventually(has(1))
        shutil.rmtree(tmp_path / "theirs")  # git still lists it
        await make.eventually(has(0))
    finally:
        finder.cancel()
