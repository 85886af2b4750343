"""Worktrees that are heading for a conflict are found while nothing is committed yet."""

from collections.abc import Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.conflicts import list_conflicts, write_conflict_message
from model.commands.git import fetch_worktrees_status
from model.domain.conflicts import WorktreeConflict
from model.domain.events.worktrees import WorktreeArchived
from model.domain.worktrees import Worktree
from tests.conftest import Eventually
from tests.model.git.git_project import GitProject
from tests.model.git.old_git import install_old_git

TEXT = "".join(f"line {number}\n" for number in range(1, 31))


def edit(worktree: Worktree, old: str, new: str, name: str = "code.py") -> None:
    file = Path(worktree.path) / name
    file.write_text(file.read_text().replace(old, new))


async def find(git_project: GitProject) -> list[WorktreeConflict]:
    """The conflicts after one poll."""
    await fetch_worktrees_status(git_project.workspace, git_project.project.id)
    return await list_conflicts(git_project.workspace, git_project.project.id)


async def test_two_worktrees_that_edit_the_same_lines_are_both_marked(
    git_project: GitProject,
) -> None:
    git_project.repository.commit("code.py", TEXT)
    otter, heron, crane = [await git_project.add(name) for name in ("otter", "heron", "crane")]
    objects = git_project.repository.git("count-objects", "-v")
    edit(otter, "line 5\n", "line 5 of otter\n")
    edit(heron, "line 1\n", "line 0\nline 1\n")
    edit(heron, "line 5\n", "line 5 of heron\nand more\n")
    edit(crane, "line 20\n", "line 20 of crane\n")
    found = await find(git_project)
    assert [(one.worktree_id, one.partner, one.with_kind) for one in found] == [
        (otter.id, heron.id, "worktree"),
        (heron.id, otter.id, "worktree"),
    ]
    (file,) = found[0].files
    assert (file.path, file.kind) == ("code.py", "changed")
    (hunk,) = file.hunks
    assert (hunk.ours.start, hunk.ours.lines) == (5, ["line 5 of otter"])
    assert (hunk.theirs.start, hunk.theirs.lines) == (6, ["line 5 of heron", "and more"])
    assert found[1].files[0].hunks[0].ours == hunk.theirs
    assert git_project.now(otter).conflicts_with == [heron.id]
    assert git_project.now(crane).conflicts_with == []
    # Comparing writes nothing into the repository.
    assert git_project.repository.git("count-objects", "-v") == objects


async def test_a_message_about_a_conflict_has_both_versions(git_project: GitProject) -> None:
    git_project.repository.commit("code.py", TEXT)
    otter, heron = [await git_project.add(name) for name in ("otter", "heron")]
    edit(otter, "line 5\n", "line 5 of otter\n")
    edit(heron, "line 5\n", "````\x1b[31m\n")
    for worktree in (otter, heron):
        (Path(worktree.path) / "````").write_text(worktree.name)
    await find(git_project)
    workspace = git_project.workspace

    message = (await write_conflict_message(workspace, heron.id, otter.id)).message

    assert message.startswith("Your changes and those in 'otter' will be in conflict.")
    shown = message[message.index("````\n") + 5 : message.rindex("\n````")]
    assert shown.splitlines() == [
        "````:", "  heron, line 1:", "    heron", "  otter, line 1:", "    otter", "",
        "code.py:", "  heron, line 5:", "    ````␛[31m", "  otter, line 5:", "    line 5 of otter",
    ]  # fmt: skip
    with pytest.raises(SpinneyError, match="not be in conflict"):
        await write_conflict_message(workspace, heron.id, "main")


async def test_a_conflict_is_over_when_one_side_takes_it_back(git_project: GitProject) -> None:
    git_project.repository.commit("code.py", TEXT)
    otter, heron = [await git_project.add(name) for name in ("otter", "heron")]
    edit(otter, "line 5\n", "line 5 of otter\n")
    edit(heron, "line 5\n", "line 5 of heron\n")
    assert await find(git_project)
    # As many lines, so that the counts of the status stay the same.
    edit(otter, "line 5 of otter\n", "line 5\n")
    edit(otter, "line 25\n", "line 25 of otter\n")
    assert await find(git_project) == []
    assert git_project.now(heron).conflicts_with == []


async def test_the_others_are_compared_with_what_has_landed(git_project: GitProject) -> None:
    repository = git_project.repository
    repository.commit("code.py", TEXT)
    otter, heron = [await git_project.add(name) for name in ("otter", "heron")]
    edit(otter, "line 5\n", "line 5 of otter\n")
    edit(heron, "line 5\n", "line 5 of heron\n")
    repository.git("commit", "--quiet", "-am", "otter's work", cwd=Path(otter.path))
    repository.git("merge", "--quiet", "otter")
    found = await find(git_project)
    # Otter itself has nothing left that is not in the base.
    assert [(one.worktree_id, one.partner, one.with_kind) for one in found] == [
        (heron.id, "main", "branch")
    ]
    assert git_project.now(heron).conflicts_with_base
    assert not git_project.now(otter).conflicts_with_base


def commit(git_project: GitProject, worktree: Worktree, old: str, new: str) -> None:
    edit(worktree, old, new)
    git_project.repository.git("commit", "--quiet", "-am", new, cwd=Path(worktree.path))


def squash(git_project: GitProject, worktree: Worktree) -> None:
    git_project.repository.git("merge", "--quiet", "--squash", worktree.branch)
    git_project.repository.git("commit", "--quiet", "-m", f"All of {worktree.branch}")


async def test_a_branch_whose_changes_are_in_the_base_conflicts_with_nothing(
    git_project: GitProject,
) -> None:
    repository = git_project.repository
    repository.commit("code.py", TEXT)
    otter, heron = [await git_project.add(name) for name in ("otter", "heron")]
    commit(git_project, otter, "line 5\n", "line 5 of otter\n")
    commit(git_project, otter, "line 25\n", "line 25 of otter\n")
    commit(git_project, heron, "line 5\n", "line 5 of heron\n")
    squash(git_project, otter)
    # The base goes on in the same place, so merging otter would conflict.
    repository.commit("code.py", TEXT.replace("line 5\n", "line 5 of main\n"))
    found = await find(git_project)
    assert [(one.worktree_id, one.partner) for one in found] == [(heron.id, "main")]
    # What came after the landing is not in the base.
    commit(git_project, otter, "line 25 of otter\n", "line 25 again\n")
    found = await find(git_project)
    assert (otter.id, "main") in [(one.worktree_id, one.partner) for one in found]


async def test_a_worktree_that_took_the_base_in_has_no_conflict_of_others_with_it(
    git_project: GitProject,
) -> None:
    repository = git_project.repository
    repository.commit("code.py", TEXT)
    repository.commit("other.py", TEXT)
    otter, heron, crane = [await git_project.add(name) for name in ("otter", "heron", "crane")]
    commit(git_project, otter, "line 5\n", "line 5 of otter\n")
    commit(git_project, heron, "line 5\n", "line 5 of heron\n")
    edit(heron, "line 9\n", "line 9 of heron\n", "other.py")
    edit(crane, "line 9\n", "line 9 of crane\n", "other.py")
    squash(git_project, otter)
    for one in (otter, crane):
        repository.git("merge", "--quiet", "--no-edit", "main", cwd=Path(one.path))
    found = await find(git_project)
    assert {(one.worktree_id, one.partner): [file.path for file in one.files] for one in found} == {
        (heron.id, "main"): ["code.py"],
        (heron.id, crane.id): ["other.py"],
        (crane.id, heron.id): ["other.py"],
    }
    # Heron takes it in as well: only what is between the two is left.
    repository.git("commit", "--quiet", "-am", "other", cwd=Path(heron.path))
    repository.git("merge", "--quiet", "-Xours", "--no-edit", "main", cwd=Path(heron.path))
    found = await find(git_project)
    assert {one.partner for one in found} == {heron.id, crane.id}


async def test_what_only_one_side_has_is_said(git_project: GitProject) -> None:
    git_project.repository.commit("code.py", TEXT)
    git_project.repository.commit("gone.py", TEXT)
    otter, heron = [await git_project.add(name) for name in ("otter", "heron")]
    (Path(otter.path) / "gone.py").unlink()
    edit(heron, "line 3\n", "line 3 of heron\n", "gone.py")
    (Path(otter.path) / "new\n\x1b[31m.py").write_text("of otter\n")
    (Path(heron.path) / "new\n\x1b[31m.py").write_text("of heron\n")
    (Path(otter.path) / "picture").write_bytes(b"\0otter")
    (Path(heron.path) / "picture").write_bytes(b"\0heron")
    (Path(otter.path) / "link").symlink_to("otter")
    (Path(heron.path) / "link").symlink_to("heron")
    files = {file.path: file for file in (await find(git_project))[0].files}
    assert {path: file.kind for path, file in files.items()} == {
        "gone.py": "deleted",
        "new\n␛[31m.py": "added",
        "picture": "added",
        "link": "added",
    }
    assert files["gone.py"].hunks[0].ours.lines == []
    assert files["picture"].hunks == []


async def test_line_endings_and_attributes_count_as_in_a_merge(git_project: GitProject) -> None:
    repository = git_project.repository
    repository.commit("code.py", TEXT)
    repository.commit("news.md", TEXT)
    repository.commit(".gitattributes", "*.py text\nnews.md merge=union\n*.odd merge=odd\n")
    repository.commit("of.odd", TEXT)
    repository.git("config", "merge.odd.driver", f"touch {repository.root}/ran; exit 0")
    otter, heron = [await git_project.add(name) for name in ("otter", "heron")]
    crlf = TEXT.replace("\n", "\r\n").replace("line 9\r", "line 9 of otter\r")
    (Path(otter.path) / "code.py").write_bytes(crlf.encode())
    edit(heron, "line 20\n", "line 20 of heron\n")
    for worktree in (otter, heron):
        edit(worktree, "line 5\n", f"line 5 of {worktree.name}\n", "news.md")
        edit(worktree, "line 5\n", f"line 5 of {worktree.name}\n", "of.odd")
    found = await find(git_project)
    assert [file.path for file in found[0].files] == ["of.odd"]
    assert not (repository.root / "ran").exists()


async def test_with_an_older_git_paths_that_both_changed_are_listed(
    git_project: GitProject, fake_git: Callable[[str], None]
) -> None:
    git_project.repository.commit("code.py", TEXT)
    otter, heron = [await git_project.add(name) for name in ("otter", "heron")]
    edit(otter, "line 5\n", "line 5 of otter\n")
    edit(heron, "line 25\n", "line 25 of heron\n")
    install_old_git(fake_git, "2.30.0")
    found = await find(git_project)
    assert [(one.files[0].path, one.files[0].kind) for one in found] == [("code.py", "path")] * 2


async def test_archived_and_unchanged_worktrees_are_left_out(
    git_project: GitProject, eventually: Eventually
) -> None:
    git_project.repository.commit("code.py", TEXT)
    otter, heron, _ = [await git_project.add(name) for name in ("otter", "heron", "crane")]
    edit(otter, "line 5\n", "line 5 of otter\n")
    edit(heron, "line 5\n", "line 5 of heron\n")
    assert len(await find(git_project)) == 2
    await git_project.workspace.store.accept(
        WorktreeArchived(worktree=heron.model_copy(update={"archived_at": 2.0}))
    )
    assert await find(git_project) == []
    await eventually(lambda: git_project.now(otter).conflicts_with == [])
