"""A conversation stays scrolled to its end until the user scrolls up."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from model.backends import agent_events
from model.domain.usage import Usage
from tests.page.browser import DESKTOP, PHONE, Screen
from tests.page.conftest import OpenPage
from tests.page.in_process import InProcessServer, begin_turn
from tests.page.user_input import Pointer
from tests.patience import PATIENCE
from tests.puppet import Puppet
from tests.server.conftest import Socket

BELOW = "(element) => element.scrollHeight - element.scrollTop - element.clientHeight"
"""Pixels of the conversation below the visible part."""

TOP = "(element) => Math.round(element.scrollTop)"

FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Waits for two frames, after which the effects of resizing and scrolling are done."""

LAYOUT = {
    "the composer is hidden and shown": """(scroller) => {
      const box = document.querySelector(".composer");
      box.style.display = "none";
      scroller.getBoundingClientRect();
      box.style.display = "";
    }""",
    "the composer is hidden and shown while a frame is drawn": """async (scroller) => {
      const box = document.querySelector(".composer");
      box.dataset.changed = "in an earlier frame";
      for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
      box.style.display = "none";
      scroller.getBoundingClientRect();
      box.style.display = "";
    }""",
    "the messages are hidden and shown": """(scroller) => {
      const list = scroller.querySelector(".messages");
      list.style.display = "none";
      scroller.getBoundingClientRect();
      list.style.display = "";
    }""",
    "the font becomes larger": """(scroller) => {
      document.documentElement.style.setProperty("--chat-size", "1.4rem");
    }""",
    "the font becomes smaller": """(scroller) => {
      document.documentElement.style.setProperty("--chat-size", "0.8rem");
    }""",
    "an image loads late": """(scroller) => {
      const picture = document.createElement("img");
      scroller.querySelector(".chunk").prepend(picture);
      picture.style.height = "700px";
    }""",
}
"""Changes that move the conversation without the user scrolling."""

SIZES = ((390, 430), (844, 390), (390, 844))
"""A phone's window with its keyboard, in landscape, and in portrait again."""

TO_END = re.compile("Go to the end|New messages")

FAR = 10_000
"""More pixels than any conversation has."""


@pytest.fixture
def server(in_process_server: InProcessServer) -> InProcessServer:
    return in_process_server


@asynccontextmanager
async def keep_writing(puppet: Puppet) -> AsyncIterator[None]:
    """Have the agent write line by line until the block ends."""

    async def write() -> None:
        for number in range(10_000):
            puppet.say(agent_events.TextDelta("more", f"row {number}\n\n"))
            await asyncio.sleep(0.05)

    task = asyncio.create_task(write())
    yield
    task.cancel()
    await asyncio.wait([task])


async def begin_long_answer(
    in_process_server: InProcessServer, client: Socket, page: Page, session: Any
) -> tuple[Puppet, Locator]:
    """Begin a turn with an answer of several screens; return the agent and the conversation."""
    puppet = await begin_turn(in_process_server, client, session)
    puppet.say(*(agent_events.TextDelta("first", f"line {number}\n\n") for number in range(100)))
    puppet.say(
        agent_events.ToolUse("tool", "bash", {"command": "true"}),
        agent_events.ToolResult("tool", "done"),
    )
    await expect(page.locator(".tool")).to_be_visible()
    return puppet, page.get_by_role("log", name="Conversation")


@pytest.mark.short
async def test_layout_changes_keep_the_end_visible(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}", screen=PHONE)
    puppet, transcript = await begin_long_answer(in_process_server, client, page, session)
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        for description, change in LAYOUT.items():
            await transcript.evaluate(change)
            await wait_for_end(transcript, f"{description} at {width} × {height}")
    async with keep_writing(puppet):
        for change in LAYOUT.values():
            await transcript.evaluate(change)
            await page.evaluate(FRAMES)
    puppet.say(
        agent_events.TextDelta("last", "the end"), agent_events.TurnFinished("end_turn", Usage())
    )
    await expect(page.locator(".message").last).to_contain_text("the end")
    await expect(page.locator(".pulse")).to_have_count(0)
    await wait_for_end(transcript, "the end of the answer")


async def test_a_window_that_grows_and_shrinks_within_a_frame_keeps_the_end_visible(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}", screen=PHONE)
    _, transcript = await begin_long_answer(in_process_server, client, page, session)
    devtools = await page.context.new_cdp_session(page)

    async def resize(height: int) -> None:
        size = {"width": PHONE.width, "height": height, "deviceScaleFactor": 1, "mobile": True}
        await devtools.send("Emulation.setDeviceMetricsOverride", size)

    async def lay_out() -> None:
        await devtools.send("Runtime.evaluate", {"expression": "document.body.clientHeight"})

    for _ in range(10):  # Some of these frames come between the two sizes.
        await asyncio.gather(resize(430), lay_out(), resize(844), lay_out(), resize(430))
        await wait_for_end(transcript, "the window grew and shrank")


async def wait_for_end(transcript: Locator, description: str) -> None:
    """Wait until the end is visible: a busy browser takes more than a frame or two for that."""
    try:
        async with asyncio.timeout(PATIENCE):
            while await transcript.evaluate(BELOW) >= 2:
                await transcript.page.evaluate(FRAMES)
    except TimeoutError:
        pytest.fail(f"{description}: the end is not visible")
    to_end = transcript.page.get_by_role("button", name=TO_END)
    await expect(to_end, f"{description}: it is not followed any more").to_be_hidden()


async def wait_until_still(page: Page, transcript: Locator) -> float:
    """Wait until a finger's scroll has ended, which goes on when it is lifted; return the top."""
    before, top = -1.0, await transcript.evaluate(TOP)
    async with asyncio.timeout(PATIENCE):
        while top != before:
            await page.evaluate(FRAMES)
            before, top = top, await transcript.evaluate(TOP)
    return float(top)


async def drag(page: Page, by: int) -> None:
    await Pointer(page, touch=True).scroll(page.get_by_role("log", name="Conversation"), by)


async def turn_wheel(page: Page, by: int) -> None:
    await Pointer(page).scroll(page.get_by_role("log", name="Conversation"), by)


async def press_key(page: Page, by: int) -> None:
    await page.get_by_role("log", name="Conversation").focus()
    await page.keyboard.press("End" if by == FAR else "ArrowUp")


@pytest.mark.parametrize(
    ("move", "screen"), [(drag, PHONE), (turn_wheel, DESKTOP), (press_key, DESKTOP)],
    ids=["finger", "wheel", "keys"],
)  # fmt: skip
async def test_scrolling_up_stops_following_and_scrolling_to_the_end_resumes_it(
    in_process_server: InProcessServer,
    client: Socket,
    open_page: OpenPage,
    session: Any,
    move: Callable[[Page, int], Awaitable[None]],
    screen: Screen,
) -> None:
    page = await open_page(f"/session/{session['id']}", screen=screen)
    puppet, transcript = await begin_long_answer(in_process_server, client, page, session)
    to_end = page.get_by_role("button", name=TO_END)
    rows = page.get_by_text(re.compile(r"^row \d+$"))
    async with keep_writing(puppet):
        await expect(rows).not_to_have_count(0)
        await move(page, -60)
        await expect(to_end).to_be_visible()
        await page.evaluate(FRAMES)
        if screen is PHONE:  # a layout change does not scroll to the end, either
            await transcript.evaluate(LAYOUT["the composer is hidden and shown"])
        await expect(rows.nth(await rows.count() + 5)).to_be_attached()
        top = await wait_until_still(page, transcript)
        await expect(rows.nth(await rows.count() + 20)).to_be_attached()
        assert await transcript.evaluate(TOP) == top
        assert await transcript.evaluate(BELOW) > 300
    async with asyncio.timeout(PATIENCE):  # Without new text, which would move the end.
        while await to_end.is_visible():
            await move(page, FAR)
            await page.evaluate(FRAMES)
    async with keep_writing(puppet):
        await expect(rows.nth(await rows.count() + 20)).to_be_attached()
    await wait_for_end(transcript, "followed again")
