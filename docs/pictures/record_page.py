"""Records twenty seconds of the page on a phone: the real server, a real browser, the demo agent.

make recordings
"""

import asyncio
import io
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import aiohttp
from PIL import Image
from playwright.async_api import Page, async_playwright

from docs.pictures.page import PHONE_DARK, Client, prepare
from tests.contract.conftest import make_program
from tests.page.browser import create_context, launch_browser, sign_in

HERE = Path(__file__).parent
INTERVAL = 0.2
"""Seconds between two pictures."""


class Film:
    """Pictures of a page, taken while something else uses it."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._pictures: list[tuple[float, bytes]] = []

    async def run(self) -> None:
        """Take pictures until it is canceled."""
        while True:
            picture = await self._page.screenshot(scale="css")
            self._pictures.append((time.monotonic(), picture))
            await asyncio.sleep(INTERVAL)

    def write(self, path: Path) -> None:
        """Write an animated WebP; equal pictures are one, which is shown for longer."""
        shown: list[tuple[float, bytes]] = []
        for at, picture in self._pictures:
            if not shown or shown[-1][1] != picture:
                shown.append((at, picture))
        times = [at for at, _ in shown] + [self._pictures[-1][0] + 2.0]
        pauses = [int((end - start) * 1000) for start, end in pairwise(times)]
        first, *others = (Image.open(io.BytesIO(picture)).convert("RGB") for _, picture in shown)
        first.save(
            path, save_all=True, append_images=others, duration=pauses, loop=0, quality=60, method=4
        )


async def play(page: Page) -> None:
    """What needs the person, a session, its changes, and a message."""
    await page.wait_for_timeout(1500)
    await page.get_by_role("button", name="Allow", exact=True).first.tap()
    await page.wait_for_timeout(1500)
    await page.locator("#content a", has_text="Tour").first.tap()
    await page.wait_for_timeout(2500)
    await page.locator("a", has_text="Changes").first.tap()
    await page.wait_for_timeout(3000)
    await page.go_back()
    await page.wait_for_timeout(1000)
    box = page.get_by_placeholder("Message")
    await box.tap()
    await box.press_sequentially("/demo markdown 1", delay=60)
    await page.get_by_role("button", name="Send").tap()
    await page.wait_for_timeout(5000)


async def main() -> None:
    """Record, and write the picture that plays it."""
    with tempfile.TemporaryDirectory() as folder:
        program = make_program(Path(folder))
        async with async_playwright() as playwright:
            browser = await launch_browser(playwright, folder)
            with program.serving("--demo") as serving:
                url = f"{serving.base_url}/ws?token={serving.token}"
                async with aiohttp.ClientSession() as http, http.ws_connect(url) as socket:
                    await prepare(Client(socket), program)
                context = await create_context(browser, PHONE_DARK, serving.base_url)
                page = await context.new_page()
                await sign_in(page, serving.token, "/")
                await page.wait_for_selector("#link[data-state=open]")
                film = Film(page)
                filming = asyncio.create_task(film.run())
                try:
                    await play(page)
                finally:
                    filming.cancel()
                film.write(HERE / "page-recording.webp")
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
