"""What clients see and do of a worktree's changes, from the list to the undo of a discard."""

from pathlib import Path

import pytest

from model.backends import base
from model.base.errors import SpinneyError
from model.commands.changes import (
    abort_merge,
    discard_changes,
    get_file_diff,
    list_changed_files,
    stage_changes,
    undo_discard,
    unstage_changes,
    write_commit_message,
)
from model.commands.git import git_pull
from model.commands.worktrees import remove_worktree
from model.domain.resources import Worktree
from model.runtime.workspace import Workspace
from tests.fakes import DONE, FakeBackend
from tests.model.git.made_repository import Repository
from tests.model.git.place import Place, place_of


@pytest.fixture
async def place(workspace: Workspace, with_remote: Repository) -> Place:
    return await place_of(workspace, with_remote)


@pytest.fixture
async def worktree(place: Place) -> Worktree:
    return await place.add("otter")


async def test_from_the_list_to_the_hunk_and_back(place: Place, worktree: Worktree) -> None:
    tree = place.in_worktree(worktree)
    tree.write("read.me", "one\nTWO\nthree\n")
    listed = await list_changed_files(place.workspace, worktree.id)
    assert (listed.base, listed.operation) == ("main", None)
    file = listed.files[0]
    assert (file.path, file.status, file.added, file.removed) == ("read.me", "modified", 1, 1)
    shown = await get_file_diff(place.workspace, worktree.id, "read.me")
    assert shown.text.endswith("@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n")
    hunk = shown.hunks[0]
    await stage_changes(place.workspace, worktree.id, "read.me", hunk)
    assert "+TWO" in tree.git("diff", "--cached")
    await unstage_changes(place.workspace, worktree.id)
    done = await discard_changes(place.workspace, worktree.id, "read.me", hunk, shown.digest)
    assert tree.git("status", "--porcelain") == ""
    back = await undo_discard(place.workspace, worktree.id, done.id)
    assert back.path == "read.me"
    assert (tree.root / "read.me").read_text() == "one\nTWO\nthree\n"


async def test_the_branch_is_compared_with_the_commit_where_it_left(
    place: Place, worktree: Worktree
) -> None:
    place.in_worktree(worktree).commit("mine", "1\n")
    place.repository.commit("theirs", "1\n")
    listed = await list_changed_files(place.workspace, worktree.id, "branch")
    assert [file.path for file in listed.files] == ["mine"]
    shown = await get_file_diff(place.workspace, worktree.id, "mine", "branch")
    assert shown.text.endswith("@@ -0,0 +1 @@\n+1\n")


async def test_a_pull_with_a_conflict_is_told_and_given_up(
    place: Place, worktree: Worktree
) -> None:
    tree = place.in_worktree(worktree)
    tree.commit("read.me", "mine\n")
    place.repository.commit("read.me", "theirs\n")
    place.repository.git("push", "--quiet", "origin", "main")
    pulled = await git_pull(place.workspace, worktree.path, "main")
    assert not pulled.success
    listed = await list_changed_files(place.workspace, worktree.id)
    assert (listed.operation, listed.files[0].status) == ("merge", "conflicted")
    assert await abort_merge(place.workspace, worktree.id) == "merge"
    assert (tree.root / "read.me").read_text() == "mine\n"


async def test_what_a_worktree_discarded_goes_with_it(place: Place, worktree: Worktree) -> None:
    place.in_worktree(worktree).write("new", "1\n")
    await discard_changes(place.workspace, worktree.id, "new")
    kept = place.workspace.directories.discarded / worktree.id
    assert [*kept.iterdir()]
    await remove_worktree(place.workspace, worktree.id, force=True, for_good=True)
    assert not kept.exists()


@pytest.mark.parametrize("damage", ["", "[7]", "{}", '{"id": 7, "what": 1}'])
async def test_a_damaged_note_of_a_discard_says_where_the_content_lies(
    place: Place, worktree: Worktree, damage: str
) -> None:
    place.in_worktree(worktree).write("new", "1\n")
    done = await discard_changes(place.workspace, worktree.id, "new")
    kept = place.workspace.directories.discarded / worktree.id / done.id
    (kept / "record.json").write_text(damage)
    with pytest.raises(SpinneyError, match="its record is damaged") as told:
        await undo_discard(place.workspace, worktree.id)
    assert (kept / "content").read_text() == "1\n" and str(kept / "content") in told.value.message


async def test_an_agent_writes_the_message_from_what_will_be_committed(
    place: Place, worktree: Worktree, backend: FakeBackend
) -> None:
    backend.script = lambda _: (base.TextDelta("b", "<message>Add a\n\nWhy.</message>"), DONE)
    place.in_worktree(worktree).write("new", "woven\n")
    written = await write_commit_message(place.workspace, worktree.id, stage_all=True)
    assert written.message == "Add a\n\nWhy."
    await place.workspace.writer.close()
    (agent,) = backend.agents.values()
    ((_, prompt), _) = agent.calls
    assert "+woven" in str(prompt)
    assert "<earlier_subjects>\nChange read.me\n</earlier_subjects>" in str(prompt)


async def test_a_message_is_asked_for_only_where_there_is_something_to_commit(
    place: Place, worktree: Worktree
) -> None:
    place.in_worktree(worktree).write("new", "1\n")
    with pytest.raises(SpinneyError, match=r"There is nothing staged\. Stage changes first"):
        await write_commit_message(place.workspace, worktree.id)
    assert Path(worktree.path, "new").exists()
