"""Touch or mouse input on the page, depending on the screen."""

import time

from playwright.sync_api import Error, Locator

from tests.journeys.page_harness import PageHarness

PRESS_TIMEOUT = 3000
"""Milliseconds after which a press is given up if the control has disappeared."""
DRAG_STEPS = 5
"""Number of touch events that move the finger."""
DRAG_REST = 150
"""Milliseconds before the finger is lifted, so that the page does not scroll on by momentum, which
would consume the next tap."""


def scroll(harness: PageHarness, part: Locator, by: float) -> None:
    """Scroll an element by this many pixels; negative values scroll up."""
    box = part.bounding_box()
    if box is None:
        return
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    if not harness.screen.touch:
        harness.page.mouse.move(x, y)
        harness.page.mouse.wheel(0, by)
        return
    cdp = harness.page.context.new_cdp_session(harness.page)
    limit = box["height"] / 2 - 1
    distance = max(-limit, min(limit, -by))
    for step in range(DRAG_STEPS + 1):
        kind = "touchMove" if step else "touchStart"
        points = [{"x": x, "y": y + distance * step / DRAG_STEPS}]
        cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    harness.page.wait_for_timeout(DRAG_REST)
    cdp.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    cdp.detach()


def press(harness: PageHarness, control: Locator) -> None:
    """Tap or click a control. Raises an error if it cannot be reached."""
    if harness.screen.touch:
        control.tap()
    else:
        control.click()


def press_if_present(harness: PageHarness, control: Locator, *, wait: bool = False) -> bool:
    """Press a control that may disappear at any time. Return whether it was pressed."""
    end = time.monotonic() + harness.patience
    while wait or control.is_visible():
        try:
            if harness.screen.touch:
                control.tap(timeout=PRESS_TIMEOUT)
            else:
                control.click(timeout=PRESS_TIMEOUT)
        except Error:
            if wait:
                return False
            if time.monotonic() > end and control.is_visible():
                raise
        else:
            return True
    return False
