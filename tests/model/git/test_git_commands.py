"""The commands for diff, commit, pull and push, and the paths they accept."""

import asyncio
import time
from collections.abc import Awaitable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.git import (
    commit_changes,
    get_git_diff,
    git_pull,
    git_push,
    has_uncommitted_changes,
    update_from_base,
)
from model.domain.events.program import TaskCompleted
from model.domain.worktrees import Worktree
from model.git import diff as diff_module
from model.git import run
from tests.model.git.git_project import GitProject
from tests.patience import PATIENCE


@pytest.fixture
async def worktree(git_project: GitProject) -> Worktree:
    return await git_project.add("otter")


async def catch_error(call: Awaitable[object]) -> SpinneyError:
    with pytest.raises(SpinneyError) as refused:
        await call
    return refused.value


async def test_only_the_roots_of_known_worktrees_and_projects_are_accepted(
    git_project: GitProject, worktree: Worktree, tmp_path: Path
) -> None:
    sibling = tmp_path / "sibling"
    git_project.repository.git("clone", "--quiet", str(git_project.repository.root), str(sibling))
    link = tmp_path / "link"
    link.symlink_to(sibling)
    below = Path(worktree.path) / "folder"
    below.mkdir()
    known = worktree.path
    for path in ("/", "/etc", "", "a\0b", f"{known}/../sibling", *map(str, (sibling, link, below))):
        for call in (
            get_git_diff(git_project.workspace, path, "working"),
            git_pull(git_project.workspace, path, "main"),
            git_push(git_project.workspace, path),
        ):
            assert (await catch_error(call)).message == f"Worktree not found: {path}"


async def test_a_known_worktree_is_found_through_a_link_and_so_is_its_project(
    git_project: GitProject, worktree: Worktree, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(worktree.path)
    git_project.in_worktree(worktree).write("new.txt", "one\n")
    assert "+one" in await get_git_diff(git_project.workspace, str(link), "working")
    root = str(git_project.repository.root)
    assert await get_git_diff(git_project.workspace, root, "working") == ""


async def test_options_in_place_of_names_are_refused(
    git_project: GitProject, worktree: Worktree, tmp_path: Path
) -> None:
    marker = tmp_path / "executed"
    for evil in (f"--upload-pack=touch {marker}", f"--output={marker}", "-x", "a..b", "x.lock"):
        for call in (
            git_pull(git_project.workspace, worktree.path, evil),
            git_pull(git_project.workspace, worktree.path, "main", remote=evil),
            git_push(git_project.workspace, worktree.path, remote=evil),
            get_git_diff(git_project.workspace, worktree.path, "branch", base_branch=evil),
        ):
            assert (await catch_error(call)).error_type == "invalid_request"
    assert not marker.exists()


async def test_a_remote_that_is_a_command_never_runs(
    git_project: GitProject, worktree: Worktree, tmp_path: Path
) -> None:
    marker = tmp_path / "executed"
    git_project.repository.git("config", "protocol.ext.allow", "always")
    git_project.repository.git("remote", "add", "evil", f"ext::sh -c touch% {marker}")
    pulled = await git_pull(git_project.workspace, worktree.path, "main", remote="evil")
    assert not pulled.success
    assert "ext" in pulled.output
    assert not marker.exists()


async def test_a_push_and_a_pull_between_two_worktrees(
    git_project: GitProject, worktree: Worktree
) -> None:
    other = await git_project.add("heron")
    git_project.in_worktree(worktree).commit("new.txt", "one\n")
    pushed = await git_push(git_project.workspace, worktree.path)
    assert pushed.success
    assert "otter -> otter" in pushed.output
    pulled = await git_pull(git_project.workspace, other.path, "otter")
    assert pulled.success
    assert (Path(other.path) / "new.txt").read_text() == "one\n"


async def test_a_local_branch_is_pulled_from_the_repository_itself(
    git_project: GitProject, worktree: Worktree
) -> None:
    git_project.repository.commit("base.txt", "only here\n")
    pulled = await git_pull(git_project.workspace, worktree.path, "main", remote=".")
    assert pulled.success
    assert (Path(worktree.path) / "base.txt").read_text() == "only here\n"


async def test_an_update_brings_in_the_base_of_here_and_of_the_remote(
    git_project: GitProject, worktree: Worktree
) -> None:
    workspace, repository = git_project.workspace, git_project.repository
    repository.commit("landed.txt", "only here\n")
    updated = await update_from_base(workspace, worktree.id)
    assert updated.success
    assert (Path(worktree.path) / "landed.txt").exists()
    repository.git("push", "--quiet", "origin", "main")
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    repository.commit("mine.txt", "not pushed\n")
    other = await git_project.add("heron")
    repository.git("update-ref", "-d", "refs/remotes/origin/main")
    repository.git("fetch", "--quiet", "origin")
    assert (await update_from_base(workspace, other.id)).success
    assert {"landed.txt", "mine.txt"} <= {one.name for one in Path(other.path).iterdir()}
    assert (await update_from_base(workspace, other.id)).output == "Already up to date."


async def test_an_update_names_a_remote_that_is_not_there_and_brings_in_the_rest(
    git_project: GitProject, worktree: Worktree
) -> None:
    git_project.repository.git("remote", "set-url", "origin", "/nowhere")
    git_project.repository.commit("landed.txt", "only here\n")
    updated = await update_from_base(git_project.workspace, worktree.id)
    assert updated.success
    assert "The remote was not asked: " in updated.output
    assert (Path(worktree.path) / "landed.txt").exists()


async def test_nothing_is_pulled_while_a_merge_is_unfinished(
    git_project: GitProject, worktree: Worktree
) -> None:
    git_project.repository.commit("read.me", "of main\n")
    git_project.in_worktree(worktree).commit("read.me", "of otter\n")
    assert not (await update_from_base(git_project.workspace, worktree.id)).success
    for pull in (
        update_from_base(git_project.workspace, worktree.id),
        git_pull(git_project.workspace, worktree.path, "main"),
    ):
        with pytest.raises(SpinneyError, match="A merge is in progress"):
            await pull


async def test_a_failed_pull_returns_gits_message(
    git_project: GitProject, worktree: Worktree
) -> None:
    pulled = await git_pull(git_project.workspace, worktree.path, "gone")
    assert not pulled.success
    assert "couldn't find remote ref refs/heads/gone" in pulled.output


async def test_the_result_of_a_push_is_published(
    git_project: GitProject, worktree: Worktree
) -> None:
    reader = git_project.workspace.bus.reader()
    await git_push(git_project.workspace, worktree.path)
    git_project.workspace.bus.seal()
    events = [entry.event for entry in reader.take()[0] if isinstance(entry.event, TaskCompleted)]
    assert [(event.task, event.ok, event.worktree_id) for event in events] == [
        ("push", True, worktree.id)
    ]


async def test_a_commit_returns_its_id(git_project: GitProject, worktree: Worktree) -> None:
    tree = git_project.in_worktree(worktree)
    tree.write("new.txt", "one\n")
    assert await has_uncommitted_changes(git_project.workspace, worktree.id)
    done = await commit_changes(git_project.workspace, worktree.id, "Add it", stage_all=True)
    assert (done.success, done.commit_sha) == (True, tree.git("rev-parse", "HEAD"))
    assert not await has_uncommitted_changes(git_project.workspace, worktree.id)


async def test_a_commit_without_changes_is_refused(
    git_project: GitProject, worktree: Worktree
) -> None:
    error = await catch_error(commit_changes(git_project.workspace, worktree.id, "Nothing"))
    assert error.message == "No uncommitted changes to commit"


async def test_a_failing_hook_stops_the_commit_and_its_output_is_the_error(
    git_project: GitProject, worktree: Worktree
) -> None:
    hook = git_project.repository.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'line 3 is too long' >&2\nexit 1\n")
    hook.chmod(0o755)
    tree = git_project.in_worktree(worktree)
    before = tree.git("rev-parse", "HEAD")
    tree.write("new.txt", "one\n")
    error = await catch_error(
        commit_changes(git_project.workspace, worktree.id, "Add it", stage_all=True)
    )
    assert error.message == "line 3 is too long"
    assert tree.git("rev-parse", "HEAD") == before


async def test_a_lock_of_another_git_is_waited_for_then_reported_and_never_removed(
    git_project: GitProject, worktree: Worktree
) -> None:
    tree = git_project.in_worktree(worktree)
    lock = Path(tree.git("rev-parse", "--absolute-git-dir")) / "index.lock"
    lock.touch()
    tree.write("new.txt", "one\n")
    began = time.monotonic()
    error = await catch_error(
        commit_changes(git_project.workspace, worktree.id, "Add it", stage_all=True)
    )
    assert time.monotonic() - began > 1
    assert "index.lock': File exists" in error.message
    assert lock.exists()


async def test_a_lock_that_is_released_in_time_is_no_failure(
    git_project: GitProject, worktree: Worktree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_RETRY_SECONDS", PATIENCE)
    tree = git_project.in_worktree(worktree)
    lock = Path(tree.git("rev-parse", "--absolute-git-dir")) / "index.lock"
    lock.touch()
    tree.write("new.txt", "one\n")
    committing = asyncio.create_task(
        commit_changes(git_project.workspace, worktree.id, "Add it", stage_all=True)
    )
    asyncio.get_running_loop().call_later(0.3, lock.unlink)
    assert (await committing).success


async def measure_longest_pause(stop: asyncio.Event) -> float:
    """Return the longest time between two turns of the loop, in seconds of processor time.

    Elapsed time would include pauses of the whole process on a busy machine.
    """
    longest, last = 0.0, time.process_time()
    while not stop.is_set():
        await asyncio.sleep(0.001)
        now = time.process_time()
        longest, last = max(longest, now - last), now
    return longest


async def test_a_diff_of_a_hundred_thousand_lines_does_not_block_the_loop(
    git_project: GitProject, worktree: Worktree
) -> None:
    tree = git_project.in_worktree(worktree)
    tree.commit("long.txt", "".join(f"line {n}\n" for n in range(100_000)))
    tree.write("long.txt", "".join(f"line {n}\x07\n" for n in range(100_000)))
    stop = asyncio.Event()
    watching = asyncio.create_task(measure_longest_pause(stop))
    text = await get_git_diff(git_project.workspace, worktree.path, "working")
    stop.set()
    assert text.count("\n") > 200_000
    assert "\x07" not in text
    # Python's own threads share one interpreter: 5 ms each.
    assert await watching < 0.25


async def test_a_very_long_diff_is_cut_and_says_so(
    git_project: GitProject, worktree: Worktree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diff_module, "MAX_BYTES", 10_000)
    tree = git_project.in_worktree(worktree)
    tree.commit("long.txt", "".join(f"line {n}\n" for n in range(5_000)))
    text = await get_git_diff(git_project.workspace, worktree.path, "branch")
    assert len(text) < 10_200
    *lines, last = text.splitlines()
    assert last.startswith("\\ The rest is not shown")
    assert lines[-1].startswith("+line ")
