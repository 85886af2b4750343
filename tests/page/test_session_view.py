"""A session as it stands before a person: reached from another one, read, written in, left."""

from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.page.browser import Screen
from tests.page.conftest import OpenPage
from tests.page.person import Conversation, Pointer, open_tree
from tests.server.conftest import Socket

ONE_PROGRAM = True

PHONE = Screen(390, 844, touch=True)
DESK = Screen(1440, 900)

LONG = "A paragraph that is longer than any screen is wide goes on and on. " * 9

COVERED = """() => {
  const found = [];
  for (const control of document.querySelectorAll("a, button, textarea, select, summary")) {
    if (!control.checkVisibility({ visibilityProperty: true })) continue;
    if (control.closest("#tree, .transcript")) continue; // they scroll
    const { left, right, top, bottom } = control.getBoundingClientRect();
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const hit = document.elementFromPoint(x, y);
    if (hit && !control.contains(hit)) found.push([control.outerHTML, hit.outerHTML]);
  }
  return found;
}"""
"""The controls around the conversation that a press in their middle does not reach."""


@pytest.fixture(params=[PHONE, DESK], ids=["phone", "desk"])
def screen(request: pytest.FixtureRequest) -> Screen:
    found: Screen = request.param
    return found


async def enter_by_tree(page: Page, session: Any) -> Conversation:
    """Go to a session the way people do: by the list at the left."""
    at = Pointer(page, touch=await page.evaluate("() => matchMedia('(pointer: coarse)').matches"))
    await open_tree(at)
    await at.press(page.locator(f'#tree a[href$="/session/{session["id"]}"]'))
    await expect(page.locator("#title")).to_have_text(session["name"])
    return Conversation(at)


async def test_answers_stream_in_wherever_one_came_from_and_cover_nothing(
    open_page: OpenPage, other: Socket, session: Any, screen: Screen
) -> None:
    second = await other.call("create_session", worktreeId=session["worktree_id"], name="Second")
    page = await open_page(screen=screen)
    for number, each in enumerate((session, second, session)):
        person = await enter_by_tree(page, each)
        await person.say(f"/demo say turn {number}. {LONG}")
        await expect(person.answers.last).to_contain_text(f"turn {number}.")
        await expect(person.answers.last).to_contain_text(LONG.strip()[-40:])
        await person.idle()
    spoken = page.locator(".session > [aria-live=polite]")
    await expect(spoken).to_contain_text("Finished.")
    size = await spoken.evaluate("(element) => [element.clientWidth, element.clientHeight]")
    assert max(size) <= 1
    assert await page.evaluate(COVERED) == []
