"""The changes on every screen: nothing beside its edge, nothing too small, nothing unnamed."""

import pytest
from playwright.async_api import Page, expect

from tests.page.browser import Screen
from tests.page.conftest import OpenPage
from tests.page.diff.tree import Tree, button, row, show
from tests.page.test_accessible import found_by_axe

SMALL = """() => [...document.querySelectorAll(
  ".diff-view :is(button, a, select, textarea, summary, label)")]
  .map((element) => [element.textContent, element.getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.width < 39.9 || box.height < 39.9))
  .map(([text, box]) => `${text}: ${box.width} × ${box.height}`)"""

BESIDE = """() => [document.scrollingElement, document.getElementById("content")]
  .map((element) => element.scrollWidth - element.clientWidth)"""


async def with_everything(page: Page, tree: Tree) -> None:
    """Lines that are marked, a comment, one that is written, a form, and a line without end."""
    tree.write("a folder with a name/that is long enough/to leave the edge/of any phone.txt", "1\n")
    tree.write("wide.txt", "word" * 500 + "\n")
    await show(page, tree)
    for text in ("Why? " * 30, ""):
        await row(page, "line three").locator(".no").last.click()
        await button(page, "Comment").click()
        await page.keyboard.type(text)
        if text:
            await button(page, "Save").click()
    await button(page, "Commit").click()
    await expect(page.locator("form.git-form")).to_be_visible()
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
async def test_everything_fits_and_can_be_hit(
    open_page: OpenPage, two_hunks: Tree, screen: Screen
) -> None:
    page = await open_page(screen=screen)
    await with_everything(page, two_hunks)
    assert await page.evaluate(BESIDE) == [0, 0]
    assert await page.evaluate(SMALL) == []


@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.longer)])
async def test_axe_finds_nothing(open_page: OpenPage, two_hunks: Tree, scheme: str) -> None:
    page = await open_page(screen=Screen(1280, 800, scheme=scheme))
    await with_everything(page, two_hunks)
    assert await found_by_axe(page) == []
