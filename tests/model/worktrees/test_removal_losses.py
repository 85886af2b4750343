"""What is inside a worktree, also where git ignores it, is not deleted without a word."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model.background.retention import SWEEP_INTERVAL, Retention
from model.base.errors import SpinneyError
from model.commands.landing import list_sweep, sweep_worktrees
from model.commands.recovery import list_recovery_points, restore_worktree
from model.commands.sessions import create_session, send_chat_message, stop_generation
from model.commands.worktrees import adopt_worktree, get_removal_losses, remove_worktree
from model.domain.events.worktrees import WorktreeArchived
from model.domain.worktrees import Worktree
from model.git import nested, removal
from model.runtime.workspace import Workspace
from tests import fakes
from tests.fakes import FakeBackend
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import Maker

ALLOW = ("-c", "protocol.file.allow=always")


@pytest.fixture
def ignoring(repository: Repository) -> Repository:
    """The repository ignores the folders in which agents and tools put repositories."""
    repository.commit(".gitignore", ".claude/worktrees/\nvendor/\n")
    return repository


def _put_inside(kind: str, repository: Repository, path: Path) -> str:
    """Put something into a worktree that git does not list; return how it is named."""
    match kind:
        case "a worktree with a file":
            inner = path / ".claude/worktrees/agent-1"
            repository.git("worktree", "add", "-q", "-b", "agent", str(inner), cwd=path)
            (inner / "work").touch()
            return "the worktree '.claude/worktrees/agent-1' inside it, with 1 uncommitted file"
        case "a worktree without changes":
            inner = path / ".claude/worktrees/agent-1"
            repository.git("worktree", "add", "-q", "-b", "agent", str(inner), cwd=path)
            return "the worktree '.claude/worktrees/agent-1' inside it"
        case "a worktree with a commit on no branch":
            inner = path / ".claude/worktrees/agent-1"
            repository.git("worktree", "add", "-q", "--detach", str(inner), cwd=path)
            repository.commit("work", "1\n", cwd=inner)
            return "with 1 commit that is on no branch and on no remote"
        case "a repository":
            inner = path / "vendor/deep/lib"
            inner.mkdir(parents=True)
            repository.git("init", "-q", cwd=inner)
            repository.commit("work", "1\n", cwd=inner)
            return "the repository 'vendor/deep/lib' inside it, with 1 commit that is on no remote"
        case "a bare repository":
            inner = path / "vendor/lib.git"
            repository.git("clone", "-q", "--bare", str(repository.root), str(inner))
            return "the repository 'vendor/lib.git' inside it, with 2 commits that are on no remote"
        case "a damaged repository":
            (path / "vendor/lib/.git/objects").mkdir(parents=True)
            return "the repository 'vendor/lib' inside it, which cannot be read"
        case _:
            repository.git("worktree", "lock", "--reason", "an agent", str(path))
            return "a lock of git (an agent)"


@pytest.mark.parametrize(
    "kind",
    [
        "a worktree with a file", "a worktree without changes",
        "a worktree with a commit on no branch", "a repository", "a bare repository",
        "a damaged repository", "a lock",
    ],
)  # fmt: skip
async def test_what_is_inside_is_named_by_every_way_of_removing_and_goes_by_force_only(
    kind: str, ignoring: Repository, make: Maker, workspace: Workspace
) -> None:
    made = await make("one")
    named = _put_inside(kind, ignoring, Path(made.path))
    assert any(named in each for each in (await get_removal_losses(workspace, made.id)).besides)
    (row,) = (await list_sweep(workspace)).rows
    assert any(named in each for each in row.besides)

    with pytest.raises(SpinneyError) as refused:
        await remove_worktree(workspace, made.id)
    assert named in refused.value.message
    (swept,) = await sweep_worktrees(workspace, [made.id], "delete")
    assert not swept.ok
    assert named in swept.message
    await _archive(workspace, made)
    retention = Retention(
        workspace.store,
        workspace.removals,
        workspace.conversations.end_agent,
        workspace.recovery_points.save_session,
    )
    for sweep in range(2):
        await retention.sweep(9e9, sweep * SWEEP_INTERVAL)
    assert made.id in workspace.store.state.worktrees
    assert Path(made.path).is_dir()

    await remove_worktree(workspace, made.id, force=True)
    assert not Path(made.path).exists()
    (point,) = await list_recovery_points(workspace)
    assert point.left_out == 1
    assert named in point.reason
    assert ignoring.git("worktree", "list").count("\n") == 0


async def test_a_submodule_with_a_commit_of_its_own_is_not_lost_with_a_merged_worktree(
    make_repository: Callable[[str], Repository], make: Maker, workspace: Workspace
) -> None:
    inner, outer = make_repository("inner"), Repository(Path(make.project.path))
    inner.commit("file", "text\n")
    outer.git(*ALLOW, "submodule", "add", str(inner.root), "lib")
    outer.git("commit", "-m", "Add a submodule")
    made = await make("one")
    lib = Path(made.path) / "lib"
    outer.git(*ALLOW, "submodule", "update", "--init", cwd=Path(made.path))
    inner.commit("own", "1\n", cwd=lib)
    inner.git("checkout", "-q", "-b", "mine", cwd=lib)
    inner.git("checkout", "-q", "--detach", "HEAD^", cwd=lib)
    (swept,) = await sweep_worktrees(workspace, [made.id], "delete")
    assert "the submodule 'lib' inside it, with 1 commit that is on no remote" in swept.message
    # Also where it is not checked out any more.
    outer.git("submodule", "deinit", "--force", "lib", cwd=Path(made.path))
    with pytest.raises(SpinneyError, match="the submodule 'lib' inside it, with 1 commit"):
        await remove_worktree(workspace, made.id)


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
async def test_what_git_is_set_to_leave_out_is_no_less_lost(
    mark: str, ignoring: Repository, make: Maker, workspace: Workspace
) -> None:
    made = await make("one")
    path = Path(made.path)
    inner = path / "vendor/lib"
    ignoring.git("clone", "-q", str(ignoring.root), str(inner))
    for root in (path, inner):
        ignoring.commit("left out", "1\n", cwd=root)
        branch = f"refs/heads/of-{root.name}"
        ignoring.git("push", "-q", str(ignoring.root), f"HEAD:{branch}", cwd=root)
        ignoring.git("update-index", mark, ".gitignore", cwd=root)
        ignoring.git("update-index", "--skip-worktree", "left out", cwd=root)
        (root / "left out").unlink()
    ignoring.git("fetch", "-q", cwd=inner)
    losses = await get_removal_losses(workspace, made.id)
    assert (losses.files, losses.besides) == ([], [])  # As a sparse checkout leaves files out.
    for root in (path, inner):
        (root / ".gitignore").write_text("vendor/\nmine\n")
        before = ignoring.git("ls-files", "-v", cwd=root)
        losses = await get_removal_losses(workspace, made.id)
        assert ignoring.git("ls-files", "-v", cwd=root) == before
    assert losses.files == [".gitignore"]
    assert losses.besides == ["the repository 'vendor/lib' inside it, with 1 uncommitted file"]


async def test_commits_that_only_the_reflog_of_a_clone_has_are_named(
    ignoring: Repository, make: Maker, workspace: Workspace
) -> None:
    made = await make("one")
    inner = Path(made.path) / "vendor/lib"
    ignoring.git("clone", "-q", str(ignoring.root), str(inner))
    ignoring.commit("amended", "1\n", cwd=inner)
    ignoring.git("commit", "-q", "--amend", "-m", "Again", cwd=inner)
    ignoring.git("push", "-q", "origin", "HEAD:refs/heads/other", cwd=inner)
    assert not (await get_removal_losses(workspace, made.id)).besides
    ignoring.commit("reset", "1\n", cwd=inner)
    ignoring.git("reset", "-q", "--hard", "HEAD^", cwd=inner)
    ignoring.git("checkout", "-q", "--detach", cwd=inner)
    ignoring.commit("detached", "1\n", cwd=inner)
    ignoring.git("checkout", "-q", "main", cwd=inner)
    losses = await get_removal_losses(workspace, made.id)
    named = "the repository 'vendor/lib' inside it, with 2 commits that only its reflog has"
    assert losses.besides == [named]


async def test_repositories_without_work_of_their_own_are_no_loss(
    ignoring: Repository, make: Maker, workspace: Workspace
) -> None:
    made = await make("one")
    vendor = Path(made.path) / "vendor"
    ignoring.git("clone", "-q", str(ignoring.root), str(vendor / "all"))
    ignoring.git("tag", "v1")
    clone = ("clone", "-q", "--depth=1", "--branch=v1", ignoring.root.as_uri())
    ignoring.git(*clone, str(vendor / "newest"))
    # Agents' sandboxes leave such folders behind.
    (vendor / "left/.git").mkdir(parents=True)
    await remove_worktree(workspace, made.id)
    assert not Path(made.path).exists()


async def test_a_folder_that_cannot_be_read_is_named(
    ignoring: Repository, make: Maker, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await make("one")
    sealed = Path(made.path) / "vendor/sealed"
    sealed.mkdir(parents=True)
    scandir = os.scandir

    def refuse(path: Any) -> Any:
        if str(path) == str(sealed):
            raise PermissionError(path)
        return scandir(path)

    monkeypatch.setattr(nested.os, "scandir", refuse)  # type: ignore[attr-defined]
    with pytest.raises(SpinneyError, match="the folder 'vendor/sealed', which cannot be read"):
        await remove_worktree(workspace, made.id)


async def test_a_session_at_work_in_a_worktree_inside_prevents_even_a_forced_removal(
    ignoring: Repository, make: Maker, workspace: Workspace, backend: FakeBackend
) -> None:
    backend.script = fakes.silence
    made = await make("one")
    inner = Path(made.path) / ".claude/worktrees/agent-1"
    ignoring.git("worktree", "add", "-q", "-b", "agent", str(inner), cwd=Path(made.path))
    adopted = await adopt_worktree(workspace, make.project.id, str(inner))
    session = await create_session(workspace, adopted.id, name="Busy")
    await send_chat_message(workspace, session.id, "work")
    (named,) = (await get_removal_losses(workspace, made.id)).inside_at_work
    assert named == "The session 'Busy' is at work in 'agent', which is inside it."
    with pytest.raises(SpinneyError, match="'Busy' is at work in 'agent'"):
        await remove_worktree(workspace, made.id, force=True)
    (row,) = [row for row in (await list_sweep(workspace)).rows if row.worktree_id == made.id]
    assert row.is_running
    assert inner.is_dir()
    await stop_generation(workspace, session.id)


async def test_a_removal_that_cannot_delete_all_keeps_the_point_and_can_be_repeated(
    make: Maker, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await make("one")
    path = Path(made.path)
    (path / "mine").write_text("untracked\n")

    def refuse(folder: Path, ignore_errors: bool = False) -> None:
        if not ignore_errors:
            raise PermissionError(1, "Operation not permitted", "sealed")

    with monkeypatch.context() as patched:
        patched.setattr(removal.shutil, "rmtree", refuse)  # type: ignore[attr-defined]
        with pytest.raises(SpinneyError, match="not all of it could be deleted") as left:
            await remove_worktree(workspace, made.id, force=True)
    assert "sealed (Operation not permitted)" in left.value.message
    assert "spinney recover" in left.value.message
    assert not path.exists()
    assert workspace.store.state.worktrees[made.id].status == "missing"
    (point,) = await list_recovery_points(workspace)

    await remove_worktree(workspace, made.id, force=True)
    assert made.id not in workspace.store.state.worktrees
    assert list(path.parent.iterdir()) == []
    restored = await restore_worktree(workspace, point.recovery_id)
    assert (Path(restored.path) / "mine").read_text() == "untracked\n"
    assert restored.path == made.path


async def test_what_git_does_not_list_any_more_leaves_the_list_by_force_and_its_files_stay(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    path = Path(made.path)
    (path / ".git").unlink()
    shutil.rmtree(repository.root / ".git/worktrees/one")
    assert (await get_removal_losses(workspace, made.id)).besides
    with pytest.raises(SpinneyError, match="With force it is taken off the list"):
        await remove_worktree(workspace, made.id)
    await remove_worktree(workspace, made.id, force=True)
    assert made.id not in workspace.store.state.worktrees
    assert (path / "read.me").exists()


async def test_a_teardown_that_failed_half_way_leaves_the_recovery_point(
    make: Maker, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await make("one")
    mine = Path(made.path) / "mine"
    mine.write_text("untracked\n")

    async def fail(_: str) -> None:
        mine.unlink()
        raise SpinneyError("The teardown failed.", "conflict")

    monkeypatch.setattr(workspace.scripts, "run_teardown", fail)
    monkeypatch.setattr(
        "model.git.removal._take_away", _raise(SpinneyError("was not removed", "git_error"))
    )
    with pytest.raises(SpinneyError, match="was not removed"):
        await remove_worktree(workspace, made.id, force=True)
    assert workspace.store.state.worktrees[made.id].status == "ready"
    points = await list_recovery_points(workspace)
    assert any(point.files for point in points)


async def test_a_removal_that_a_kill_interrupted_after_the_renaming_is_completed(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    removing = made.model_copy(update={"status": "removing"})
    await workspace.store.accept(WorktreeArchived(worktree=removing))
    shutil.move(made.path, Path(made.path).with_name(".removed-one-12345678"))
    await workspace.removals.recover()
    assert made.id not in workspace.store.state.worktrees
    assert list(Path(made.path).parent.iterdir()) == []
    assert repository.git("branch", "--list", "one") == ""


def _raise(error: Exception) -> Callable[..., Any]:
    async def fail(*_: object) -> None:
        raise error

    return fail


async def _archive(workspace: Workspace, worktree: Worktree) -> None:
    archived = worktree.model_copy(update={"archived_at": 0})
    await workspace.store.accept(WorktreeArchived(worktree=archived))
