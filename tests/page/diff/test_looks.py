"""The changes view on every screen: no overflow, large touch targets, no axe violations."""

import pytest
from playwright.async_api import Page, expect

from tests.page.browser import Screen
from tests.page.conftest import OpenPage
from tests.page.diff.work_tree import WorkTree, button, choose, open_diff, row
from tests.page.test_accessible import run_axe
from tests.page.user_input import Pointer

SMALL_TARGETS = """(least) => [...document.querySelectorAll(
  ":is(.diff-view, dialog) :is(button, a, select, textarea, summary, label)")]
  .map((element) => [element.textContent, element.getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.width < least || box.height < least))
  .map(([text, box]) => `${text}: ${box.width} × ${box.height}`)"""

OVERFLOW = """() => [document.scrollingElement,
  document.querySelector("dialog .git-result") ?? document.getElementById("content")]
  .map((element) => element.scrollWidth - element.clientWidth)"""


async def show_everything(page: Page, tree: WorkTree) -> None:
    """Open the changes with selected lines, two comments and a very long line."""
    tree.write("a folder with a name/that is long enough/to leave the edge/of any phone.txt", "1\n")
    tree.write("wide.txt", "word" * 500 + "\n")
    await open_diff(page, tree)
    for text in ("Why? " * 30, ""):
        await row(page, "line three").locator(".no").last.click()
        await button(page, "Comment").click()
        await page.keyboard.type(text)
        if text:
            await button(page, "Add").click()
    await row(page, "line 5").locator(".no").last.click()
    await expect(page.get_by_role("group", name="Selected lines")).to_be_visible()


@pytest.mark.parametrize(
    "screen",
    [
        Screen(320, 640, touch=True),
        Screen(390, 844, touch=True, scheme="light"),
        Screen(800, 1000, scheme="light"),
        Screen(2560, 1440),
    ],
    ids=["320", "390", "800", "2560"],
)
async def test_everything_fits_and_touch_targets_are_large_enough(
    open_page: OpenPage, two_hunks: WorkTree, screen: Screen
) -> None:
    page = await open_page(screen=screen)
    await show_everything(page, two_hunks)
    await assert_it_fits(page, screen)
    two_hunks.git("stash")
    two_hunks.git("stash", "apply")
    two_hunks.git("add", "list.txt")
    user = Pointer(page, touch=screen.touch)
    for action in ("Commit", "Commits", "Stashes"):
        await choose(user, action)
        await expect(
            page.locator(".git-sheet form, .git-sheet .commits > li").first
        ).to_be_visible()
        await assert_it_fits(page, screen)
        await page.keyboard.press("Escape")
        await expect(page.locator(".git-sheet")).to_have_count(0)
    await choose(user, "Keys")
    await assert_it_fits(page, screen)


async def assert_it_fits(page: Page, screen: Screen) -> None:
    """Nothing is wider than the screen, and everything is large enough for a finger or a mouse."""
    assert await page.evaluate(OVERFLOW) == [0, 0]
    assert await page.evaluate(SMALL_TARGETS, 39.9 if screen.touch else 27.9) == []


@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.longer)])
async def test_axe_finds_no_violation(
    open_page: OpenPage, two_hunks: WorkTree, scheme: str
) -> None:
    page = await open_page(screen=Screen(1280, 800, scheme=scheme))
    await show_everything(page, two_hunks)
    assert await run_axe(page) == []
    for action in ("Commit", "Commits", "Stashes", "Keys"):
        await choose(Pointer(page), action)
        await expect(page.get_by_role("dialog", name=action)).to_be_visible()
        assert await run_axe(page) == []
        await page.keyboard.press("Escape")
