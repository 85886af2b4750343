"""What a person does at a page: by mouse, by touch, or by keys alone."""

from dataclasses import dataclass
from typing import Protocol

from playwright.async_api import Locator, Page, expect

FOCUS_RING = """(element) => {
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
  return (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
}"""

STEPS = 150
"""Presses of the tab key within which everything on the page is reached."""

DRAG = 10
"""Steps in which a finger is moved."""


class Hands(Protocol):
    """One way to work a page."""

    page: Page

    async def press(self, control: Locator) -> None:
        """Use a button, a link or a fold."""

    async def write(self, box: Locator, text: str) -> None:
        """Put a text where one can be written."""

    async def choose(self, box: Locator, option: str) -> None:
        """Choose an option of a list."""


@dataclass
class Pointer:
    """A mouse, or a finger."""

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
        """Move what is longer than its place; `by`: pixels, up where less than 0.

        A finger moves it by half of its height at most.
        """
        place = await part.bounding_box()
        assert place is not None
        x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
        if not self.touch:
            await self.page.mouse.move(x, y)
            await self.page.mouse.wheel(0, by)
            return
        line = await self.page.context.new_cdp_session(self.page)
        most = place["height"] / 2 - 1
        way = max(-most, min(most, -by))
        for step in range(DRAG + 1):
            kind = "touchMove" if step else "touchStart"
            points = [{"x": x, "y": y + way * step / DRAG}]
            await line.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        await line.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        await line.detach()


@dataclass
class Keys:
    """Keys alone: whoever cannot point goes from one thing to the next, and sees where they are."""

    page: Page

    async def press(self, control: Locator) -> None:
        await self.reach(control)
        await expect(control).not_to_have_attribute("aria-disabled", "true")
        await self.page.keyboard.press("Enter")

    async def write(self, box: Locator, text: str) -> None:
        await self.reach(box)
        await self.page.keyboard.press("Control+a")
        await self.page.keyboard.type(text)

    async def choose(self, box: Locator, option: str) -> None:
        await self.reach(box)
        await self.page.keyboard.type(option)

    async def reach(self, control: Locator) -> None:
        """Go there with the tab key, from wherever the keys are."""
        await expect(control).to_be_visible()
        for _ in range(STEPS):
            if await control.evaluate("(element) => element === document.activeElement"):
                assert await control.evaluate(FOCUS_RING), f"no ring around {control}"
                return
            await self.page.keyboard.press("Tab")
        raise AssertionError(f"{STEPS} times tab does not lead to {control}")


async def open_tree(hands: Hands) -> None:
    """Have the projects in sight; on a phone they are behind a button."""
    menu = hands.page.get_by_role("button", name="Projects")
    if await menu.is_visible():
        await hands.press(menu)


@dataclass
class Conversation:
    """The session that is open in a page, and a person at it."""

    hands: Hands

    @property
    def page(self) -> Page:
        return self.hands.page

    @property
    def box(self) -> Locator:
        """Where a message is written."""
        return self.page.get_by_role("textbox", name="Message", exact=True)

    @property
    def answers(self) -> Locator:
        """What the agent said, message by message."""
        return self.page.locator('.message[data-role="assistant"]')

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    async def press(self, name: str) -> None:
        await self.hands.press(self.button(name))

    async def say(self, text: str, button: str = "Send") -> None:
        """Write a message and send it; returns when the box is free again."""
        await self.hands.write(self.box, text)
        await self.press(button)
        await expect(self.box).to_have_value("")

    async def idle(self) -> None:
        """Wait until the agent, whose answer has begun, has finished, and it is drawn."""
        await expect(self.page.locator(".pulse")).to_have_count(0)
        await expect(self.button("Stop")).to_be_hidden()
