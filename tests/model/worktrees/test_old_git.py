"""Worktrees with the oldest supported versions of git, and the error for older ones."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.commands import changes, git, worktrees
from model.commands.doctor import get_installation, get_problems
from model.commands.projects import add_project
from model.demo import prepare
from model.domain.events.projects import ProjectAdded
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.model.git.old_git import install_old_git
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import Maker

VERSIONS = ("2.30.2", "2.34.1", "2.36.0")


@pytest.fixture(params=VERSIONS)
def with_old_git(
    with_remote: Repository, fake_git: Callable[[str], None], request: pytest.FixtureRequest
) -> Repository:
    install_old_git(fake_git, request.param)
    return with_remote


async def test_the_fake_git_refuses_newer_options(
    with_remote: Repository, fake_git: Callable[[str], None]
) -> None:
    install_old_git(fake_git, "2.34.1")
    assert with_remote.git("--version") == "git version 2.34.1"
    assert "branch refs/heads/main" in with_remote.git("worktree", "list", "--porcelain")
    with pytest.raises(AssertionError, match="unknown option -z"):
        with_remote.git("-c", "a.b=c", "worktree", "list", "--porcelain", "-z")


@pytest.mark.longer
async def test_a_worktree_is_created_changed_recreated_and_removed(
    workspace: Workspace, with_old_git: Repository, eventually: Eventually
) -> None:
    project = await add_project(workspace, str(with_old_git.root))
    made = await Maker(workspace, project, eventually)("otter")
    path = Path(made.path)
    with_old_git.write("read.me", "one\nTWO\nthree\n", cwd=path)
    with_old_git.write("new file", "new\n", cwd=path)

    def current() -> Worktree:
        return workspace.store.state.worktrees[made.id]

    await git.fetch_worktrees_status(workspace, project.id)
    assert (current().cached_uncommitted_added, current().cached_uncommitted_removed) == (2, 1)
    await stage_and_discard(workspace, made, path)
    assert "+TWO" in await git.get_git_diff(workspace, made.path, "working")
    await git.commit_changes(workspace, made.id, "All of it", stage_all=True)
    assert (await git.git_push(workspace, made.path)).success
    with_old_git.commit("base.txt", "newer\n")
    with_old_git.git("push", "--quiet")
    assert (await git.git_pull(workspace, made.path, "main")).success
    assert (path / "base.txt").exists()
    renamed = await worktrees.rename_worktree(workspace, made.id, "heron")
    assert (renamed.branch, Path(renamed.path).name) == ("heron", "heron")
    shutil.rmtree(renamed.path)
    await git.fetch_worktrees_status(workspace, project.id)
    assert current().status == "missing"
    await worktrees.recreate_worktree(workspace, made.id)
    assert (Path(renamed.path) / "new file").exists()
    losses = await worktrees.get_removal_losses(workspace, made.id)
    assert losses.files == []
    await worktrees.remove_worktree(workspace, made.id, for_good=True, force=True)
    assert not Path(renamed.path).exists()
    assert "heron" not in with_old_git.git("branch", "--list")


async def stage_and_discard(workspace: Workspace, made: Worktree, path: Path) -> None:
    """Stage, unstage, discard and restore a hunk."""
    listed = await changes.list_changed_files(workspace, made.id)
    assert {file.path for file in listed.files} == {"read.me", "new file"}
    shown = await changes.get_file_diff(workspace, made.id, "read.me")
    await changes.stage_changes(workspace, made.id, "read.me", shown.hunks[0])
    await changes.unstage_changes(workspace, made.id)
    done = await changes.discard_changes(workspace, made.id, "read.me")
    assert (path / "read.me").read_text() == "one\ntwo\nthree\n"
    await changes.undo_discard(workspace, made.id, done.id)
    assert (path / "read.me").read_text() == "one\nTWO\nthree\n"


async def test_a_locked_worktree_is_removed_only_with_force(
    workspace: Workspace, with_old_git: Repository, eventually: Eventually, tmp_path: Path
) -> None:
    project = await add_project(workspace, str(with_old_git.root))
    made = await Maker(workspace, project, eventually)("otter")
    with_old_git.git("worktree", "lock", made.path)
    with pytest.raises(SpinneyError, match="a lock of git"):
        await worktrees.remove_worktree(workspace, made.id, for_good=True)
    assert Path(made.path).exists()
    await worktrees.remove_worktree(workspace, made.id, for_good=True, force=True)
    assert not Path(made.path).exists()


async def test_the_demo_is_prepared(
    workspace: Workspace, directories: Directories, with_old_git: Repository
) -> None:
    await prepare(workspace, directories)
    assert workspace.store.state.projects


async def test_an_unsupported_git_is_reported_at_the_start_and_by_commands(
    workspace: Workspace, repository: Repository, fake_git: Callable[[str], None]
) -> None:
    known = Project(
        id="p", name="alpha", path=str(repository.root), default_branch="main", added_at=1
    )
    await workspace.store.accept(ProjectAdded(project=known))
    install_old_git(fake_git, "2.25.1")
    message = "git 2.25.1 is too old: Spinney needs git 2.30 or newer."
    assert message in await get_problems(workspace)
    findings = (await get_installation(workspace)).findings
    assert [(f.ok, f.remedy) for f in findings if f.name == "git"] == [(False, message)]
    with pytest.raises(SpinneyError) as raised:
        await worktrees.create_worktree(workspace, "p", custom_name="otter")
    assert raised.value.message == message
