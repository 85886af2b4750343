"""Recovery points: what is deleted or changed comes back, or is not deleted."""

import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from model.base.errors import SpinneyError
from model.commands.changes import abort_merge, discard_changes
from model.commands.git import git_pull
from model.commands.preferences import update_preferences
from model.commands.recovery import (
    delete_recovery_point,
    list_recovery_files,
    list_recovery_points,
    restore_files,
    restore_worktree,
)
from model.commands.sessions import create_session, get_messages, send_chat_message
from model.commands.stashes import drop_stash, restore_stash, stash_changes
from model.commands.worktrees import recreate_worktree, remove_worktree
from model.domain.events.worktrees import RecoveryCreated, RecoveryRestored, WorktreeCreated
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.git.snapshots import chain, files
from model.git.snapshots.chain import SnapshotNote
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.model.git.repository import Repository
from tests.model.git.snapshots.worktree_facts import read_facts
from tests.model.worktrees.conftest import Maker


def stop_in_merge(repository: Repository, tree: Path) -> None:
    """Leave a conflict, staged and unstaged changes, and commits that no other branch has."""
    repository.commit("shared", "base\n", tree)
    repository.git("checkout", "--quiet", "-b", "theirs", cwd=tree)
    repository.commit("shared", "theirs\n", tree)
    repository.git("checkout", "--quiet", "one", cwd=tree)
    repository.commit("shared", "ours\n", tree)
    subprocess.run(["git", "merge", "theirs"], cwd=tree, capture_output=True, timeout=60)
    repository.git("branch", "--quiet", "-D", "theirs")
    repository.write("new", "untracked\n", tree)
    (tree / "new").chmod(0o600)


def collect_garbage(repository: Repository) -> None:
    repository.git("worktree", "prune")
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "--quiet", "--prune=now")


async def test_a_worktree_deleted_by_force_comes_back_with_its_conversations(
    make: Maker, workspace: Workspace, repository: Repository, eventually: Eventually
) -> None:
    made = await make("one")
    tree = Path(made.path)
    session = await create_session(workspace, made.id, name="Talk")
    await send_chat_message(workspace, session.id, "hello there")
    await eventually(lambda: not workspace.store.state.sessions[session.id].is_active)
    said = (await get_messages(workspace, session.id)).messages
    stop_in_merge(repository, tree)
    before = read_facts(tree)
    reader = workspace.bus.reader()

    await remove_worktree(workspace, made.id, force=True)
    assert not tree.exists()
    assert repository.git("branch", "--list", "one") == ""
    collect_garbage(repository)
    [point] = await list_recovery_points(workspace, made.project_id)
    assert (point.kind, point.name, point.branch, point.sessions) == ("delete", "one", "one", 1)
    assert (point.worktree_id, point.project_id) == (made.id, made.project_id)
    assert point.files == 2
    assert point.size_bytes > 10
    back = await restore_worktree(workspace, point.recovery_id)

    assert read_facts(tree) == before
    assert (back.id, back.path, back.branch, back.status) == (made.id, made.path, "one", "ready")
    assert workspace.store.state.sessions[session.id].name == "Talk"
    assert (await get_messages(workspace, session.id)).messages == said
    assert "error" not in repository.git("fsck", "--no-dangling")
    kinds = [type(entry.event) for entry in reader.take()[0]]
    for kind in (RecoveryCreated, WorktreeCreated, RecoveryRestored):
        assert kinds.count(kind) == 1


async def test_a_second_restoration_gets_names_of_its_own(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    repository.write("new", "text\n", Path(made.path))
    await remove_worktree(workspace, made.id, force=True)
    [point] = await list_recovery_points(workspace)
    await restore_worktree(workspace, point.recovery_id)
    second = await restore_worktree(workspace, point.recovery_id)
    assert (second.name, second.branch) == ("one-2", "one-2")
    assert second.id != made.id
    third = await restore_worktree(workspace, point.recovery_id, name="other")
    assert third.name == "other"
    assert all((Path(each.path) / "new").exists() for each in (second, third))


async def test_a_restored_worktree_is_kept_again_when_it_is_deleted_again(
    make: Maker, workspace: Workspace, eventually: Eventually
) -> None:
    made = await make("one")
    await remove_worktree(workspace, made.id, force=True)
    [point] = await list_recovery_points(workspace)
    back = await restore_worktree(workspace, point.recovery_id)
    session = await create_session(workspace, back.id)
    await send_chat_message(workspace, session.id, "words of the second life")
    await eventually(lambda: not workspace.store.state.sessions[session.id].is_active)
    await remove_worktree(workspace, back.id)
    newest, _ = await list_recovery_points(workspace)
    await restore_worktree(workspace, newest.recovery_id)
    assert (await get_messages(workspace, session.id)).total == 2


async def test_ignored_files_are_kept_if_the_preference_says_so(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    await update_preferences(workspace, {"recovery_include_ignored": True})
    made = await make("one")
    tree = Path(made.path)
    repository.commit(".gitignore", ".env\n", tree)
    repository.write(".env", "KEY=1\n", tree)
    (tree / ".env").chmod(0o600)
    before = read_facts(tree)
    await remove_worktree(workspace, made.id, force=True)
    [point] = await list_recovery_points(workspace)
    assert [file.path for file in await list_recovery_files(workspace, point.recovery_id)] == [
        ".env"
    ]
    await restore_worktree(workspace, point.recovery_id)
    assert read_facts(tree) == before


async def test_commits_of_a_detached_worktrees_branch_come_back(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    tip = repository.commit("file", "text\n", Path(made.path))
    repository.git("checkout", "--quiet", "--detach", "main", cwd=Path(made.path))
    await remove_worktree(workspace, made.id, force=True)
    collect_garbage(repository)
    [point] = await list_recovery_points(workspace)
    await restore_worktree(workspace, point.recovery_id)
    assert repository.git("rev-parse", "one") == tip


async def test_a_worktree_whose_folder_is_gone_comes_back_from_its_branch(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    repository.commit("file", "text\n", Path(made.path))
    subprocess.run(["rm", "-r", made.path], check=True)
    await remove_worktree(workspace, made.id, force=True)
    collect_garbage(repository)
    [point] = await list_recovery_points(workspace)
    back = await restore_worktree(workspace, point.recovery_id)
    assert (Path(back.path) / "file").read_text() == "text\n"


async def test_the_last_snapshot_of_a_folder_deleted_by_hand_is_kept_when_it_is_recreated(
    make: Maker, workspace: Workspace, repository: Repository, eventually: Eventually
) -> None:
    made = await make("one")
    repository.write("new", "text\n", Path(made.path))
    note = SnapshotNote("turn end", worktree_id=made.id)
    await chain.take_snapshot(Path(made.path), note)
    subprocess.run(["rm", "-r", made.path], check=True)
    workspace.poller.refresh(made.id)
    await eventually(lambda: workspace.store.state.worktrees[made.id].status == "missing")
    await recreate_worktree(workspace, made.id)
    [point] = await list_recovery_points(workspace)
    assert (point.kind, point.files) == ("recreate", 1)
    await restore_files(workspace, point.recovery_id, ["new"])
    assert (Path(made.path) / "new").read_text() == "text\n"


@pytest.mark.parametrize(
    ("step", "first"), [("unpack-objects", 1), ("unpack-objects", 2), ("update-ref", 1)]
)
async def test_nothing_is_deleted_or_discarded_if_the_disk_is_full(
    step: str,
    first: int,
    make: Maker,
    workspace: Workspace,
    repository: Repository,
    fake_git: Callable[[str], None],
    tmp_path: Path,
) -> None:
    """From the first snapshot on, or from the recovery point that is made of it."""
    made = await make("one")
    tree = Path(made.path)
    repository.write("read.me", "changed\n", tree)
    before = read_facts(tree)
    steps = tmp_path / "steps"
    fake_git(
        f'case " $* " in *" {step} "*) echo >> {steps}; [ $(wc -l < {steps}) -lt {first} ] ||\n'
        '{ echo "fatal: No space left on device" >&2; exit 128; };; esac\n'
        'exec "$real_git" "$@"'
    )
    with pytest.raises(SpinneyError, match=r"'one' was not deleted.*No space left on device"):
        await remove_worktree(workspace, made.id, force=True)
    with pytest.raises(SpinneyError, match=r"Nothing was changed.*No space left on device"):
        await discard_changes(workspace, made.id, "read.me")
    assert read_facts(tree) == before
    assert workspace.store.state.worktrees[made.id].status == "ready"
    assert await list_recovery_points(workspace) == []


async def test_a_refused_removal_leaves_no_recovery_point(
    make: Maker, workspace: Workspace, repository: Repository, fake_git: Callable[[str], None]
) -> None:
    made = await make("one")
    repository.write("new", "text\n", Path(made.path))
    fake_git('case "$*" in *"worktree remove"*) exit 1;; esac\nexec "$real_git" "$@"')
    with pytest.raises(SpinneyError, match="was not removed"):
        await remove_worktree(workspace, made.id, force=True)
    assert await list_recovery_points(workspace) == []


async def test_changes_that_may_be_lost_are_kept_once(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    tree = Path(made.path)
    stop_in_merge(repository, tree)
    conflict = (tree / "shared").read_text()
    await abort_merge(workspace, made.id)
    repository.write("read.me", "changed\n", tree)
    await discard_changes(workspace, made.id, "read.me")
    points = await list_recovery_points(workspace)
    assert [point.kind for point in points] == ["discard", "abort"]
    assert points[0].reason == "Discarded read.me"

    await restore_files(workspace, points[0].recovery_id, ["read.me"])
    assert (tree / "read.me").read_text() == "changed\n"
    await restore_files(workspace, points[1].recovery_id, ["shared"])
    assert (tree / "shared").read_text() == conflict
    kinds = [point.kind for point in await list_recovery_points(workspace)]
    assert kinds == ["restore", "restore", "discard", "abort"]


async def test_files_that_are_saved_while_they_are_restored_stay(
    make: Maker, workspace: Workspace, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ignored file as well, and what was there before is in a point of its own."""
    made = await make("one")
    tree = Path(made.path)
    names = ("read.me", "new", ".env")
    for name in names:
        repository.write(name, "kept\n", tree)
    repository.write(".gitignore", ".env\n", tree)
    await workspace.recovery_points.save(made.id, "discard", "Kept", [".env"])
    [point] = await list_recovery_points(workspace)
    for name in names:
        repository.write(name, "of now\n", tree)
    write_file, saved = files.write_file, list[str]()

    def save_and_write(*args: Any) -> None:
        if not saved:
            saved.extend(("read.me", ".env"))
            for name in saved:
                repository.write(name, "saved\n", tree)
        write_file(*args)

    with monkeypatch.context() as patched:
        patched.setattr(files, "write_file", save_and_write)
        with pytest.raises(SpinneyError, match=r"2 files were saved meanwhile .*Everything else"):
            await restore_files(workspace, point.recovery_id, list(names))
    assert [(tree / name).read_text() for name in names] == ["saved\n", "kept\n", "saved\n"]

    await restore_files(workspace, point.recovery_id, list(names))
    assert [(tree / name).read_text() for name in names] == ["kept\n"] * 3
    newest, first, _ = await list_recovery_points(workspace)
    await restore_files(workspace, newest.recovery_id, list(names))
    assert [(tree / name).read_text() for name in names] == ["saved\n", "kept\n", "saved\n"]
    await restore_files(workspace, first.recovery_id, list(names))
    assert [(tree / name).read_text() for name in names] == ["of now\n"] * 3


async def test_a_worktree_without_changes_gets_no_point_when_it_is_pulled_into(
    make: Maker, workspace: Workspace
) -> None:
    made = await make("one")
    await workspace.recovery_points.save(made.id, "pull", "Pulled origin/main")
    (Path(made.path) / "new").write_text("text\n")
    for _ in range(3):
        await workspace.recovery_points.save(made.id, "pull", "Pulled origin/main")
    assert len(await list_recovery_points(workspace)) == 1


async def test_a_pull_into_a_projects_own_folder_keeps_its_changes(
    workspace: Workspace, added: Project, repository: Repository
) -> None:
    repository.write("new", "text\n")
    with suppress(SpinneyError):  # There is no such remote.
        await git_pull(workspace, added.path, "main")
    [point] = await list_recovery_points(workspace, added.id)
    assert (point.kind, point.name, point.files) == ("pull", added.name, 1)
    back = await restore_worktree(workspace, point.recovery_id)
    assert (Path(back.path) / "new").read_text() == "text\n"


async def test_a_dropped_stash_survives_garbage_collection(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    repository.write("read.me", "changed\n", Path(made.path))
    repository.write("new", "untracked\n", Path(made.path))
    stashed = await stash_changes(workspace, made.id, "later")
    await drop_stash(workspace, made.id, stashed.id)
    collect_garbage(repository)
    [point] = await list_recovery_points(workspace)
    assert (point.kind, point.files) == ("stash", 2)
    await restore_files(workspace, point.recovery_id, ["new"])
    assert (Path(made.path) / "new").read_text() == "untracked\n"
    await restore_stash(workspace, made.id, stashed.id)


async def test_files_come_back_under_any_name_and_errors_say_what_to_do(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    tree = Path(made.path)
    (tree / "new\nline ü").write_text("odd\n")
    await workspace.recovery_points.save(made.id, "request", "By hand")
    [point] = await list_recovery_points(workspace)
    [file] = await list_recovery_files(workspace, point.recovery_id)
    assert file.status == "added"
    (tree / "new\nline ü").unlink()
    await restore_files(workspace, point.recovery_id, [file.path])
    assert (tree / "new\nline ü").read_text() == "odd\n"

    with pytest.raises(SpinneyError, match="has no file 'nothing'"):
        await restore_files(workspace, point.recovery_id, ["nothing"])
    await remove_worktree(workspace, made.id, force=True)
    with pytest.raises(SpinneyError, match="Restore the worktree instead"):
        await restore_files(workspace, point.recovery_id, [file.path])
    await delete_recovery_point(workspace, point.recovery_id)
    with pytest.raises(SpinneyError, match="Recovery point not found"):
        await delete_recovery_point(workspace, point.recovery_id)


async def test_points_are_listed_in_pages_from_the_newest_on(
    make: Maker, workspace: Workspace
) -> None:
    for name in ("one", "two", "three"):
        await remove_worktree(workspace, (await make(name)).id, force=True)

    async def read(limit: int | None, offset: int) -> list[str]:
        points = await list_recovery_points(workspace, limit=limit, offset=offset)
        return [point.name for point in points]

    assert await read(2, 0) == ["three", "two"]
    assert await read(2, 2) == ["one"]
    assert await read(2, 3) == []
    assert await read(None, 1) == ["two", "one"]


async def test_foreign_refs_are_not_taken_for_points(
    make: Maker, workspace: Workspace, repository: Repository, added: Worktree
) -> None:
    head = repository.git("rev-parse", "HEAD")
    repository.git("update-ref", "refs/spinney/recovery/x", head)
    forged = "Snapshot: delete\n\nreason: delete\ncreated_at: 1\ncommit: --output=/tmp/x\n"
    commit = repository.git("commit-tree", "-m", forged, f"{head}^{{tree}}")
    repository.git("update-ref", "refs/spinney/recovery/y", commit)
    assert "y" not in [each.recovery_id for each in await list_recovery_points(workspace)]
