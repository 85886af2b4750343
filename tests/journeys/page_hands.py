"""A finger on a phone, a mouse at a desk."""

import time

from playwright.sync_api import Error, Locator

from tests.journeys.page_place import PagePlace

GLANCE = 3000
"""Milliseconds after which somebody looks whether what they want to press is there still."""
DRAG = 5
"""Steps in which a finger is moved."""
REST = 150
"""Milliseconds that it rests then: what goes on by itself takes the next tap, and only stops."""


def scroll(at: PagePlace, part: Locator, by: float) -> None:
    """Move what is longer than its place; `by`: pixels, up where less than 0."""
    place = part.bounding_box()
    if place is None:
        return
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    if not at.screen.touch:
        at.page.mouse.move(x, y)
        at.page.mouse.wheel(0, by)
        return
    line = at.page.context.new_cdp_session(at.page)
    most = place["height"] / 2 - 1
    way = max(-most, min(most, -by))
    for step in range(DRAG + 1):
        kind = "touchMove" if step else "touchStart"
        points = [{"x": x, "y": y + way * step / DRAG}]
        line.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    at.page.wait_for_timeout(REST)
    line.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    line.detach()


def press(at: PagePlace, control: Locator) -> None:
    """Press it. Raises where it cannot be reached."""
    if at.screen.touch:
        control.tap()
    else:
        control.click()


def press_if_there(at: PagePlace, control: Locator, *, wait: bool = False) -> bool:
    """Press what an agent or somebody else may take away meanwhile; whether it was pressed."""
    end = time.monotonic() + at.patience
    while wait or control.is_visible():
        try:
            if at.screen.touch:
                control.tap(timeout=GLANCE)
            else:
                control.click(timeout=GLANCE)
        except Error:
            if wait:
                return False
            if time.monotonic() > end and control.is_visible():
                raise
        else:
            return True
    return False
