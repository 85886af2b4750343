"""What the poller notices by itself, and what it leaves alone. Real git, a real workspace."""

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
from model.base.git_layout import GitDirectories, git_directories
from model.commands.git import fetch_worktrees_status
from model.commands.preferences import update_preferences
from model.commands.sessions import create_session, send_chat_message
from model.domain.events import WorktreeArchived, WorktreeCreated, WorktreeUpdated
from model.domain.resources import Worktree
from model.git import status
from model.git.watch import WatchedTree, watch
from model.runtime.workspace import Workspace
from model.worktrees import archive
from tests.conftest import Eventually
from tests.fakes import FakeBackend
from tests.model.git.made_repository import Repository
from tests.model.git.place import Place, place_of
from tests.patience import PATIENCE


@pytest.fixture
async def place(workspace: Workspace, repository: Repository) -> Place:
    return await place_of(workspace, repository)


async def look(place: Place) -> None:
    """One poll of everything."""
    await fetch_worktrees_status(place.workspace, place.project.id)


async def looked_at(place: Place, worktree: Worktree, eventually: Eventually) -> None:
    await eventually(lambda: place.now(worktree).cached_status_at is not None)


def counts(worktree: Worktree) -> tuple[int | None, ...]:
    return (
        worktree.cached_ahead_count,
        worktree.cached_behind_count,
        worktree.cached_uncommitted_added,
        worktree.cached_uncommitted_removed,
        worktree.cached_branch_diff_added,
        worktree.cached_branch_diff_removed,
    )


async def test_a_new_worktree_is_looked_at_without_being_asked_for(
    place: Place, eventually: Eventually
) -> None:
    worktree = await place.add("otter")
    await looked_at(place, worktree, eventually)
    assert counts(place.now(worktree)) == (0, 0, 0, 0, 0, 0)


async def test_a_commit_made_by_hand_is_noticed_long_before_the_interval_is_over(
    place: Place, eventually: Eventually
) -> None:
    worktree = await place.add("otter")
    await looked_at(place, worktree, eventually)
    place.in_worktree(worktree).commit("new.txt", "one\ntwo\n")
    await eventually(lambda: place.now(worktree).cached_ahead_count == 1)
    assert counts(place.now(worktree)) == (1, 0, 0, 0, 2, 0)


async def test_a_commit_on_the_base_branch_puts_every_worktree_behind(
    place: Place, eventually: Eventually
) -> None:
    worktrees = [await place.add("otter"), await place.add("heron")]
    for worktree in worktrees:
        await looked_at(place, worktree, eventually)
    place.repository.commit("read.me", "changed\n")
    await eventually(lambda: all(place.now(w).cached_behind_count == 1 for w in worktrees))


@pytest.fixture
def watches(monkeypatch: pytest.MonkeyPatch) -> dict[str, asyncio.Event]:
    """For each worktree, whether the newest watch of its git directories has begun."""
    known: dict[str, asyncio.Event] = {}

    async def noted(trees: Sequence[WatchedTree], tell: Any, begun: asyncio.Event) -> None:
        known.update({tree.key: begun for tree in trees})
        await watch(trees, tell, begun)

    monkeypatch.setattr(poller, "watch", noted)
    return known


async def watched(watches: dict[str, asyncio.Event], worktree: Worktree) -> None:
    async with asyncio.timeout(PATIENCE):
        while worktree.id not in watches:
            await asyncio.sleep(0.01)
        await watches[worktree.id].wait()


async def test_a_commit_that_was_not_told_yet_when_another_worktree_came_is_noticed(
    place: Place,
    eventually: Eventually,
    watches: dict[str, asyncio.Event],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("model.git.watch._SETTLED_MS", 800)
    monkeypatch.setattr(poller, "_WATCH_OVERLAP", PATIENCE)
    worktree = await place.add("otter")
    await watched(watches, worktree)
    await look(place)
    await asyncio.to_thread(place.in_worktree(worktree).commit, "new.txt", "one\n")
    await watched(watches, await place.add("heron"))
    await eventually(lambda: place.now(worktree).cached_ahead_count == 1)


async def test_an_edit_is_found_at_the_next_poll(place: Place) -> None:
    worktree = await place.add("otter")
    await look(place)
    place.in_worktree(worktree).write("read.me", "one\nthree\nfour\n")
    await look(place)
    assert counts(place.now(worktree))[2:4] == (1, 1)


async def test_a_branch_switched_by_hand_is_followed(place: Place, eventually: Eventually) -> None:
    worktree = await place.add("otter")
    await looked_at(place, worktree, eventually)
    place.in_worktree(worktree).git("switch", "--quiet", "-c", "beaver")
    await eventually(lambda: place.now(worktree).branch == "beaver")


async def test_a_branch_renamed_by_hand_is_followed(place: Place) -> None:
    worktree = await place.add("otter")
    place.repository.git("branch", "-m", "otter", "beaver")
    await look(place)
    assert place.now(worktree).branch == "beaver"


async def test_a_detached_worktree_keeps_its_branch_and_tells_where_it_is_instead(
    place: Place, eventually: Eventually
) -> None:
    worktree = await place.add("otter")
    await looked_at(place, worktree, eventually)
    there = place.in_worktree(worktree)
    there.git("checkout", "--quiet", "--detach")
    await eventually(lambda: place.now(worktree).detached_at is not None)
    found = place.now(worktree)
    assert (found.detached_at, found.branch) == (there.git("rev-parse", "HEAD"), "otter")
    assert found.status == "ready"
    there.git("switch", "--quiet", "otter")
    await eventually(lambda: place.now(worktree).detached_at is None)


@pytest.mark.parametrize("meanwhile", [{"status": "removing"}, {"renaming_to": "heron"}])
async def test_what_is_being_removed_or_renamed_is_not_put_right_meanwhile(
    place: Place, meanwhile: dict[str, str]
) -> None:
    worktree = await place.add("otter")
    await look(place)
    changing = place.now(worktree).model_copy(update=meanwhile)
    await place.workspace.store.accept(WorktreeUpdated(worktree=changing))
    place.in_worktree(worktree).git("branch", "-m", "otter", "heron")
    await look(place)
    assert place.now(worktree) == changing


@pytest.mark.parametrize(
    "meanwhile", [{"status": "removing"}, {"renaming_to": "heron"}, {"archived_at": 2.0}]
)
async def test_what_a_look_finds_of_what_others_took_in_hand_meanwhile_is_dropped(
    place: Place, meanwhile: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    worktree = await place.add("otter")
    await look(place)
    looks, may_look, git_status = asyncio.Event(), asyncio.Event(), status.worktree_status

    async def slow(*given: Any) -> status.GitStatus:
        looks.set()
        await may_look.wait()
        return await git_status(*given)

    monkeypatch.setattr(status, "worktree_status", slow)
    looking = asyncio.create_task(look(place))
    await looks.wait()
    changing = place.now(worktree).model_copy(update=meanwhile)
    await place.workspace.store.accept(WorktreeUpdated(worktree=changing))
    place.in_worktree(worktree).write("new.txt", "one\n")
    may_look.set()
    await looking
    assert place.now(worktree) == changing


async def test_a_directory_removed_by_hand_is_missing_until_it_is_back(place: Place) -> None:
    worktree = await place.add("otter")
    path = Path(worktree.path)
    elsewhere = path.with_name("elsewhere")
    shutil.move(path, elsewhere)
    await look(place)
    assert place.now(worktree).status == "missing"
    shutil.move(elsewhere, path)
    await look(place)
    assert place.now(worktree).status == "ready"


async def test_a_directory_that_is_back_is_watched_again(
    place: Place, eventually: Eventually
) -> None:
    worktree = await place.add("otter")
    path = Path(worktree.path)
    elsewhere = path.with_name("elsewhere")
    shutil.move(path, elsewhere)
    await look(place)
    shutil.move(elsewhere, path)
    await look(place)
    await eventually(lambda: place.now(worktree).cached_status_at is not None)
    place.in_worktree(worktree).commit("new.txt", "one\n")
    await eventually(lambda: place.now(worktree).cached_ahead_count == 1)


async def test_a_directory_that_is_back_while_the_next_watch_is_made_is_watched(
    place: Place,
    eventually: Eventually,
    watches: dict[str, asyncio.Event],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    not_found, may_go_on = threading.Event(), threading.Event()

    def slow(root: Path) -> GitDirectories | None:
        found = git_directories(root)
        if found is None:
            not_found.set()
            assert may_go_on.wait(PATIENCE)
        return found

    monkeypatch.setattr(poller, "git_directories", slow)
    worktree = await place.add("otter")
    await watched(watches, worktree)
    path = Path(worktree.path)
    elsewhere = path.with_name("elsewhere")
    shutil.move(path, elsewhere)
    await look(place)
    assert await asyncio.to_thread(not_found.wait, PATIENCE)
    shutil.move(elsewhere, path)
    await look(place)
    assert place.now(worktree).status == "ready"
    place.workspace.bus.seal()
    await asyncio.sleep(0)  # until that was heard
    may_go_on.set()
    watches.clear()
    await watched(watches, worktree)


async def test_a_worktree_is_still_told_about_when_its_project_has_moved(place: Place) -> None:
    worktree = await place.add("otter")
    shutil.move(place.repository.root, place.repository.root.with_name("moved"))
    with pytest.raises(SpinneyError, match="The project's directory is gone"):
        await look(place)
    assert place.now(worktree).status == "ready"


async def test_archived_worktrees_are_left_alone(place: Place) -> None:
    worktree = await place.add("otter")
    await look(place)
    await place.workspace.store.accept(
        WorktreeArchived(worktree=place.now(worktree).model_copy(update={"archived_at": 2.0}))
    )
    before = place.now(worktree)
    place.in_worktree(worktree).commit("new.txt", "one\n")
    await look(place)
    assert place.now(worktree) == before


async def test_what_did_not_change_is_not_told_again_unless_somebody_asked(place: Place) -> None:
    worktree = await place.add("otter")
    await look(place)
    reader = place.workspace.bus.reader()
    await look(place)
    place.workspace.bus.seal()
    told = [entry.event.name for entry in reader.take()[0]]
    assert told == ["git:status-update", "worktree:status_updated"]
    await worktree_status.refresh(place.workspace.store, worktree.id)
    place.workspace.bus.seal()
    assert reader.take()[0] == []


async def test_the_end_of_a_turn_has_git_asked_at_once(
    place: Place, backend: FakeBackend, eventually: Eventually
) -> None:
    worktree = await place.add("otter")
    await looked_at(place, worktree, eventually)
    session = await create_session(place.workspace, worktree.id, execution_mode="build")
    place.in_worktree(worktree).write("made by the agent", "one\n")
    await send_chat_message(place.workspace, session.id, "hello")
    await eventually(lambda: place.now(worktree).cached_uncommitted_added == 1)


async def test_a_shorter_interval_takes_effect_at_once(
    place: Place, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    worktree = await place.add("otter")
    await looked_at(place, worktree, eventually)
    place.in_worktree(worktree).write("new.txt", "one\n")
    # As if the last look were long ago, but not as long as the interval says. For the rounds alone:
    # the loop would take a look that is under way for one that has stalled.
    monkeypatch.setattr(
        "model.background.scheduler.time", SimpleNamespace(monotonic=lambda: time.monotonic() + 30)
    )
    await update_preferences(place.workspace, {"git_poll_interval": 10})
    await eventually(lambda: place.now(worktree).cached_uncommitted_added == 1)


async def test_both_intervals_are_those_of_the_preferences(workspace: Workspace) -> None:
    changes = {"git_poll_interval": 20, "remote_poll_interval": 40}
    await update_preferences(workspace, changes)
    poller = workspace.poller
    assert (poller._git_interval(), poller._remote_interval()) == (20, 40)


async def test_a_repository_that_hangs_holds_up_no_other(
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
        places.append(await place_of(workspace, repository))
    # `exec`, so that ending the script ends the wait.
    fake_git('case "$*" in *dead-*status*) exec sleep 60;; esac\nexec $real_git "$@"')
    dead = [await places[0].add(f"dead-{n}") for n in range(4)]
    live = await places[1].add("live-one")
    await looked_at(places[1], live, eventually)
    assert all(places[0].now(worktree).cached_status_at is None for worktree in dead)


async def test_polling_never_makes_another_git_fail(place: Place) -> None:
    worktree = await place.add("otter")
    tree = place.in_worktree(worktree)
    polling = True

    async def poll() -> None:
        while polling:
            await look(place)

    task = asyncio.create_task(poll())
    for number in range(15):
        await asyncio.to_thread(tree.commit, "new.txt", f"{number}\n")
    polling = False
    await task
    await look(place)
    assert place.now(worktree).cached_ahead_count == 15


async def test_a_worktree_in_which_git_fails_is_looked_at_less_and_less_often(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    worktree = await place.add("otter")
    now = 0.0
    looks = 0

    async def broken(*args: object, **more: object) -> None:
        nonlocal looks
        looks += 1
        raise SpinneyError("fatal: not a git repository", "git_error")

    monkeypatch.setattr(worktree_status, "refresh", broken)
    workspace = place.workspace
    alone = poller.Poller(workspace.store, workspace.bus, archive, clock=lambda: now)
    for _ in range(100):
        await alone._refresh_git(worktree.id)
        now += workspace.store.state.preferences.git_poll_interval
    assert looks == 10  # after 1, 2, 4, 8 and then each 16 intervals
    alone.ask(worktree.id)
    await alone._refresh_git(worktree.id)
    assert looks == 11


async def test_a_worktree_whose_project_is_lost_is_left_alone(
    place: Place, caplog: pytest.LogCaptureFixture, eventually: Eventually
) -> None:
    lost = (await place.add("otter")).model_copy(update={"id": "lost", "project_id": "gone"})
    await place.workspace.store.accept(WorktreeCreated(worktree=lost))
    worktree = await place.add("heron")
    place.workspace.poller.ask("lost", worktree.id)
    await looked_at(place, worktree, eventually)
    assert "lost" not in place.workspace.poller._worktrees()
    await worktree_status.refresh(place.workspace.store, "lost")
    assert not [record for record in caplog.records if record.exc_info]


async def test_polling_runs_nothing_that_a_repository_names(
    place: Place, tmp_path: Path, eventually: Eventually
) -> None:
    marker = tmp_path / "it ran"
    worktree = await place.add("otter")
    inside = place.in_worktree(worktree)
    inside.write(".gitattributes", "* filter=evil\n")
    inside.commit("file", "text\n")
    for key in ("filter.evil.clean", "filter.evil.process", "core.fsmonitor", "diff.external"):
        inside.git("config", key, f"touch '{marker}'; cat")
    inside.write("file", "changed\n")
    await look(place)
    assert place.now(worktree).cached_uncommitted_added == 1
    assert not marker.exists()
