"""Commits, amending, fixing up, stashes, and conflicts that are resolved by a choice."""

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.page.diff.work_tree import WorkTree, button, choose, file, open_diff, row
from tests.page.user_input import Pointer, UserInput


async def test_a_commit_is_read_and_gets_later_changes(
    user: UserInput, two_hunks: WorkTree
) -> None:
    page, tree = user.page, two_hunks
    tree.git("stash", "--quiet")
    tree.commit("pears.txt", "one\n")
    tree.git("stash", "pop", "--quiet")
    await open_diff(page, tree)
    await choose(user, "Commits")
    sheet = page.get_by_role("dialog", name="Commits")
    commits = sheet.locator(".commit")
    await expect(commits).to_have_count(3)
    await expect(commits.nth(2)).to_contain_text("in main")
    older = commits.nth(1)
    await expect(older.locator("summary")).to_contain_text("Change list.txt")
    await user.press(older.locator("summary").first)
    await user.press(older.locator(".commit-file > summary"))
    await expect(older.locator(".patch .added", has_text="line 30")).to_be_visible()
    await user.press(older.get_by_role("button", name="Put my changes into this commit"))
    await expect(page.get_by_text("The changes are in 'Change list.txt' now.")).to_be_visible()
    assert tree.git("status", "--porcelain") == ""
    assert "line three" in tree.git("show", "HEAD~1:list.txt")
    assert tree.git("log", "--format=%s", "-2").split("\n")[:2] == [
        "Change pears.txt",
        "Change list.txt",
    ]


async def test_the_last_commit_is_amended(page: Page, two_hunks: WorkTree) -> None:
    await open_diff(page, two_hunks)
    await choose(Pointer(page), "Amend the last commit")
    dialog = page.get_by_role("dialog", name="Amend the last commit")
    await expect(dialog.get_by_role("textbox")).to_have_value("Change list.txt")
    await dialog.get_by_role("textbox").fill("Count in words")
    await button(dialog, "Amend").click()
    await expect(page.get_by_text("Committed as ")).to_be_visible()
    assert two_hunks.git("log", "--format=%s", "-1").strip() == "Count in words"
    assert two_hunks.git("status", "--porcelain") == ""
    assert "line three" in two_hunks.git("show", "HEAD:list.txt")

    # What others may have is changed only after a question.
    two_hunks.git("push", "--quiet", "origin", "HEAD")
    await button(page.get_by_role("dialog"), "Close").click()
    await choose(Pointer(page), "Amend the last commit")
    await expect(dialog).to_contain_text("It is pushed already")
    await button(dialog, "Amend").click()
    question = page.get_by_role("dialog", name="Amend a commit that is pushed?")
    await button(question, "Cancel").click()
    assert two_hunks.git("status", "-sb").count("ahead") == 0


async def test_commits_are_read_from_the_worktree_view(page: Page, two_hunks: WorkTree) -> None:
    await page.goto(f"/#/worktree/{two_hunks.id}")
    await button(page, "Worktree actions").click()
    await button(page.get_by_role("dialog"), "Commits").click()
    sheet = page.get_by_role("dialog", name="Commits")
    await expect(sheet.locator(".commit").first).to_contain_text("Change list.txt")


async def test_changes_are_stashed_applied_dropped_and_restored(
    page: Page, two_hunks: WorkTree
) -> None:
    user = Pointer(page)
    two_hunks.write("new.txt", "1\n")
    await open_diff(page, two_hunks)
    await choose(user, "Stash all changes")
    await page.get_by_role("dialog").get_by_role("textbox").fill("Words")
    await button(page.get_by_role("dialog"), "Stash").click()
    await expect(page.locator(".toast").filter(has_text="Stashed ")).to_be_visible()
    await expect(page.locator(".file")).to_have_count(0)
    assert two_hunks.git("status", "--porcelain") == ""

    await choose(user, "Stashes")
    sheet = page.get_by_role("dialog", name="Stashes")
    await expect(sheet.locator(".stash")).to_contain_text("Words")
    await button(sheet, "Drop Words").click()
    await expect(sheet).to_contain_text("Nothing is stashed.")
    # Nothing is left for its Undo to bring back.
    await expect(page.get_by_text("Stashed 2 files.")).to_have_count(0)
    await button(sheet, "Close").click()
    await button(page.locator(".toast").filter(has_text="Dropped 'Words'"), "Undo").click()
    await expect(page.locator(".toast").filter(has_text="is stashed again")).to_be_visible()
    await choose(user, "Stashes")
    await button(sheet, "Apply").click()
    await expect(sheet).to_have_count(0)
    await expect(row(page, "line three")).to_be_visible()
    assert (two_hunks.root / "new.txt").exists()


@pytest.mark.parametrize(("choice", "kept"), [("Ours", ["Ours"]), ("Both", ["Ours", "Theirs"])])
async def test_a_conflict_is_resolved_by_a_choice_and_the_merge_finished(
    choice: str, kept: list[str], page: Page, tree: WorkTree, repository: Path
) -> None:
    tree.commit("README.md", "Ours\n")
    theirs = WorkTree("", repository)
    theirs.commit("README.md", "Theirs\n")
    tree.git("fetch", "--quiet", str(repository), "HEAD")
    with pytest.raises(Exception, match="merge"):
        tree.git("merge", "FETCH_HEAD")
    await open_diff(page, tree)
    stopped = page.get_by_role("group", name="Git operation in progress")
    await expect(stopped).to_contain_text("The merge stopped with 1 conflict")
    await expect(file(page, "README.md")).to_contain_text("conflict")
    await button(page, "Resolve").click()
    await expect(stopped.get_by_role("link", name="README.md")).to_be_focused()
    await button(stopped, f"{choice}: README.md").click()
    await expect(stopped).to_contain_text("is ready to commit")
    assert tree.read("README.md").split() == kept
    await button(page.locator(".toast"), "Undo").click()
    await expect(stopped).to_contain_text("The merge stopped with 1 conflict")
    await button(stopped, f"{choice}: README.md").click()
    await expect(button(stopped, "Finish the merge")).to_be_visible()
    await button(page, "Finish").click()
    await expect(page.get_by_text("Committed as ")).to_be_visible()
    await expect(stopped).to_be_hidden()
    await expect(page.get_by_text("Resolved 'README.md'.")).to_have_count(0)  # with its Undo
    assert len(tree.git("rev-list", "--parents", "-1", "HEAD").split()) == 3
