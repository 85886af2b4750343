"""Verdicts about hunks, files viewed, and how much is decided."""

from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.changes import get_file_diff, stage_changes, unstage_changes
from model.commands.code_reviews import (
    decide_hunk,
    get_review,
    mark_viewed,
    send_verdicts,
    undo_verdict,
)
from model.commands.worktrees import remove_worktree
from model.domain.changes import Side
from model.domain.code_reviews import HunkVerdict, Verdict
from model.domain.worktrees import Worktree
from model.reviewing import verdicts
from tests.model.git.git_project import GitProject
from tests.model.reviewing.conftest import change


async def decide(
    git_project: GitProject,
    worktree: Worktree,
    index: int,
    verdict: Verdict = "accepted",
    side: Side = "unstaged",
    path: str = "loom.txt",
) -> HunkVerdict:
    """Decide about a hunk of a file as it is now."""
    shown = await get_file_diff(git_project.workspace, worktree.id, path, side)
    return await decide_hunk(
        git_project.workspace, worktree.id, path, shown.hunks[index], verdict,
        "Not so." if verdict == "rejected" else "", shown.digest, side,
    )  # fmt: skip


async def count(git_project: GitProject, worktree: Worktree) -> tuple[int, int, int]:
    """Accepted and rejected hunks, and all."""
    progress = await git_project.workspace.verdicts.read_progress(worktree.id)
    return progress.accepted, progress.rejected, progress.hunks


async def list_viewed(git_project: GitProject, worktree: Worktree) -> list[tuple[str, str]]:
    state = await get_review(git_project.workspace, worktree.id)
    return [(file.path, file.side) for file in state.viewed]


def read(worktree: Worktree, name: str = "loom.txt") -> str:
    return (Path(worktree.path) / name).read_text()


async def test_an_accepted_hunk_is_staged_and_taken_back_exactly(
    git_project: GitProject, worktree: Worktree
) -> None:
    tree = git_project.in_worktree(worktree)
    before = tree.git("ls-files", "--stage")
    await decide(git_project, worktree, 1)
    assert "+changed 20" in tree.git("diff", "--cached")
    assert "changed 2\n" not in tree.git("diff", "--cached")
    undone = await undo_verdict(git_project.workspace, worktree.id)
    assert (undone.verdict, undone.path) == ("accepted", "loom.txt")
    assert tree.git("ls-files", "--stage") == before
    assert read(worktree) == change(2, 20, 38)


async def test_a_rejected_hunk_is_reverted_kept_and_comes_back_byte_for_byte(
    git_project: GitProject, worktree: Worktree
) -> None:
    done = await decide(git_project, worktree, 0, "rejected")
    assert read(worktree) == change(20, 38)
    assert "+changed 2\n" in done.text and done.reason == "Not so."
    await undo_verdict(git_project.workspace, worktree.id, done.id)
    assert read(worktree) == change(2, 20, 38)


async def test_a_rejected_hunk_comes_back_into_a_file_that_changed_since(
    git_project: GitProject, worktree: Worktree
) -> None:
    done = await decide(git_project, worktree, 0, "rejected")
    git_project.in_worktree(worktree).write("loom.txt", change(30))
    await undo_verdict(git_project.workspace, worktree.id, done.id)
    assert read(worktree) == change(2, 30)


async def test_an_older_verdict_is_taken_back_and_later_ones_stay(
    git_project: GitProject, worktree: Worktree
) -> None:
    first = await decide(git_project, worktree, 0)
    await decide(git_project, worktree, 0)
    await undo_verdict(git_project.workspace, worktree.id, first.id)
    staged = git_project.in_worktree(worktree).git("diff", "--cached")
    assert "+changed 20" in staged and "+changed 2\n" not in staged
    state = await get_review(git_project.workspace, worktree.id)
    assert [one.id for one in state.verdicts] != [first.id] and len(state.verdicts) == 1


@pytest.mark.parametrize("verdict", ["accepted", "rejected"])
async def test_a_new_file_is_one_hunk(
    git_project: GitProject, worktree: Worktree, verdict: Verdict
) -> None:
    tree = git_project.in_worktree(worktree)
    tree.write("new\tname", "woven\n")
    before = tree.git("status", "--porcelain")
    await decide(git_project, worktree, 0, verdict, path="new␉name")
    assert tree.git("status", "--porcelain") != before
    await undo_verdict(git_project.workspace, worktree.id)
    assert tree.git("status", "--porcelain") == before
    assert read(worktree, "new\tname") == "woven\n"


async def test_progress_follows_what_is_decided_staged_and_committed(
    git_project: GitProject, worktree: Worktree
) -> None:
    tree = git_project.in_worktree(worktree)
    assert await count(git_project, worktree) == (0, 0, 3)
    await decide(git_project, worktree, 0)
    await decide(git_project, worktree, 0, "rejected")
    assert await count(git_project, worktree) == (1, 1, 3)
    tree.git("commit", "--quiet", "-m", "Change a line")
    assert await count(git_project, worktree) == (1, 1, 3)
    await stage_changes(git_project.workspace, worktree.id)  # by other means
    assert await count(git_project, worktree) == (2, 1, 3)
    await unstage_changes(git_project.workspace, worktree.id)
    assert await count(git_project, worktree) == (1, 1, 3)
    tree.write("loom.txt", change(2, 10, 30, 38))  # an agent goes on
    assert await count(git_project, worktree) == (1, 1, 5)
    tree.git("commit", "--quiet", "--all", "-m", "Change lines that nobody has seen")
    assert await count(git_project, worktree) == (1, 1, 5)


async def test_hunks_of_commits_are_accepted_or_reverted(
    git_project: GitProject, worktree: Worktree
) -> None:
    tree = git_project.in_worktree(worktree)
    tree.write("new", "woven\n")
    tree.git("add", "new")
    tree.git("commit", "--quiet", "--all", "-m", "Change three lines, add a file")
    assert await count(git_project, worktree) == (0, 0, 4)
    await decide(git_project, worktree, 0, side="branch")
    await decide(git_project, worktree, 1, "rejected", side="branch")
    await decide(git_project, worktree, 0, "rejected", side="branch", path="new")
    assert read(worktree) == change(2, 38) and not (Path(worktree.path) / "new").exists()
    assert await count(git_project, worktree) == (1, 2, 4)
    await undo_verdict(git_project.workspace, worktree.id)
    await undo_verdict(git_project.workspace, worktree.id)
    assert tree.git("status", "--porcelain") == ""
    assert await count(git_project, worktree) == (1, 0, 4)


async def test_an_accepted_hunk_that_was_committed_is_not_taken_back(
    git_project: GitProject, worktree: Worktree
) -> None:
    await decide(git_project, worktree, 0)
    tree = git_project.in_worktree(worktree)
    tree.git("commit", "--quiet", "-m", "Change a line")
    tree.write("loom.txt", change(2, 3))
    tree.git("add", "loom.txt")
    with pytest.raises(SpinneyError, match="no longer staged as it was"):
        await undo_verdict(git_project.workspace, worktree.id)
    assert len((await get_review(git_project.workspace, worktree.id)).verdicts) == 1


async def test_a_viewed_file_is_one_until_it_has_other_changes(
    git_project: GitProject, worktree: Worktree
) -> None:
    tree = git_project.in_worktree(worktree)
    await mark_viewed(git_project.workspace, worktree.id, "loom.txt", "unstaged")
    assert await list_viewed(git_project, worktree) == [("loom.txt", "unstaged")]
    await decide(git_project, worktree, 0)
    assert await list_viewed(git_project, worktree) == [
        ("loom.txt", "unstaged"),
        ("loom.txt", "staged"),
    ]
    tree.git("commit", "--quiet", "--all", "-m", "Change three lines")
    assert await list_viewed(git_project, worktree) == [("loom.txt", "branch")]
    assert (await git_project.workspace.verdicts.read_progress(worktree.id)).viewed == 1
    tree.write("loom.txt", change(2, 20, 30, 38))
    assert await list_viewed(git_project, worktree) == [("loom.txt", "branch")]
    progress = await git_project.workspace.verdicts.read_progress(worktree.id)
    assert (progress.files, progress.viewed) == (1, 0)
    await mark_viewed(git_project.workspace, worktree.id, "loom.txt", "branch", viewed=False)
    assert await list_viewed(git_project, worktree) == []


async def test_rejections_are_sent_once_as_one_message(
    git_project: GitProject, worktree: Worktree
) -> None:
    with pytest.raises(SpinneyError, match="no rejected hunks"):
        await send_verdicts(git_project.workspace, worktree.id)
    await decide(git_project, worktree, 0, "rejected")
    await decide(git_project, worktree, 0, "rejected")
    sent = await send_verdicts(git_project.workspace, worktree.id)
    message = (await git_project.workspace.store.messages(sent.session_id)).messages[0]
    assert message.text.count("`loom.txt`\n```diff\n@@") == 2
    assert message.text.count("\nNot so.") == 2
    assert await count(git_project, worktree) == (0, 0, 1)
    with pytest.raises(SpinneyError, match="no rejected hunks"):
        await send_verdicts(git_project.workspace, worktree.id)


async def test_nothing_happens_to_a_hunk_that_changed_since_it_was_shown(
    git_project: GitProject, worktree: Worktree
) -> None:
    shown = await get_file_diff(git_project.workspace, worktree.id, "loom.txt")
    git_project.in_worktree(worktree).write("loom.txt", change(3, 20, 38))
    for hunk, seen in ((shown.hunks[0], None), (shown.hunks[1], shown.digest)):
        with pytest.raises(SpinneyError, match="has changed since it was shown"):
            await decide_hunk(
                git_project.workspace, worktree.id, "loom.txt", hunk, "rejected", seen=seen
            )
    assert read(worktree) == change(3, 20, 38)


async def test_a_verdict_that_cannot_be_saved_changes_nothing(
    git_project: GitProject, worktree: Worktree, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise SpinneyError("The disk is full.", "internal_error")

    tree = git_project.in_worktree(worktree)
    before = tree.git("ls-files", "--stage")
    monkeypatch.setattr(verdicts.verdict_file, "save", refuse)
    for verdict in ("accepted", "rejected"):
        with pytest.raises(SpinneyError, match="disk is full"):
            await decide(git_project, worktree, 1, verdict)
    assert (tree.git("ls-files", "--stage"), read(worktree)) == (before, change(2, 20, 38))


async def test_a_damaged_file_of_verdicts_is_set_aside_and_goes_with_the_worktree(
    git_project: GitProject, worktree: Worktree
) -> None:
    await decide(git_project, worktree, 0)
    folder = git_project.workspace.directories.reviews / worktree.id
    (folder / "verdicts.json").write_text("{")
    state = await get_review(git_project.workspace, worktree.id)
    assert (state.verdicts, state.progress.accepted) == ([], 1)
    assert [*folder.glob("verdicts.json.broken-*")]
    await remove_worktree(git_project.workspace, worktree.id, force=True, for_good=True)
    assert not folder.exists()
