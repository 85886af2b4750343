"""Ordering, archiving, restoring and recreating worktrees; the base worktree."""

import shutil
from pathlib import Path

import pytest

from model.background.worktree_status import refresh
from model.base.errors import SpinneyError
from model.commands.sessions import create_session, send_chat_message, stop_generation
from model.commands.worktrees import (
    adopt_worktree,
    archive_worktree,
    delete_worktree,
    list_outside_worktrees,
    list_worktrees,
    open_base_worktree,
    recreate_worktree,
    rename_worktree,
    reorder_worktrees,
    unarchive_worktree,
)
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests import fakes
from tests.fakes import FakeBackend
from tests.model.git.repository import Repository
from tests.model.worktrees.conftest import Maker


async def test_worktrees_are_reordered_and_new_ones_come_last(
    make: Maker, workspace: Workspace
) -> None:
    made = [await make(name) for name in ("one", "two", "three")]
    one, two, three = (worktree.id for worktree in made)
    await reorder_worktrees(workspace, make.project.id, [three, one])
    last = (await make("four")).id
    listed = await list_worktrees(workspace, make.project.id)
    assert [worktree.id for worktree in listed] == [three, one, two, last]
    assert listed[0].order < listed[1].order
    with pytest.raises(SpinneyError, match="Worktree not found: nowhere"):
        await reorder_worktrees(workspace, make.project.id, ["nowhere"])


async def test_every_new_worktree_comes_last_with_an_order_of_its_own(
    make: Maker, workspace: Workspace, repository: Repository, tmp_path: Path
) -> None:
    made = [await make("one"), await make("two")]
    repository.git("worktree", "add", "-b", "theirs", str(tmp_path / "by-hand"))
    outside = (await list_outside_worktrees(workspace, make.project.id))[0]
    made.append(await adopt_worktree(workspace, make.project.id, outside.path))
    made.append(await open_base_worktree(workspace, make.project.id))
    listed = await list_worktrees(workspace, make.project.id)
    assert [worktree.id for worktree in listed] == [worktree.id for worktree in made]
    assert [worktree.order for worktree in listed] == [0, 1, 2, 3]


@pytest.mark.parametrize("archive", [archive_worktree, delete_worktree])
async def test_archiving_and_deleting_keep_every_file(
    archive: type[archive_worktree], make: Maker, workspace: Workspace
) -> None:
    made = await make("one")
    (Path(made.path) / "unsaved").write_text("precious")
    await archive(workspace, made.id)
    assert await list_worktrees(workspace, make.project.id) == []
    back = await unarchive_worktree(workspace, made.id)
    assert back.archived_at is None
    assert (Path(made.path) / "unsaved").read_text() == "precious"


async def test_no_worktree_is_archived_while_one_of_its_sessions_runs(
    make: Maker, workspace: Workspace, backend: FakeBackend
) -> None:
    made = await make("one")
    idle = await create_session(workspace, made.id)
    backend.script = fakes.silence
    busy = await create_session(workspace, made.id, name="Busy")
    await send_chat_message(workspace, busy.id, "work")
    assert idle.status == "idle"
    for refused in (archive_worktree, delete_worktree):
        with pytest.raises(SpinneyError, match="'Busy' is still running in 'one'"):
            await refused(workspace, made.id)
    await stop_generation(workspace, busy.id)


async def test_a_directory_removed_by_hand_is_missing_and_can_be_recreated(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    repository.commit("kept", "text\n", cwd=Path(made.path))
    shutil.rmtree(made.path)
    await refresh(workspace.store, made.id)
    assert _current(workspace, made).status == "missing"
    again = await recreate_worktree(workspace, made.id)
    assert again.status == "ready"
    assert (Path(made.path) / "kept").read_text() == "text\n"


async def test_recreating_a_worktree_whose_branch_is_deleted_creates_the_branch(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    made = await make("one")
    shutil.rmtree(made.path)
    repository.git("worktree", "prune")
    repository.git("branch", "-D", "one")
    await recreate_worktree(workspace, made.id)
    assert repository.git("branch", "--show-current", cwd=Path(made.path)) == "one"


async def test_the_error_for_a_branch_checked_out_elsewhere_names_the_path(
    make: Maker, workspace: Workspace, repository: Repository, tmp_path: Path
) -> None:
    made = await make("one")
    shutil.rmtree(made.path)
    repository.git("worktree", "prune")
    repository.git("worktree", "add", "--quiet", str(tmp_path / "holder"), "one")
    with pytest.raises(SpinneyError, match=r"Failed to create worktree: .*holder"):
        await recreate_worktree(workspace, made.id)


async def test_a_project_has_one_base_worktree(
    make: Maker, workspace: Workspace, repository: Repository
) -> None:
    base = await open_base_worktree(workspace, make.project.id)
    assert (base.session_type, base.path, base.branch) == ("base", str(repository.root), "main")
    assert (await open_base_worktree(workspace, make.project.id)).id == base.id
    await archive_worktree(workspace, base.id)
    again = await open_base_worktree(workspace, make.project.id)
    assert (again.id, again.archived_at) == (base.id, None)
    renamed = await rename_worktree(workspace, base.id, "home")
    assert (renamed.name, renamed.branch) == ("home", "main")


def _current(workspace: Workspace, worktree: Worktree) -> Worktree:
    return workspace.store.state.worktrees[worktree.id]
