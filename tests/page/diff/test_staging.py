"""Staging, discarding and restoring files and hunks in the page."""

from playwright.async_api import Page, expect

from tests.page.diff.work_tree import (
    BOTH_ENDS,
    WorkTree,
    act,
    button,
    choose,
    choose_side,
    file,
    open_diff,
    row,
    side,
)
from tests.page.user_input import UserInput


async def test_hunks_and_files_are_staged_discarded_and_restored(
    user: UserInput, two_hunks: WorkTree
) -> None:
    page, tree = user.page, two_hunks
    await open_diff(page, tree)
    last = page.locator(".diff-row.hunk").nth(1)
    await act(user, "Stage", "the hunk", last)
    await expect(page.locator(".diff-row.hunk")).to_have_count(1)
    assert "+line twenty-eight" in tree.git("diff", "--cached")
    assert "+line three" not in tree.git("diff", "--cached")
    await act(user, "Discard", "list.txt")
    await expect(page.get_by_text("No unstaged changes.")).to_be_visible()
    assert "line 3\n" in tree.read("list.txt")
    await page.reload()
    await expect(page.get_by_text("No unstaged changes.")).to_be_visible()
    await choose(user, "Undo discard")
    await expect(row(page, "line three")).to_be_visible()
    assert tree.read("list.txt") == BOTH_ENDS
    await choose(user, "Stage all")
    await expect(page.locator(".file")).to_have_count(0)
    await choose_side(user, "Staged")
    await act(user, "Unstage", "list.txt")
    await expect(page.get_by_text("No staged changes.")).to_be_visible()
    assert tree.git("diff", "--cached") == ""


async def test_a_discard_is_undone_from_its_toast(page: Page, tree: WorkTree) -> None:
    tree.write("new.txt", "precious\n")
    await open_diff(page, tree)
    await button(page, "Discard new.txt").click()
    await expect(page.locator(".toast")).to_contain_text("Discarded changes in 'new.txt'")
    assert not (tree.root / "new.txt").exists()
    await expect(row(page, "precious")).to_have_count(0)
    await button(page.locator(".toast"), "Undo").click()
    await expect(row(page, "precious")).to_be_visible()
    assert tree.read("new.txt") == "precious\n"


async def test_letter_keys_work_as_in_the_terminal(page: Page, two_hunks: WorkTree) -> None:
    await open_diff(page, two_hunks)
    await expect(row(page, "line three")).to_be_visible()
    await page.keyboard.press("]")
    await expect(button(file(page, "list.txt"), "list.txt")).to_be_focused()
    await page.keyboard.press("]")
    await page.keyboard.press("]")
    await expect(page.locator(".diff-row.hunk").nth(1)).to_be_focused()
    await page.keyboard.press("s")
    await expect(page.locator(".diff-row.hunk")).to_have_count(1)
    await page.keyboard.press("v")
    await expect(side(page, "Staged")).to_have_attribute("aria-pressed", "true")
    await expect(row(page, "line twenty-eight")).to_be_visible()
    await page.keyboard.press("a")
    await expect(page.locator(".file")).to_have_count(0)
    await page.keyboard.press("v")
    await page.keyboard.press("v")
    await expect(page.locator(".diff-row.hunk")).to_have_count(2)
    await page.keyboard.press("]")
    await page.keyboard.press("x")
    await expect(page.locator(".file")).to_have_count(0)
    await page.keyboard.press("z")
    await expect(page.locator(".diff-row.hunk")).to_have_count(2)
