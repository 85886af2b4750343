"""What the poller detects by itself and what it ignores, with real git and a real workspace."""

import asyncio
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from model.background import poller, worktree_status
from model.base.errors import SpinneyError
from model.base.git_layout import GitDirectories, find_git_directories
from model.commands.git import fetch_worktrees_status
from model.commands.preferences import update_preferences
from model.commands.sessions import create_session, send_chat_message
from model.domain.events.messages import BlockChanged
from model.domain.events.worktrees import WorktreeArchived, WorktreeCreated, WorktreeUpdated
from model.domain.messages import ToolResultBlock
from model.domain.worktrees import Worktree
from model.git import status
from model.git.watch import WatchedTree, watch
from model.runtime.workspace import Workspace
from model.worktrees import archive
from tests.conftest import Eventually
from tests.fakes import FakeBackend
from tests.model.git.git_project import GitProject, add_git_project
from tests.model.git.repository import Repository
from tests.patience import PATIENCE


async def poll_all(git_project: GitProject) -> None:
    """Poll all worktrees of the project once."""
    await fetch_worktrees_status(git_project.workspace, git_project.project.id)


async def wait_for_status(
    git_project: GitProject, worktree: Worktree, eventually: Eventually
) -> None:
    await eventually(lambda: git_project.now(worktree).cached_status_at is not None)


def counts(worktree: Worktree) -> tuple[int | None, ...]:
    return (
        worktree.cached_ahead_count,
        worktree.cached_behind_count,
        worktree.cached_uncommitted_added,
        worktree.cached_uncommitted_removed,
        worktree.cached_branch_diff_added,
        worktree.cached_branch_diff_removed,
    )


async def test_a_new_worktree_is_polled_without_a_request(
    git_project: GitProject, eventually: Eventually
) -> None:
    worktree = await git_project.add("otter")
    await wait_for_status(git_project, worktree, eventually)
    assert counts(git_project.now(worktree)) == (0, 0, 0, 0, 0, 0)


async def test_a_manual_commit_is_detected_long_before_the_next_poll(
    git_project: GitProject, eventually: Eventually
) -> None:
    worktree = await git_project.add("otter")
    await wait_for_status(git_project, worktree, eventually)
    git_project.in_worktree(worktree).commit("new.txt", "one\ntwo\n")
    await eventually(lambda: git_project.now(worktree).cached_ahead_count == 1)
    assert counts(git_project.now(worktree)) == (1, 0, 0, 0, 2, 0)


async def test_a_commit_on_the_base_branch_puts_every_worktree_behind(
    git_project: GitProject, eventually: Eventually
) -> None:
    worktrees = [await git_project.add("otter"), await git_project.add("heron")]
    for worktree in worktrees:
        await wait_for_status(git_project, worktree, eventually)
    git_project.repository.commit("read.me", "changed\n")
    await eventually(lambda: all(git_project.now(w).cached_behind_count == 1 for w in worktrees))


@pytest.fixture
def watches(monkeypatch: pytest.MonkeyPatch) -> dict[str, asyncio.Event]:
    """For each worktree, the event that is set once its git directories are watched."""
    events: dict[str, asyncio.Event] = {}

    async def record(trees: Sequence[WatchedTree], callback: Any, begun: asyncio.Event) -> None:
        events.update({tree.key: begun for tree in trees})
        await watch(trees, callback, begun)

    monkeypatch.setattr(poller, "watch", record)
    return events


async def wait_for_watch(watches: dict[str, asyncio.Event], worktree: Worktree) -> None:
    async with asyncio.timeout(PATIENCE):
        while worktree.id not in watches:
            await asyncio.sleep(0.01)
        await watches[worktree.id].wait()


async def test_a_commit_not_yet_reported_when_another_worktree_is_added_is_detected(
    git_project: GitProject,
    eventually: Eventually,
    watches: dict[str, asyncio.Event],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("model.git.watch._STEP_MS", 800)
    monkeypatch.setattr(poller, "_WATCH_OVERLAP", PATIENCE)
    worktree = await git_project.add("otter")
    await wait_for_watch(watches, worktree)
    await poll_all(git_project)
    await asyncio.to_thread(git_project.in_worktree(worktree).commit, "new.txt", "one\n")
    await wait_for_watch(watches, await git_project.add("heron"))
    await eventually(lambda: git_project.now(worktree).cached_ahead_count == 1)


async def test_an_edit_is_detected_at_the_next_poll(git_project: GitProject) -> None:
    worktree = await git_project.add("otter")
    await poll_all(git_project)
    git_project.in_worktree(worktree).write("read.me", "one\nthree\nfour\n")
    await poll_all(git_project)
    assert counts(git_project.now(worktree))[2:4] == (1, 1)


async def test_a_manual_branch_switch_is_detected(
    git_project: GitProject, eventually: Eventually
) -> None:
    worktree = await git_project.add("otter")
    await wait_for_status(git_project, worktree, eventually)
    git_project.in_worktree(worktree).git("switch", "--quiet", "-c", "beaver")
    await eventually(lambda: git_project.now(worktree).branch == "beaver")


async def test_a_manual_branch_rename_is_detected(git_project: GitProject) -> None:
    worktree = await git_project.add("otter")
    git_project.repository.git("branch", "-m", "otter", "beaver")
    await poll_all(git_project)
    assert git_project.now(worktree).branch == "beaver"


async def test_a_detached_worktree_keeps_its_branch_and_reports_its_commit(
    git_project: GitProject, eventually: Eventually
) -> None:
    worktree = await git_project.add("otter")
    await wait_for_status(git_project, worktree, eventually)
    there = git_project.in_worktree(worktree)
    there.git("checkout", "--quiet", "--detach")
    await eventually(lambda: git_project.now(worktree).detached_at is not None)
    found = git_project.now(worktree)
    assert (found.detached_at, found.branch) == (there.git("rev-parse", "HEAD"), "otter")
    assert found.status == "ready"
    there.git("switch", "--quiet", "otter")
    await eventually(lambda: git_project.now(worktree).detached_at is None)


@pytest.mark.parametrize("meanwhile", [{"status": "removing"}, {"renaming_to": "heron"}])
async def test_a_worktree_being_removed_or_renamed_is_not_updated(
    git_project: GitProject, meanwhile: dict[str, str]
) -> None:
    worktree = await git_project.add("otter")
    await poll_all(git_project)
    changing = git_project.now(worktree).model_copy(update=meanwhile)
    await git_project.workspace.store.accept(WorktreeUpdated(worktree=changing))
    git_project.in_worktree(worktree).git("branch", "-m", "otter", "heron")
    await poll_all(git_project)
    assert git_project.now(worktree) == changing


@pytest.mark.parametrize(
    "meanwhile", [{"status": "removing"}, {"renaming_to": "heron"}, {"archived_at": 2.0}]
)
async def test_a_poll_is_discarded_if_the_worktree_changed_meanwhile(
    git_project: GitProject, meanwhile: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    worktree = await git_project.add("otter")
    await poll_all(git_project)
    reading, may_read, read_status = asyncio.Event(), asyncio.Event(), status.read_worktree_status

    async def slow(*given: Any) -> status.GitStatus:
        reading.set()
        await may_read.wait()
        return await read_status(*given)

    monkeypatch.setattr(status, "read_worktree_status", slow)
    polling = asyncio.create_task(poll_all(git_project))
    await reading.wait()
    changing = git_project.now(worktree).model_copy(update=meanwhile)
    await git_project.workspace.store.accept(WorktreeUpdated(worktree=changing))
    git_project.in_worktree(worktree).write("new.txt", "one\n")
    may_read.set()
    await polling
    assert git_project.now(worktree) == changing


async def test_a_worktree_is_missing_while_its_directory_is(git_project: GitProject) -> None:
    worktree = await git_project.add("otter")
    path = Path(worktree.path)
    elsewhere = path.with_name("elsewhere")
    shutil.move(path, elsewhere)
    await poll_all(git_project)
    assert git_project.now(worktree).status == "missing"
    shutil.move(elsewhere, path)
    await poll_all(git_project)
    assert git_project.now(worktree).status == "ready"


async def test_a_restored_directory_is_watched_again(
    git_project: GitProject, eventually: Eventually
) -> None:
    worktree = await git_project.add("otter")
    path = Path(worktree.path)
    elsewhere = path.with_name("elsewhere")
    shutil.move(path, elsewhere)
    await poll_all(git_project)
    shutil.move(elsewhere, path)
    await poll_all(git_project)
    await eventually(lambda: git_project.now(worktree).cached_status_at is not None)
    git_project.in_worktree(worktree).commit("new.txt", "one\n")
    await eventually(lambda: git_project.now(worktree).cached_ahead_count == 1)


async def test_a_directory_restored_while_the_watch_is_renewed_is_watched(
    git_project: GitProject,
    eventually: Eventually,
    watches: dict[str, asyncio.Event],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    not_found, may_go_on = threading.Event(), threading.Event()

    def slow(root: Path) -> GitDirectories | None:
        found = find_git_directories(root)
        if found is None:
            not_found.set()
            assert may_go_on.wait(PATIENCE)
        return found

    monkeypatch.setattr(poller, "find_git_directories", slow)
    worktree = await git_project.add("otter")
    await wait_for_watch(watches, worktree)
    path = Path(worktree.path)
    elsewhere = path.with_name("elsewhere")
    shutil.move(path, elsewhere)
    await poll_all(git_project)
    assert await asyncio.to_thread(not_found.wait, PATIENCE)
    shutil.move(elsewhere, path)
    await poll_all(git_project)
    assert git_project.now(worktree).status == "ready"
    git_project.workspace.bus.seal()
    await asyncio.sleep(0)  # until the poller has received the event
    may_go_on.set()
    watches.clear()
    await wait_for_watch(watches, worktree)


async def test_a_worktree_is_still_reported_when_its_project_has_moved(
    git_project: GitProject,
) -> None:
    worktree = await git_project.add("otter")
    shutil.move(git_project.repository.root, git_project.repository.root.with_name("moved"))
    with pytest.raises(SpinneyError, match="The project's directory is missing"):
        await poll_all(git_project)
    assert git_project.now(worktree).status == "ready"


async def test_archived_worktrees_are_not_polled(git_project: GitProject) -> None:
    worktree = await git_project.add("otter")
    await poll_all(git_project)
    await git_project.workspace.store.accept(
        WorktreeArchived(worktree=git_project.now(worktree).model_copy(update={"archived_at": 2.0}))
    )
    before = git_project.now(worktree)
    git_project.in_worktree(worktree).commit("new.txt", "one\n")
    await poll_all(git_project)
    assert git_project.now(worktree) == before


async def test_an_unchanged_status_is_published_only_on_request(git_project: GitProject) -> None:
    worktree = await git_project.add("otter")
    await poll_all(git_project)
    reader = git_project.workspace.bus.reader()
    await poll_all(git_project)
    git_project.workspace.bus.seal()
    names = [entry.event.name for entry in reader.take()[0]]
    names = [name for name in names if not name.startswith("landing:")]  # It reads on its own.
    assert names == ["git:status-update", "worktree:status_updated"]
    await worktree_status.refresh(git_project.workspace.store, worktree.id)
    git_project.workspace.bus.seal()
    later = [entry.event.name for entry in reader.take()[0]]
    assert [name for name in later if not name.startswith("landing:")] == []


async def test_the_end_of_a_turn_polls_git_at_once(
    git_project: GitProject, backend: FakeBackend, eventually: Eventually
) -> None:
    worktree = await git_project.add("otter")
    await wait_for_status(git_project, worktree, eventually)
    session = await create_session(git_project.workspace, worktree.id, execution_mode="build")
    git_project.in_worktree(worktree).write("made by the agent", "one\n")
    await send_chat_message(git_project.workspace, session.id, "hello")
    await eventually(lambda: git_project.now(worktree).cached_uncommitted_added == 1)


async def test_what_an_agent_changes_is_seen_while_its_turn_goes_on(
    git_project: GitProject, eventually: Eventually
) -> None:
    worktree = await git_project.add("otter")
    await wait_for_status(git_project, worktree, eventually)
    session = await create_session(git_project.workspace, worktree.id, execution_mode="build")
    git_project.in_worktree(worktree).write("made by the agent", "one\n")
    result = ToolResultBlock(tool_use_id="t", content="done")
    git_project.workspace.store.record(
        BlockChanged(session_id=session.id, message_id="m", content_index=1, block=result)
    )
    await eventually(lambda: git_project.now(worktree).cached_uncommitted_added == 1)


async def test_a_shorter_interval_takes_effect_at_once(
    git_project: GitProject, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    worktree = await git_project.add("otter")
    await wait_for_status(git_project, worktree, eventually)
    git_project.in_worktree(worktree).write("new.txt", "one\n")
    # As if the last poll were 30 seconds older, which is less than the interval. Only the time of
    # the scheduler module changes: the event loop would consider a running poll stalled.
    monkeypatch.setattr(
        "model.background.scheduler.time", SimpleNamespace(monotonic=lambda: time.monotonic() + 30)
    )
    await update_preferences(git_project.workspace, {"git_poll_interval": 10})
    await eventually(lambda: git_project.now(worktree).cached_uncommitted_added == 1)


async def test_both_intervals_are_those_of_the_preferences(workspace: Workspace) -> None:
    changes = {"git_poll_interval": 20, "remote_poll_interval": 40}
    await update_preferences(workspace, changes)
    poller = workspace.poller
    assert (poller._git_interval(), poller._remote_interval()) == (20, 40)


async def test_a_repository_that_hangs_does_not_delay_others(
    workspace: Workspace,
    make_repository: Callable[[str], Repository],
    fake_git: Callable[[str], None],
    eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("model.background.scheduler.STALL_TIMEOUT", 0.1)
    places = []
    for name in ("dead", "live"):
        repository = make_repository(name)
        repository.commit("read.me", "one\n")
        places.append(await add_git_project(workspace, repository))
    # `exec`, so that ending the script ends the wait.
    fake_git('case "$*" in *dead-*status*) exec sleep 60;; esac\nexec $real_git "$@"')
    dead = [await places[0].add(f"dead-{n}") for n in range(4)]
    live = await places[1].add("live-one")
    await wait_for_status(places[1], live, eventually)
    assert all(places[0].now(worktree).cached_status_at is None for worktree in dead)


async def test_polling_never_makes_another_git_fail(git_project: GitProject) -> None:
    worktree = await git_project.add("otter")
    tree = git_project.in_worktree(worktree)
    polling = True

    async def poll() -> None:
        while polling:
            await poll_all(git_project)

    task = asyncio.create_task(poll())
    for number in range(15):
        await asyncio.to_thread(tree.commit, "new.txt", f"{number}\n")
    polling = False
    await task
    await poll_all(git_project)
    assert git_project.now(worktree).cached_ahead_count == 15


async def test_a_worktree_where_git_fails_is_polled_less_often(
    git_project: GitProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    worktree = await git_project.add("otter")
    now = 0.0
    refreshes = 0

    async def broken(*args: object, **more: object) -> None:
        nonlocal refreshes
        refreshes += 1
        raise SpinneyError("fatal: not a git repository", "git_error")

    monkeypatch.setattr(worktree_status, "refresh", broken)
    workspace = git_project.workspace
    own_poller = poller.Poller(
        workspace.store,
        workspace.bus,
        archive,
        workspace.radar,
        workspace.landing.note_status,
        clock=lambda: now,
    )
    for _ in range(100):
        await own_poller._refresh_git(worktree.id)
        now += workspace.store.state.preferences.git_poll_interval
    assert refreshes == 10  # after 1, 2, 4, 8 and then each 16 intervals
    own_poller.refresh(worktree.id)
    await own_poller._refresh_git(worktree.id)
    assert refreshes == 11


async def test_a_worktree_without_a_project_is_not_polled(
    git_project: GitProject, caplog: pytest.LogCaptureFixture, eventually: Eventually
) -> None:
    lost = (await git_project.add("otter")).model_copy(update={"id": "lost", "project_id": "gone"})
    await git_project.workspace.store.accept(WorktreeCreated(worktree=lost))
    worktree = await git_project.add("heron")
    git_project.workspace.poller.refresh("lost", worktree.id)
    await wait_for_status(git_project, worktree, eventually)
    assert "lost" not in git_project.workspace.poller._worktrees()
    await worktree_status.refresh(git_project.workspace.store, "lost")
    assert not [record for record in caplog.records if record.exc_info]


async def test_polling_runs_no_program_that_a_repository_configures(
    git_project: GitProject, tmp_path: Path, eventually: Eventually
) -> None:
    marker = tmp_path / "it ran"
    worktree = await git_project.add("otter")
    inside = git_project.in_worktree(worktree)
    inside.write(".gitattributes", "* filter=evil\n")
    inside.commit("file", "text\n")
    for key in ("filter.evil.clean", "filter.evil.process", "core.fsmonitor", "diff.external"):
        inside.git("config", key, f"touch '{marker}'; cat")
    inside.write("file", "changed\n")
    await poll_all(git_project)
    assert git_project.now(worktree).cached_uncommitted_added == 1
    assert not marker.exists()
