"""The commands for a worktree's changes, from listing files to undoing a discard."""

from pathlib import Path

import pytest

from model.backends import agent_events
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
from model.domain.worktrees import Worktree
from tests.fakes import DONE, FakeBackend
from tests.model.git.git_project import GitProject


@pytest.fixture
async def worktree(git_project: GitProject) -> Worktree:
    return await git_project.add("otter")


async def test_a_hunk_is_staged_unstaged_discarded_and_restored(
    git_project: GitProject, worktree: Worktree
) -> None:
    tree = git_project.in_worktree(worktree)
    tree.write("read.me", "one\nTWO\nthree\n")
    listed = await list_changed_files(git_project.workspace, worktree.id)
    assert (listed.base, listed.operation) == ("main", None)
    file = listed.files[0]
    assert (file.path, file.status, file.added, file.removed) == ("read.me", "modified", 1, 1)
    shown = await get_file_diff(git_project.workspace, worktree.id, "read.me")
    assert shown.text.endswith("@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n")
    hunk = shown.hunks[0]
    await stage_changes(git_project.workspace, worktree.id, "read.me", hunk)
    assert "+TWO" in tree.git("diff", "--cached")
    await unstage_changes(git_project.workspace, worktree.id)
    done = await discard_changes(git_project.workspace, worktree.id, "read.me", hunk, shown.digest)
    assert tree.git("status", "--porcelain") == ""
    restored = await undo_discard(git_project.workspace, worktree.id, done.id)
    assert restored.path == "read.me"
    assert (tree.root / "read.me").read_text() == "one\nTWO\nthree\n"


async def test_the_branch_is_compared_with_its_merge_base(
    git_project: GitProject, worktree: Worktree
) -> None:
    git_project.in_worktree(worktree).commit("mine", "1\n")
    git_project.repository.commit("theirs", "1\n")
    listed = await list_changed_files(git_project.workspace, worktree.id, "branch")
    assert [file.path for file in listed.files] == ["mine"]
    shown = await get_file_diff(git_project.workspace, worktree.id, "mine", "branch")
    assert shown.text.endswith("@@ -0,0 +1 @@\n+1\n")


async def test_a_pull_with_a_conflict_is_reported_and_can_be_aborted(
    git_project: GitProject, worktree: Worktree
) -> None:
    tree = git_project.in_worktree(worktree)
    tree.commit("read.me", "mine\n")
    git_project.repository.commit("read.me", "theirs\n")
    git_project.repository.git("push", "--quiet", "origin", "main")
    pulled = await git_pull(git_project.workspace, worktree.path, "main")
    assert not pulled.success
    listed = await list_changed_files(git_project.workspace, worktree.id)
    assert (listed.operation, listed.files[0].status) == ("merge", "conflicted")
    assert await abort_merge(git_project.workspace, worktree.id) == "merge"
    assert (tree.root / "read.me").read_text() == "mine\n"


async def test_discarded_changes_are_removed_with_the_worktree(
    git_project: GitProject, worktree: Worktree
) -> None:
    git_project.in_worktree(worktree).write("new", "1\n")
    await discard_changes(git_project.workspace, worktree.id, "new")
    kept = git_project.workspace.directories.discarded / worktree.id
    assert [*kept.iterdir()]
    await remove_worktree(git_project.workspace, worktree.id, force=True, for_good=True)
    assert not kept.exists()


@pytest.mark.parametrize("damage", ["", "[7]", "{}", '{"id": 7, "what": 1}'])
async def test_the_error_for_a_damaged_discard_record_names_the_content(
    git_project: GitProject, worktree: Worktree, damage: str
) -> None:
    git_project.in_worktree(worktree).write("new", "1\n")
    done = await discard_changes(git_project.workspace, worktree.id, "new")
    kept = git_project.workspace.directories.discarded / worktree.id / done.id
    (kept / "record.json").write_text(damage)
    with pytest.raises(SpinneyError, match="its record is damaged") as raised:
        await undo_discard(git_project.workspace, worktree.id)
    assert (kept / "content").read_text() == "1\n" and str(kept / "content") in raised.value.message


async def test_an_agent_writes_the_message_from_the_changes_to_commit(
    git_project: GitProject, worktree: Worktree, backend: FakeBackend
) -> None:
    backend.script = lambda _: (
        agent_events.TextDelta("b", "<message>Add a\n\nWhy.</message>"),
        DONE,
    )
    git_project.in_worktree(worktree).write("new", "woven\n")
    written = await write_commit_message(git_project.workspace, worktree.id, stage_all=True)
    assert written.message == "Add a\n\nWhy."
    await git_project.workspace.writer.close()
    (agent,) = backend.agents.values()
    ((_, prompt), _) = agent.calls
    assert "+woven" in str(prompt)
    assert "<earlier_subjects>\nChange read.me\n</earlier_subjects>" in str(prompt)


async def test_writing_a_message_requires_staged_changes(
    git_project: GitProject, worktree: Worktree
) -> None:
    git_project.in_worktree(worktree).write("new", "1\n")
    with pytest.raises(SpinneyError, match=r"There is nothing staged\. Stage changes first"):
        await write_commit_message(git_project.workspace, worktree.id)
    assert Path(worktree.path, "new").exists()
