"""Renaming a worktree with its branch and folder, completely or not at all, even after a kill."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from model.background.worktree_status import refresh
from model.base.errors import SpinneyError
from model.commands.git import fetch_worktrees_status
from model.commands.sessions import create_session, send_chat_message, stop_generation
from model.commands.worktrees import archive_worktree, remove_worktree, rename_worktree
from model.domain.events.worktrees import WorktreeUpdated
from model.runtime.workspace import Workspace
from model.worktrees.renaming import recover
from tests import fakes
from tests.conftest import Eventually
from tests.fakes import FakeBackend
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import Maker


async def test_a_rename_changes_name_branch_and_folder(
    make: Maker, workspace: Workspace, repository: Repository, home_of_worktrees: Path
) -> None:
    made = await make("one")
    stacked = await make("above", base_branch="one")
    renamed = await rename_worktree(workspace, made.id, "grüße")
    assert (renamed.name, renamed.branch) == ("grüße", "grüße")
    assert Path(renamed.path) == home_of_worktrees / "grüße"
    assert repository.git("branch", "--show-current", cwd=Path(renamed.path)) == "grüße"
    assert not Path(made.path).exists()
    assert repository.git("branch", "--list", "one") == ""
    assert workspace.store.state.worktrees[stacked.id].base_branch == "grüße"


async def test_a_renamed_worktree_keeps_its_running_session_and_its_folder(
    make: Maker, workspace: Workspace, repository: Repository, backend: FakeBackend
) -> None:
    backend.script = fakes.silence
    made = await make("one")
    session = await create_session(workspace, made.id)
    await send_chat_message(workspace, session.id, "work")
    renamed = await rename_worktree(workspace, made.id, "two")
    assert (renamed.name, renamed.branch, renamed.path) == ("two", "two", made.path)
    assert repository.git("branch", "--show-current", cwd=Path(made.path)) == "two"
    assert workspace.store.state.sessions[session.id].status == "running"
    await stop_generation(workspace, session.id)


async def test_a_branch_that_was_switched_to_by_hand_keeps_its_name(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    repository.git("checkout", "--quiet", "-b", "release", cwd=Path(made.path))
    await refresh(workspace.store, made.id)
    renamed = await rename_worktree(workspace, made.id, "two")
    assert (renamed.name, renamed.branch) == ("two", "release")
    assert repository.git("branch", "--show-current", cwd=Path(made.path)) == "release"


@pytest.mark.parametrize(
    ("taken", "message"),
    [
        ("worktree", "Worktree name already exists: two"),
        ("branch", "Branch already exists: two"),
        ("path", "Worktree path already exists: {path}"),
    ],
)
async def test_a_refused_rename_changes_nothing(
    taken: str,
    message: str,
    make: Maker,
    workspace: Workspace,
    repository: Repository,
    home_of_worktrees: Path,
) -> None:
    made = await make("one")
    match taken:
        case "worktree":
            await make("two")
        case "branch":
            repository.git("branch", "two")
        case "path":
            (home_of_worktrees / "two").mkdir()
    with pytest.raises(SpinneyError) as refused:
        await rename_worktree(workspace, made.id, "two")
    assert refused.value.message == message.format(path=home_of_worktrees / "two")
    kept = workspace.store.state.worktrees[made.id]
    assert (kept.name, kept.branch, kept.path) == (made.name, made.branch, made.path)
    assert repository.git("branch", "--show-current", cwd=Path(made.path)) == "one"


async def test_a_folder_that_cannot_be_moved_rolls_back_the_branch(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    repository.git("worktree", "lock", "--reason", "on a train", made.path)
    with pytest.raises(SpinneyError, match="on a train"):
        await rename_worktree(workspace, made.id, "two")
    assert repository.git("branch", "--show-current", cwd=Path(made.path)) == "one"
    assert workspace.store.state.worktrees[made.id].name == "one"


@pytest.mark.parametrize("killed", ["before git", "after the branch", "after the folder"])
async def test_an_interrupted_rename_is_completed_or_discarded(
    killed: str, make: Maker, workspace: Workspace, repository: Repository, home_of_worktrees: Path
) -> None:
    made = await make("one")
    stacked = await make("above", base_branch="one")
    noted = made.model_copy(update={"renaming_to": "two"})
    await workspace.store.accept(WorktreeUpdated(worktree=noted))
    if killed != "before git":
        repository.git("branch", "-m", "one", "two")
    if killed == "after the folder":
        repository.git("worktree", "move", made.path, str(home_of_worktrees / "two"))
    await recover(workspace.store)
    now = workspace.store.state.worktrees[made.id]
    name = "one" if killed == "before git" else "two"
    folder = "two" if killed == "after the folder" else "one"
    assert (now.name, now.branch, now.renaming_to) == (name, name, None)
    assert now.path == str(home_of_worktrees / folder)
    assert workspace.store.state.worktrees[stacked.id].base_branch == name
    assert repository.git("branch", "--show-current", cwd=Path(now.path)) == name


async def test_recovery_of_a_rename_succeeds_without_the_repository(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    noted = made.model_copy(update={"renaming_to": "two"})
    await workspace.store.accept(WorktreeUpdated(worktree=noted))
    shutil.rmtree(repository.root)
    await recover(workspace.store)
    assert workspace.store.state.worktrees[made.id].renaming_to is None


async def test_other_commands_are_refused_during_a_rename(
    make: Maker,
    workspace: Workspace,
    fake_git: Callable[[str], None],
    tmp_path: Path,
    eventually: Eventually,
) -> None:
    made = await make("one")
    stacked = await make("above", base_branch="one")
    fake_git(
        'case "$*" in *"worktree move"*)'
        f' until [ -e "{tmp_path}/go" ]; do sleep 0.02; done;; esac\n'
        'exec "$real_git" "$@"'
    )
    renaming = asyncio.create_task(rename_worktree(workspace, made.id, "two"))
    await eventually(lambda: workspace.store.state.worktrees[made.id].renaming_to == "two")
    for command in (archive_worktree, remove_worktree):
        with pytest.raises(SpinneyError, match="is being renamed"):
            await command(workspace, made.id)
    # The branch has its new name by now; a refresh must not mistake this for a manual switch.
    await fetch_worktrees_status(workspace, made.project_id)
    (tmp_path / "go").touch()
    assert (await renaming).branch == "two"
    assert workspace.store.state.worktrees[stacked.id].base_branch == "two"


async def test_a_refused_rename_is_not_pending(make: Maker, workspace: Workspace) -> None:
    made = await make("one")
    (Path(made.path).parent / "two").mkdir()
    with pytest.raises(SpinneyError, match="Worktree path already exists"):
        await rename_worktree(workspace, made.id, "two")
    assert workspace.store.state.worktrees[made.id].renaming_to is None
    assert (await rename_worktree(workspace, made.id, "three")).name == "three"
