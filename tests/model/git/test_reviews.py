"""Review data for the page: colored diff rows, and messages for comments and conflicts."""

import pytest

from model.api.reviews import ReviewComment, ShownRow
from model.base.errors import SpinneyError
from model.commands.changes import stage_changes
from model.commands.git import git_pull
from model.commands.reviews import (
    get_diff_rows,
    get_edit_rows,
    write_conflict_task,
    write_review,
)
from model.domain.worktrees import Worktree
from model.preferences.apply import apply_changes
from tests.model.git.git_project import GitProject


@pytest.fixture
async def worktree(git_project: GitProject) -> Worktree:
    return await git_project.add("otter")


def row_text(row: ShownRow) -> str:
    return "".join(text for text, _, _ in row.pieces)


def make_comment(quoted: list[str], text: str, line: int = 1) -> ReviewComment:
    return ReviewComment(path="a.py", side="unstaged", line=line, quoted=quoted, text=text)


async def test_rows_have_numbers_colors_and_the_words_that_changed(
    git_project: GitProject, worktree: Worktree
) -> None:
    tree = git_project.in_worktree(worktree)
    tree.commit("a.py", "def one(row):\n    return row\n")
    tree.write("a.py", "def one(row):\n    return row + 1")
    shown = await get_diff_rows(git_project.workspace, worktree.id, "a.py")
    assert (len(shown.hunks), shown.offset, shown.total) == (1, 0, 4)
    heading, equal, old, new = shown.rows
    assert (heading.sign, heading.hunk, row_text(heading)) == ("@", 0, "line 1")
    assert (equal.sign, equal.old, equal.new) == (" ", 1, 1)
    assert equal.pieces[0] == ("def ", "storage", False)
    assert (old.sign, old.old, old.new, old.unended) == ("-", 2, None, False)
    assert (new.sign, new.old, new.new, new.unended) == ("+", None, 2, True)
    assert "".join(text for text, _, is_changed in new.pieces if is_changed).strip() == "+ 1"


async def test_an_edit_is_shown_like_a_diff(git_project: GitProject) -> None:
    before = "".join(f"a{n} = {n}\n" for n in range(20))
    after = before.replace("a0 = 0", "a0 = 1").replace("a19 = 19\n", "a19 = 20\n")
    rows = (await get_edit_rows(git_project.workspace, "a.py", before, after)).rows
    assert [(row.sign, row.old, row.new) for row in rows[:3]] == [
        ("-", 1, None),
        ("+", None, 1),
        (" ", 2, 2),
    ]
    assert "number" in [kind for _, kind, _ in rows[1].pieces]
    assert [text for text, _, is_changed in rows[1].pieces if is_changed] == ["1"]
    assert [row_text(row) for row in rows if row.sign == "\\"] == ["12 unchanged lines"]
    long = (await get_edit_rows(git_project.workspace, "a", "", ("x" * 900 + "\n") * 900)).rows
    assert row_text(long[-1]) == "The rest is not shown."
    assert len(long) < 900


async def test_a_string_that_starts_in_one_hunk_does_not_color_the_next(
    git_project: GitProject, worktree: Worktree
) -> None:
    tree = git_project.in_worktree(worktree)
    before = '"""Counts."""\n' + "".join(f"a{n} = {n}\n" for n in range(30))
    tree.commit("a.py", before)
    tree.write("a.py", before.replace("Counts.", "Counts\n").replace("a20 = 20", "a20 = 21"))
    shown = await get_diff_rows(git_project.workspace, worktree.id, "a.py")
    last = next(row for row in shown.rows if row_text(row) == "a20 = 21")
    assert "number" in [kind for _, kind, _ in last.pieces]


async def test_a_long_diff_is_paged_and_a_long_line_is_cut(
    git_project: GitProject, worktree: Worktree
) -> None:
    tree = git_project.in_worktree(worktree)
    tree.write("long", "".join(f"{n}\n" for n in range(2_500)))
    first = await get_diff_rows(git_project.workspace, worktree.id, "long")
    assert (len(first.rows), first.total) == (1_000, 2_501)
    rest = await get_diff_rows(git_project.workspace, worktree.id, "long", offset=2_000)
    assert (rest.digest, len(rest.rows), row_text(rest.rows[-1])) == (first.digest, 501, "2499")
    assert not (await get_diff_rows(git_project.workspace, worktree.id, "long", offset=9_999)).rows
    tree.write("wide", ("x" * 6_000 + "\n") * 150)
    wide = await get_diff_rows(git_project.workspace, worktree.id, "wide")
    assert len(row_text(wide.rows[-1])) == 5_000
    assert len(wide.rows) < wide.total
    quoted = make_comment([f"+{row_text(wide.rows[-1])}"], "Why?", line=99).model_copy(
        update={"path": "wide"}
    )
    assert (await write_review(git_project.workspace, worktree.id, [quoted])).lost == []
    for wrong in ({"limit": 0}, {"limit": 5_001}, {"offset": -1}):
        with pytest.raises(SpinneyError, match="Invalid field"):
            await get_diff_rows(git_project.workspace, worktree.id, "wide", **wrong)


async def test_comments_become_one_message_that_marks_changed_lines(
    git_project: GitProject, worktree: Worktree
) -> None:
    tree = git_project.in_worktree(worktree)
    tree.write("a.py", "one\ntwo\n")
    await stage_changes(git_project.workspace, worktree.id)  # a comment follows its lines
    comments = [make_comment(["+two"], "Why two?", 2), make_comment(["+three"], "And three?", 3)]
    review = await write_review(git_project.workspace, worktree.id, comments)
    assert review.lost == [1]
    assert review.message == (
        "Please look at these comments on the changes:\n\n"
        "`a.py:2`\n```diff\n+two\n```\nWhy two?\n\n"
        "`a.py:3` (these lines have changed since)\n```diff\n+three\n```\nAnd three?"
    )


async def test_conflicts_become_a_task_with_the_default_or_a_custom_prompt(
    git_project: GitProject, worktree: Worktree
) -> None:
    tree = git_project.in_worktree(worktree)
    with pytest.raises(SpinneyError, match="No file has a conflict"):
        await write_conflict_task(git_project.workspace, worktree.id)
    tree.commit("read.me", "mine\n")
    git_project.repository.commit("read.me", "theirs\n")
    git_project.repository.git("push", "--quiet", "origin", "main")
    await git_pull(git_project.workspace, worktree.path, "main")
    task = await write_conflict_task(git_project.workspace, worktree.id)
    assert task.files == ["read.me"]
    assert task.message.startswith("A merge stopped in this worktree because of conflicts.")
    assert task.message.endswith("Files:\n- read.me")
    preferences = git_project.workspace.store.state.preferences
    wanted = {"magic_prompts": {**preferences.magic_prompts, "resolve_conflicts": "Fix it."}}
    await git_project.workspace.change_preferences(apply_changes(preferences, wanted))
    task = await write_conflict_task(git_project.workspace, worktree.id)
    assert task.message == "Fix it.\n\nFiles:\n- read.me"
