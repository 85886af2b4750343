"""The end of a conversation stays in sight until a person goes up, whatever else moves."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from model.backends import base
from model.domain.resources import Usage
from tests.page.browser import DESKTOP, PHONE, Screen
from tests.page.conftest import OpenPage
from tests.page.person import Pointer
from tests.page.stage import Stage
from tests.page.test_streaming import begin
from tests.patience import PATIENCE
from tests.puppet import Puppet
from tests.server.conftest import Socket

BELOW = "(element) => element.scrollHeight - element.scrollTop - element.clientHeight"
"""How many pixels of a conversation lie below what is shown."""

TOP = "(element) => Math.round(element.scrollTop)"

FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""What sizes and scrolls bring about is done after two."""

LAYOUT = {
    "what stands below it goes and comes": """(scroller) => {
      const box = document.querySelector(".composer");
      box.style.display = "none";
      scroller.getBoundingClientRect();
      box.style.display = "";
    }""",
    "it is shorter for a moment": """(scroller) => {
      const list = scroller.querySelector(".messages");
      list.style.display = "none";
      scroller.getBoundingClientRect();
      list.style.display = "";
    }""",
    "the letters are larger": """(scroller) => {
      document.documentElement.style.setProperty("--chat-size", "1.4rem");
    }""",
    "the letters are smaller": """(scroller) => {
      document.documentElement.style.setProperty("--chat-size", "0.8rem");
    }""",
    "a picture comes late": """(scroller) => {
      const picture = document.createElement("img");
      scroller.querySelector(".chunk").prepend(picture);
      picture.style.height = "700px";
    }""",
}
"""What moves a conversation, and is no person."""

SIZES = ((390, 430), (844, 390), (390, 844))
"""A phone's window with its keyboard, across, and upright again."""

FAR = 10_000
"""More pixels than there are."""


@pytest.fixture
def served(stage: Stage) -> Stage:
    """What the pages of this module are of."""
    return stage


@asynccontextmanager
async def writing(puppet: Puppet) -> AsyncIterator[None]:
    """Have the agent write, line by line, until this is left."""

    async def write() -> None:
        for number in range(10_000):
            puppet.say(base.TextDelta("more", f"row {number}\n\n"))
            await asyncio.sleep(0.05)

    task = asyncio.create_task(write())
    yield
    task.cancel()
    await asyncio.wait([task])


async def at_a_long_answer(
    stage: Stage, other: Socket, page: Page, session: Any
) -> tuple[Puppet, Locator]:
    """The agent at work on an answer of some screens, and the conversation."""
    puppet = await begin(stage, other, session)
    puppet.say(*(base.TextDelta("first", f"line {number}\n\n") for number in range(100)))
    puppet.say(base.ToolUse("tool", "bash", {"command": "true"}), base.ToolResult("tool", "done"))
    await expect(page.locator(".tool")).to_be_visible()
    return puppet, page.get_by_role("log", name="Conversation")


async def test_layout_takes_nobody_away_from_the_end(
    stage: Stage, other: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}", screen=PHONE)
    puppet, transcript = await at_a_long_answer(stage, other, page, session)
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        for what, change in LAYOUT.items():
            await transcript.evaluate(change)
            await page.evaluate(FRAMES)
            assert await transcript.evaluate(BELOW) < 2, f"{what} at {width} × {height}"
    async with writing(puppet):
        for change in LAYOUT.values():
            await transcript.evaluate(change)
            await page.evaluate(FRAMES)
    puppet.say(base.TextDelta("last", "the end"), base.TurnFinished("end_turn", Usage()))
    await expect(page.locator(".message").last).to_contain_text("the end")
    await expect(page.locator(".pulse")).to_have_count(0)
    await page.evaluate(FRAMES)
    assert await transcript.evaluate(BELOW) < 2


async def drag(page: Page, by: int) -> None:
    await Pointer(page, touch=True).scroll(page.get_by_role("log", name="Conversation"), by)


async def roll(page: Page, by: int) -> None:
    await Pointer(page).scroll(page.get_by_role("log", name="Conversation"), by)


async def press(page: Page, by: int) -> None:
    await page.get_by_role("log", name="Conversation").focus()
    await page.keyboard.press("End" if by == FAR else "ArrowUp")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("move", "screen"), [(drag, PHONE), (roll, DESKTOP), (press, DESKTOP)],
    ids=["finger", "wheel", "keys"],
)  # fmt: skip
async def test_who_goes_up_a_little_is_left_alone_and_who_comes_back_follows(
    stage: Stage,
    other: Socket,
    open_page: OpenPage,
    session: Any,
    move: Callable[[Page, int], Awaitable[None]],
    screen: Screen,
) -> None:
    page = await open_page(f"/session/{session['id']}", screen=screen)
    puppet, transcript = await at_a_long_answer(stage, other, page, session)
    to_end = page.get_by_role("button", name=re.compile("Go to the end|New messages"))
    rows = page.get_by_text(re.compile(r"^row \d+$"))
    async with writing(puppet):
        await expect(rows).not_to_have_count(0)
        await move(page, -60)
        await expect(to_end).to_be_visible()
        await page.evaluate(FRAMES)
        if screen is PHONE:  # layout does not bring them back, either
            await transcript.evaluate(LAYOUT["what stands below it goes and comes"])
        await expect(rows.nth(await rows.count() + 5)).to_be_attached()
        top = await transcript.evaluate(TOP)
        await expect(rows.nth(await rows.count() + 20)).to_be_attached()
        assert await transcript.evaluate(TOP) == top
        assert await transcript.evaluate(BELOW) > 300
    async with asyncio.timeout(PATIENCE):  # What is written meanwhile would take the end away.
        while await to_end.is_visible():
            await move(page, FAR)
            await page.evaluate(FRAMES)
    async with writing(puppet):
        await expect(rows.nth(await rows.count() + 20)).to_be_attached()
    await page.evaluate(FRAMES)
    assert await transcript.evaluate(BELOW) < 2
