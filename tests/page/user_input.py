"""User input to a page by mouse, touch or keyboard, and the page object of a session."""

import re
from dataclasses import dataclass
from typing import Protocol

from playwright.async_api import Locator, Page, expect

FOCUS_RING = """(element) => {
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
  return (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
}"""

IS_BEFORE_FOCUS = """(element) => Boolean(
  document.activeElement.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_PRECEDING)"""

MAX_TABS = 150
"""Presses of the tab key within which every control of a page is reached."""

DRAG_STEPS = 10
"""Touch events of one drag."""


class UserInput(Protocol):
    """One way to operate a page."""

    page: Page

    async def press(self, control: Locator) -> None:
        """Activate a button, a link or a fold."""

    async def write(self, box: Locator, text: str) -> None:
        """Replace the text of a text box."""

    async def choose(self, box: Locator, option: str) -> None:
        """Choose an option of a select box."""


@dataclass
class Pointer:
    """A mouse or a finger."""

    page: Page
    touch: bool = False

    async def press(self, control: Locator) -> None:
        await (control.tap() if self.touch else control.click())

    async def write(self, box: Locator, text: str) -> None:
        await self.press(box)
        await box.fill(text)

    async def choose(self, box: Locator, option: str) -> None:
        await box.select_option(option)

    async def scroll(self, part: Locator, by: float) -> None:
        """Scroll `part` by this many pixels, up if negative; by touch at most half its height."""
        box = await part.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        if not self.touch:
            await self.page.mouse.move(x, y)
            await self.page.mouse.wheel(0, by)
            return
        devtools = await self.page.context.new_cdp_session(self.page)
        limit = box["height"] / 2 - 1
        distance = max(-limit, min(limit, -by))
        for step in range(DRAG_STEPS + 1):
            kind = "touchMove" if step else "touchStart"
            points = [{"x": x, "y": y + distance * step / DRAG_STEPS}]
            await devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        await devtools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        await devtools.detach()


@dataclass
class Keyboard:
    """The keyboard alone; asserts that the focus is visible on every control it activates."""

    page: Page

    async def press(self, control: Locator) -> None:
        await self.tab_to(control)
        await expect(control).not_to_have_attribute("aria-disabled", "true")
        await self.page.keyboard.press("Enter")

    async def write(self, box: Locator, text: str) -> None:
        await self.tab_to(box)
        await self.page.keyboard.press("Control+a")
        await self.page.keyboard.type(text)

    async def choose(self, box: Locator, option: str) -> None:
        await self.tab_to(box)
        await self.page.keyboard.type(option)

    async def tab_to(self, control: Locator) -> None:
        """Press the tab key until `control` has the focus, and check its focus ring.

        With shift if that is the shorter way.
        """
        await expect(control).to_be_visible()
        key = "Shift+Tab" if await control.evaluate(IS_BEFORE_FOCUS) else "Tab"
        for _ in range(MAX_TABS):
            if await control.evaluate("(element) => element === document.activeElement"):
                assert await control.evaluate(FOCUS_RING), f"no focus ring around {control}"
                return
            await self.page.keyboard.press(key)
        raise AssertionError(f"{control} is not focused after {MAX_TABS} presses of tab")


async def open_tree(user: UserInput) -> None:
    """Show the tree of projects, which is behind a button on a phone."""
    menu = user.page.get_by_role("button", name="Projects")
    if await menu.is_visible():
        await user.press(menu)


@dataclass
class SessionPage:
    """Page object of the session that is open in a page."""

    user: UserInput

    @property
    def page(self) -> Page:
        return self.user.page

    @property
    def message_box(self) -> Locator:
        return self.page.get_by_role("textbox", name="Message", exact=True)

    @property
    def answers(self) -> Locator:
        """The agent's messages."""
        return self.page.locator('.message[data-role="assistant"]')

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    async def press(self, name: str) -> None:
        await self.user.press(self.button(name))

    async def send(self, text: str, button: str = "Send") -> None:
        """Send a message with `button`; return when the message box is empty again."""
        await self.user.write(self.message_box, text)
        await self.press(button)
        await expect(self.message_box).to_have_value("")

    @property
    def mode(self) -> Locator:
        """The session's mode: a list, or on a phone the button of the sheet with that list."""
        page = self.page
        select = page.get_by_role("combobox", name="Mode", exact=True).and_(
            page.locator(".composer *")
        )
        return page.get_by_role("button", name="Session settings").or_(select)

    async def expect_mode(self, mode: str) -> None:
        """Wait until the session's mode is shown."""
        await expect(self.mode).to_be_visible()
        if await self.mode.get_attribute("aria-label") == "Mode":
            await expect(self.mode).to_have_value(mode)
        else:
            await expect(self.mode).to_have_accessible_name(
                re.compile(f"^Session settings: {mode},")
            )

    async def choose_mode(self, mode: str) -> None:
        """Change the session's mode."""
        await expect(self.mode).to_be_visible()
        if await self.mode.get_attribute("aria-label") == "Mode":
            await self.user.choose(self.mode, mode)
            return
        await self.user.press(self.mode)
        await self.user.choose(self.page.get_by_role("combobox", name="Mode", exact=True), mode)
        await self.press("Done")

    async def wait_until_idle(self) -> None:
        """Wait until the agent, whose answer has begun, has finished and its answer is drawn."""
        await expect(self.page.locator(".pulse")).to_have_count(0)
        await expect(self.button("Stop")).to_be_hidden()
