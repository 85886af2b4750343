"""Worktrees in all kinds of repositories: linked, bare, empty and detached.

Most tests add a project, create a worktree, and read its status and its diffs.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.changes import list_changed_files
from model.commands.git import fetch_worktrees_status, get_git_diff
from model.commands.projects import add_project
from model.commands.worktrees import create_worktree
from model.domain.events.program import TaskCompleted
from model.domain.events.worktrees import WorktreeCreated, WorktreeCreateFailed
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.model.git.repository import Repository
from tests.patience import PATIENCE


async def create_and_wait(
    workspace: Workspace, project: Project, base: str | None = None
) -> Worktree | str:
    """Create a worktree of the project; return it, or the error."""
    reader, changed = workspace.bus.reader(), asyncio.Event()
    end = workspace.bus.listen(changed.set)
    announced = await create_worktree(workspace, project.id, base_branch=base)
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                for entry in reader.take()[0]:
                    match entry.event:
                        case WorktreeCreated() if entry.event.worktree.id == announced.id:
                            return entry.event.worktree
                        case WorktreeCreateFailed():
                            return entry.event.error
                changed.clear()
                await changed.wait()
    finally:
        end()


async def check_works(workspace: Workspace, project: Project, base: str | None = None) -> None:
    worktree = await create_and_wait(workspace, project, base)
    assert isinstance(worktree, Worktree), worktree
    (Path(worktree.path) / "new.txt").write_text("one\n")
    await fetch_worktrees_status(workspace, project.id)
    known = workspace.store.state.worktrees[worktree.id]
    assert (known.status, known.cached_uncommitted_added, known.cached_ahead_count) == (
        "ready",
        1,
        0,
    )
    text = await get_git_diff(workspace, worktree.path, "working")
    assert text.endswith("@@ -0,0 +1 @@\n+one\n")
    assert await get_git_diff(workspace, worktree.path, "branch") == ""


async def test_adding_a_linked_worktree_adds_its_repository(
    workspace: Workspace, repository: Repository, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    repository.git("worktree", "add", "--quiet", "-b", "side", str(linked))
    project = await add_project(workspace, str(linked))
    assert project.path == str(repository.root)
    await check_works(workspace, project)
    assert await get_git_diff(workspace, project.path, "working") == ""


async def test_a_bare_repository_with_worktrees_can_be_a_project(
    workspace: Workspace, repository: Repository, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.git"
    repository.git("clone", "--quiet", "--bare", str(repository.root), str(bare))
    repository.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"), cwd=bare)
    project = await add_project(workspace, str(bare))
    assert (project.path, project.default_branch) == (str(bare), "main")
    await check_works(workspace, project)


async def test_a_folder_whose_git_file_points_to_a_bare_repository_can_be_a_project(
    workspace: Workspace, repository: Repository, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    repository.git("clone", "--quiet", "--bare", str(repository.root), str(folder / ".bare"))
    (folder / ".git").write_text("gitdir: ./.bare\n")
    project = await add_project(workspace, str(folder))
    await check_works(workspace, project)


async def test_a_detached_checkout_can_be_a_project(
    workspace: Workspace, repository: Repository
) -> None:
    repository.git("checkout", "--quiet", "--detach")
    project = await add_project(workspace, str(repository.root))
    assert project.default_branch == "main"
    await check_works(workspace, project)


async def test_names_with_spaces_quotes_and_umlauts_are_supported(
    workspace: Workspace, make_repository: Callable[[str], Repository]
) -> None:
    repository = make_repository("a project's “häuschen”")
    repository.commit("read me.txt", "one\n")
    repository.git("branch", "für-später")
    project = await add_project(workspace, str(repository.root))
    await check_works(workspace, project, base="für-später")


async def test_a_repository_without_commits_can_be_added_and_says_what_a_worktree_needs(
    workspace: Workspace, make_repository: Callable[[str], Repository]
) -> None:
    repository = make_repository("empty")
    reader = workspace.bus.reader()
    project = await add_project(workspace, str(repository.root))
    workspace.bus.seal()
    events = [entry.event for entry in reader.take()[0] if isinstance(entry.event, TaskCompleted)]
    assert [event.task for event in events] == ["add_project"]
    assert "Added 'empty'. It has no commits yet" in events[0].detail
    assert project.default_branch == "main"
    repository.write("first.txt", "one\n")
    assert "+one" in await get_git_diff(workspace, project.path, "working")
    with pytest.raises(SpinneyError, match=r"no commits yet\. Make a first commit"):
        await create_and_wait(workspace, project)
    assert not workspace.store.state.worktrees, "nothing was announced"
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "First")
    await check_works(workspace, project)


@pytest.mark.parametrize("marker", ["gone", "gitdir: /nowhere\n", None])
async def test_a_worktree_that_lost_its_git_directory_affects_no_other(
    workspace: Workspace, repository: Repository, marker: str | None
) -> None:
    project = await add_project(workspace, str(repository.root))
    broken = await create_and_wait(workspace, project)
    assert isinstance(broken, Worktree)
    (Path(broken.path) / ".git").unlink()
    if marker is not None:
        (Path(broken.path) / ".git").write_text(marker)
    with pytest.raises(SpinneyError, match="no longer a git worktree"):
        await get_git_diff(workspace, broken.path, "working")
    with pytest.raises(SpinneyError, match="and recreate the worktree"):
        await list_changed_files(workspace, broken.id)
    await check_works(workspace, project)
