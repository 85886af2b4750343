"""A finger on a phone, a mouse at a desk."""

import time

from playwright.sync_api import Error, Locator

from tests.journeys.page_place import PagePlace

GLANCE = 3000
"""Milliseconds after which somebody looks whether what they want to press is there still."""


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
