"""All components of the page in all states, from a phone to a large screen, dark and light.

`make components` keeps the pictures, to look at.
"""

import os
import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Route

from tests.page.browser import PageErrors, Screen, create_context
from tests.page.test_accessible import run_axe
from tests.page.test_overflow import BROKEN_WORDS, TOO_WIDE
from tests.program import Serving

FOLDER = Path(__file__).parent / "components"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
PICTURES = os.environ.get("SPINNEY_PICTURES", "")

CUT_OFF = """() => [...document.querySelectorAll("button, a.button, .badge, .chip, label")]
  .filter((part) => part.scrollWidth > part.clientWidth + 1)
  .map((part) => part.outerHTML.slice(0, 200))"""
"""Controls whose text does not fit in them."""

SCREENS = [
    pytest.param(
        Screen(width, 1000, touch=width < 800, scheme=scheme),
        id=f"{width}-{scheme}",
        marks=() if (width, scheme) == (390, "light") else pytest.mark.longer,
    )
    for width in (390, 820, 1440, 2560)
    for scheme in ("dark", "light")
]


@pytest.mark.short
@pytest.mark.parametrize("screen", SCREENS)
async def test_components_fit_and_are_accessible(
    browser: Browser, server: Serving, page_errors: PageErrors, screen: Screen
) -> None:
    context = await create_context(
        browser, screen, server.base_url, has_worker=False, has_motion=False
    )
    page = await context.new_page()
    shell = await (await context.request.get("/")).text()
    version = re.search(r"/v/(\w+)/", shell)
    assert version is not None

    async def answer(route: Route) -> None:
        name = route.request.url.partition("/components/")[2] or "index.html"
        text = (FOLDER / name).read_text()
        if name == "index.html":
            text = text.replace("{version}", version[1])
        await route.fulfill(body=text, content_type=TYPES[Path(name).suffix])

    await page.route("**/components/*", answer)
    await page.goto("/components/")
    await page.wait_for_selector("body[data-ready]")
    await page.wait_for_load_state("networkidle")
    if PICTURES:
        path = Path(PICTURES) / f"components-{screen.width}-{screen.scheme}.png"
        await page.screenshot(path=path, full_page=True, animations="disabled")
    assert await page.evaluate(TOO_WIDE) == ""
    assert await page.evaluate(CUT_OFF) == []
    assert await page.evaluate(BROKEN_WORDS) == []
    assert await run_axe(page) == []
    assert page_errors.unexpected == []
    await context.close()
