"""Any two branches, commits or worktrees side by side, and release notes."""

from collections.abc import Iterable

import pytest

from model.backends import agent_events, base
from model.base.errors import SpinneyError
from model.commands.code_reviews import (
    compare_branches,
    get_compared_diff,
    get_compared_rows,
    write_release_notes,
)
from model.domain.worktrees import Worktree
from tests.fakes import DONE, FakeBackend
from tests.model.git.git_project import GitProject
from tests.model.reviewing.conftest import change


async def test_worktrees_are_compared_with_all_that_is_not_committed(
    git_project: GitProject, worktree: Worktree
) -> None:
    other = await git_project.add("heron")
    git_project.in_worktree(other).write("loom.txt", change(2))
    git_project.in_worktree(other).write("new", "woven\n")
    objects = git_project.repository.git("count-objects")
    of_it = (git_project.workspace, git_project.project.id)
    found = await compare_branches(*of_it, worktree.id, other.id)
    assert (found.left, found.right) == ("otter", "heron")
    assert [(file.path, file.status) for file in found.files] == [
        ("loom.txt", "modified"),
        ("new", "added"),
    ]
    commits = (found.left_commit, found.right_commit)
    diff = await get_compared_diff(*of_it, *commits, "loom.txt")
    assert "-changed 20\n+line 20\n" in diff.text and "changed 2\n-" not in diff.text
    rows = await get_compared_rows(*of_it, *commits, "new", limit=1)
    assert (rows.total, [row.sign for row in rows.rows]) == (2, ["@"])
    assert git_project.repository.git("count-objects") == objects


async def test_branches_and_commits_are_compared(
    git_project: GitProject, worktree: Worktree
) -> None:
    tree = git_project.in_worktree(worktree)
    tree.git("commit", "--quiet", "--all", "-m", "Change three lines")
    of_it = (git_project.workspace, git_project.project.id)
    found = await compare_branches(*of_it, "main", tree.git("rev-parse", "HEAD"))
    same = await compare_branches(*of_it, "main", "otter")
    assert [(file.path, file.added) for file in found.files] == [("loom.txt", 3)]
    assert (found.files, found.right_commit) == (same.files, same.right_commit)


@pytest.mark.parametrize("name", ["nowhere", "--output=x", "main..otter", "HEAD:loom.txt"])
async def test_what_is_no_branch_or_commit_is_refused(
    git_project: GitProject, worktree: Worktree, name: str
) -> None:
    of_it = (git_project.workspace, git_project.project.id)
    with pytest.raises(SpinneyError):
        await compare_branches(*of_it, "main", name)
    with pytest.raises(SpinneyError, match="Compare the two again"):
        await get_compared_diff(*of_it, name, "0123456789abcdef", "loom.txt")


async def test_release_notes_are_written_about_the_commits_after_the_newest_tag(
    git_project: GitProject, backend: FakeBackend
) -> None:
    prompts: list[str] = []

    def script(prompt: base.Prompt) -> Iterable[agent_events.AgentEvent]:
        prompts.append(prompt.text)
        return (agent_events.TextDelta("b", "<notes>## Added\n\n- A heddle.</notes>"), DONE)

    backend.script = script
    repository = git_project.repository
    repository.git("tag", "v1.0")
    of_it = (git_project.workspace, git_project.project.id)
    with pytest.raises(SpinneyError, match=r"no commits since 'v1.0'"):
        await write_release_notes(*of_it)
    repository.commit("heddle", "1\n")
    notes = await write_release_notes(*of_it)
    assert (notes.text, notes.since) == ("## Added\n\n- A heddle.", "v1.0")
    assert "<since>\nv1.0\n</since>" in prompts[0]
    assert "<commits>\nChange heddle\n" in prompts[0]
    repository.git("tag", "-d", "v1.0")
    everything = await write_release_notes(*of_it)
    assert everything.since == "" and "the first commit" in prompts[1]
    await git_project.workspace.writer.close()
