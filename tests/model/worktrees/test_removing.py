"""Deleting worktrees: refused if work would be lost, and rolled back on failure."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from model.background.retention import SWEEP_INTERVAL, Retention
from model.base.errors import SpinneyError
from model.commands.preferences import update_preferences
from model.commands.projects import update_project_settings
from model.commands.sessions import create_session, send_chat_message, stop_generation
from model.commands.worktrees import (
    get_removal_losses,
    open_base_worktree,
    remove_worktree,
)
from model.domain.events.sessions import SessionArchived
from model.domain.events.worktrees import WorktreeArchived, WorktreeUpdated
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests import fakes
from tests.conftest import Eventually
from tests.fakes import FakeBackend
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import EventLog, Maker
from tests.patience import PATIENCE

DAY = 86400.0


async def test_a_removal_deletes_directory_branch_and_sessions(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    session = await create_session(workspace, made.id)
    await remove_worktree(workspace, made.id)
    assert made.id not in workspace.store.state.worktrees
    assert session.id not in workspace.store.state.sessions
    assert not Path(made.path).exists()
    assert repository.git("branch", "--list", "one") == ""
    assert "one" not in repository.git("worktree", "list")


@pytest.mark.parametrize(
    ("work", "words"),
    [
        ("untracked", r"1 uncommitted file \(new\)"),
        ("staged", r"1 uncommitted file \(staged\)"),
        ("committed", "1 commit that is on no other branch"),
    ],
)
async def test_a_worktree_with_unmerged_work_is_kept_unless_forced(
    work: str, words: str, make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    path = Path(made.path)
    match work:
        case "untracked":
            repository.write("new", "text\n", cwd=path)
        case "staged":
            repository.write("staged", "text\n", cwd=path)
            repository.git("add", ".", cwd=path)
        case "committed":
            repository.commit("committed", "text\n", cwd=path)
    with pytest.raises(SpinneyError, match=words) as refused:
        await remove_worktree(workspace, made.id)
    assert refused.value.error_type == "conflict"
    assert _current(workspace, made).status == "ready"
    await remove_worktree(workspace, made.id, force=True)
    assert not path.exists()
    assert repository.git("branch", "--list", "one") == ""


async def test_a_detached_worktree_whose_branch_has_unmerged_commits_is_kept(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    repository.commit("file", "text\n", cwd=Path(made.path))
    repository.git("checkout", "--quiet", "--detach", "main", cwd=Path(made.path))
    with pytest.raises(SpinneyError, match="'one' has 1 commit that is on no other branch"):
        await remove_worktree(workspace, made.id)
    assert Path(made.path).exists()


async def test_a_stash_survives_the_removal(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    repository.write("read.me", "changed\n", cwd=Path(made.path))
    repository.git("stash", cwd=Path(made.path))
    await remove_worktree(workspace, made.id)
    assert "stash@{0}" in repository.git("stash", "list")


async def test_a_running_session_prevents_even_a_forced_removal(
    make: Maker, workspace: Workspace, backend: FakeBackend
) -> None:
    backend.script = fakes.silence
    made = await make("one")
    session = await create_session(workspace, made.id, name="Busy")
    await send_chat_message(workspace, session.id, "work")
    with pytest.raises(SpinneyError, match="'Busy' is still running"):
        await remove_worktree(workspace, made.id, force=True)
    assert Path(made.path).exists()
    await stop_generation(workspace, session.id)


async def test_a_removal_archives_if_the_preferences_say_so(
    make: Maker, workspace: Workspace
) -> None:
    await update_preferences(workspace, {"removal_behavior": "archive"})
    made = await make("one")
    await remove_worktree(workspace, made.id)
    assert _current(workspace, made).archived_at is not None
    assert Path(made.path).exists()


async def test_a_missing_worktree_can_be_removed_and_its_name_used_again(
    make: Maker, workspace: Workspace
) -> None:
    made = await make("one")
    shutil.rmtree(made.path)
    await remove_worktree(workspace, made.id)
    assert (await make("one")).status == "ready"


async def test_a_worktree_in_a_former_worktrees_dir_can_be_removed(
    make: Maker, workspace: Workspace, tmp_path: Path
) -> None:
    made = await make("one")
    await update_project_settings(
        workspace, make.project.id, worktrees_dir=str(tmp_path / "elsewhere")
    )
    await remove_worktree(workspace, made.id)
    assert not Path(made.path).exists()


async def test_a_link_in_place_of_the_worktree_is_not_followed(
    make: Maker, workspace: Workspace, tmp_path: Path
) -> None:
    made = await make("one")
    outside = tmp_path / "outside"
    Path(made.path).rename(outside)
    Path(made.path).symlink_to(outside)
    with pytest.raises(SpinneyError, match="no longer a directory"):
        await remove_worktree(workspace, made.id, force=True)
    assert (outside / "read.me").exists()
    assert made.id in workspace.store.state.worktrees


async def test_removing_the_base_worktree_touches_no_file(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    base = await open_base_worktree(workspace, make.project.id)
    await remove_worktree(workspace, base.id)
    assert base.id not in workspace.store.state.worktrees
    assert (repository.root / "read.me").exists()
    assert repository.git("branch", "--show-current") == "main"


async def test_a_branch_that_is_the_base_of_another_is_kept(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    await make("two", base_branch="one")
    await remove_worktree(workspace, made.id)
    assert repository.git("branch", "--list", "one") != ""


async def test_the_second_of_two_concurrent_removals_is_refused(
    make: Maker, workspace: Workspace
) -> None:
    made = await make("one")
    ended = await asyncio.gather(
        *(remove_worktree(workspace, made.id) for _ in range(2)), return_exceptions=True
    )
    assert sum(outcome is None for outcome in ended) == 1
    assert not Path(made.path).exists()


@pytest.mark.parametrize("killed", ["before its files went", "after its files went"])
async def test_an_interrupted_removal_is_completed_or_rolled_back(
    killed: str, make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    noted = made.model_copy(update={"status": "removing"})
    await workspace.store.accept(WorktreeUpdated(worktree=noted))
    if killed == "after its files went":
        repository.git("worktree", "remove", made.path)
    await workspace.removals.recover()
    if killed == "before its files went":
        assert _current(workspace, made).status == "ready"
    else:
        assert made.id not in workspace.store.state.worktrees
        assert repository.git("branch", "--list", "one") == ""


async def test_canceling_a_hanging_removal_leaves_the_worktree_unchanged(
    make: Maker, workspace: Workspace, fake_git: Callable[[str], None], tmp_path: Path
) -> None:
    made = await make("one")
    fake_git(
        f'case "$*" in *"worktree remove"*) touch "{tmp_path}/at-it"; exec sleep 60;; esac\n'
        'exec "$real_git" "$@"'
    )
    removing = asyncio.create_task(remove_worktree(workspace, made.id))
    async with asyncio.timeout(PATIENCE):
        while not (tmp_path / "at-it").exists():
            await asyncio.sleep(0.02)
        removing.cancel()
        await asyncio.gather(removing, return_exceptions=True)
    assert _current(workspace, made).status == "ready"
    assert (Path(made.path) / "read.me").exists()


# Retention ---------------------------------------------------------------------------------------


async def test_an_expired_worktree_is_deleted_at_the_second_sweep(
    make: Maker, workspace: Workspace
) -> None:
    made = await make("one")
    await _archive(workspace, made, at=0)
    retention = _retention(workspace)
    await retention.sweep(8 * DAY, 0)
    assert made.id in workspace.store.state.worktrees
    await retention.sweep(8 * DAY, SWEEP_INTERVAL)
    assert made.id not in workspace.store.state.worktrees
    assert not Path(made.path).exists()


async def test_a_clock_that_jumps_ahead_and_back_deletes_nothing(
    make: Maker, workspace: Workspace
) -> None:
    made = await make("one")
    await _archive(workspace, made, at=0)
    retention = _retention(workspace)
    await retention.sweep(30 * DAY, 0)
    await retention.sweep(1 * DAY, SWEEP_INTERVAL)
    await retention.sweep(30 * DAY, 2 * SWEEP_INTERVAL)
    assert made.id in workspace.store.state.worktrees


async def test_an_expired_session_is_deleted_and_its_worktree_kept(
    make: Maker, workspace: Workspace
) -> None:
    made = await make("one")
    session = await create_session(workspace, made.id)
    await workspace.store.accept(SessionArchived(session_id=session.id, archived_at=0))
    retention = _retention(workspace)
    for sweep in range(2):
        await retention.sweep(8 * DAY, sweep * SWEEP_INTERVAL)
    assert session.id not in workspace.store.state.sessions
    assert made.id in workspace.store.state.worktrees


async def test_zero_days_keep_the_archive_forever(make: Maker, workspace: Workspace) -> None:
    await update_preferences(workspace, {"archive_retention_days": 0})
    made = await make("one")
    await _archive(workspace, made, at=0)
    retention = _retention(workspace)
    for sweep in range(3):
        await retention.sweep(9999 * DAY, sweep * SWEEP_INTERVAL)
    assert made.id in workspace.store.state.worktrees


async def test_retention_keeps_worktrees_with_unmerged_work_and_reports_it_once(
    make: Maker, workspace: Workspace, event_log: EventLog, eventually: Eventually
) -> None:
    made = await make("one")
    (Path(made.path) / "precious").write_text("text")
    await _archive(workspace, made, at=0)
    retention = _retention(workspace)
    for sweep in range(4):
        await retention.sweep(8 * DAY, sweep * SWEEP_INTERVAL)
    await eventually(lambda: event_log.last_task("retention") is not None)
    assert [t.task for t in event_log.tasks].count("retention") == 1
    assert "'one' was not deleted from the archive" in event_log.tasks[-1].detail
    assert (Path(made.path) / "precious").exists()


async def _archive(workspace: Workspace, worktree: Worktree, at: float) -> None:
    archived = worktree.model_copy(update={"archived_at": at})
    await workspace.store.accept(WorktreeArchived(worktree=archived))


def _retention(workspace: Workspace) -> Retention:
    return Retention(
        workspace.store,
        workspace.removals,
        workspace.conversations.end_agent,
        workspace.recovery_points.save_session,
    )


def _current(workspace: Workspace, worktree: Worktree) -> Worktree:
    return workspace.store.state.worktrees[worktree.id]


async def test_removal_losses_list_files_commits_and_sessions(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    await create_session(workspace, made.id)
    path = Path(made.path)
    repository.write("kept", "text\n", cwd=path)
    repository.git("add", ".", cwd=path)
    repository.git("commit", "-q", "-m", "more", cwd=path)
    repository.write("new", "text\n", cwd=path)
    lost = await get_removal_losses(workspace, made.id)
    assert (lost.files, lost.commits, lost.sessions, lost.running) == (["new"], 1, 1, [])
    shutil.rmtree(path)
    lost = await get_removal_losses(workspace, made.id)
    assert (lost.files, lost.commits) == ([], 1)


async def test_an_archived_worktree_is_deleted_for_good_whatever_the_preference_says(
    make: Maker, workspace: Workspace
) -> None:
    made = await make("one")
    await update_preferences(workspace, {"removal_behavior": "archive"})
    await remove_worktree(workspace, made.id)
    assert workspace.store.state.worktrees[made.id].archived_at is not None
    await remove_worktree(workspace, made.id, for_good=True)
    assert made.id not in workspace.store.state.worktrees
    assert not Path(made.path).exists()
