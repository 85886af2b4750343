"""The page follows the appearance preferences at once, and from the first frame of a reload."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.page.browser import wait_until_ready
from tests.page.conftest import OpenPage
from tests.program import Program, Serving
from tests.server.conftest import Socket
from themes import loader

FONT = b"wOF2" + b"\0" * 60

PROBE = """
window.firstFrame = new Promise((resolve) => requestAnimationFrame(() => {
  const style = getComputedStyle(document.documentElement);
  resolve({
    theme: document.documentElement.dataset.theme ?? "",
    code: style.getPropertyValue("--code-background"),
    size: style.fontSize,
    font: style.getPropertyValue("--ui-font"),
  });
}));
"""
"""Records the styles of the first painted frame."""


async def read_css_variable(page: Page, name: str) -> str:
    return str(
        await page.evaluate(
            "name => getComputedStyle(document.documentElement).getPropertyValue(name)", name
        )
    )


async def test_a_change_shows_at_once_in_every_page(open_page: OpenPage, client: Socket) -> None:
    page = await open_page()
    changes = {
        "theme": "light", "syntax_theme_light": "one-light", "zoom_level": 150,
        "ui_font_size": 20, "chat_font_size": 12, "ui_font": "lato", "chat_font": "fira-code",
    }  # fmt: skip
    await client.call("update_preferences", changes=changes)
    root = page.locator("html")
    await expect(root).to_have_attribute("data-theme", "light")
    await expect(root).to_have_css("font-size", "30px")
    await expect(root).to_have_css("color-scheme", "light")
    await expect(page.locator("body")).to_have_css("font-family", "lato, system-ui, sans-serif")
    assert await read_css_variable(page, "--chat-size") == "18px"
    assert (await read_css_variable(page, "--chat-font")).startswith('"fira code"')
    assert (await read_css_variable(page, "--mono")).startswith('"fira code"')
    background = loader.load_syntax_theme("one-light").ui["background"]
    await expect(root).to_have_css("--code-background", background)
    await client.call("update_preferences", changes={"theme": "system", "chat_font": "geist"})
    await expect(root).not_to_have_attribute("data-theme", "light")
    await expect(root).to_have_css("color-scheme", "dark")
    assert (await read_css_variable(page, "--mono")).startswith("ui-monospace")


async def test_the_first_frame_after_a_reload_follows_the_preferences(
    open_page: OpenPage, client: Socket
) -> None:
    page = await open_page(is_new=True)
    changes = {"theme": "light", "syntax_theme_light": "rose-pine-dawn", "zoom_level": 100}
    await client.call("update_preferences", changes={**changes, "ui_font": "inter"})
    background = loader.load_syntax_theme("rose-pine-dawn").ui["background"]
    await expect(page.locator("html")).to_have_css("--code-background", background)

    async def delay(route: Route) -> None:
        await wait_until_ready(page)
        await route.continue_()

    await page.route("**/theme.css?plain*rose-pine-dawn*", delay)
    await page.add_init_script(PROBE)
    await page.reload()
    first_frame: Any = await page.evaluate("firstFrame")
    assert (first_frame["theme"], first_frame["size"]) == ("light", "16px")
    assert first_frame["font"].startswith('"inter"')
    assert first_frame["code"] == background, "it was painted before its colors were loaded"


async def test_the_theme_color_for_the_browser_follows_the_theme(
    open_page: OpenPage, client: Socket
) -> None:
    page = await open_page()
    bar = page.locator('meta[name="theme-color"]')
    await expect(bar).to_have_attribute("content", await read_css_variable(page, "--ui-surface"))
    dark = await bar.get_attribute("content")
    await client.call("update_preferences", changes={"theme": "light"})
    await expect(page.locator("html")).to_have_attribute("data-theme", "light")
    await expect(bar).to_have_attribute("content", await read_css_variable(page, "--ui-surface"))
    assert await bar.get_attribute("content") != dark


async def test_contrast_is_higher_if_the_device_asks_for_it(open_page: OpenPage) -> None:
    page = await open_page()
    default = await read_css_variable(page, "--ui-text-faint")
    await page.emulate_media(contrast="more")
    assert await read_css_variable(page, "--ui-text-faint") != default


@pytest.fixture
def fonts(program: Program) -> Path:
    """A folder of fonts in the configuration directory, created before Spinney starts."""
    folder = Path(program.environ["SPINNEY_CONFIG_DIR"]) / "fonts"
    folder.mkdir(parents=True)
    (folder / "inter.woff2").write_bytes(FONT)
    return folder


async def test_a_font_of_the_user_is_loaded(
    fonts: Path, open_page: OpenPage, client: Socket, server: Serving
) -> None:
    page = await open_page()
    async with page.expect_response(lambda response: "/fonts/inter.woff2" in response.url) as info:
        await client.call("update_preferences", changes={"ui_font": "inter"})
    response = await info.value
    assert (response.status, response.headers["content-type"]) == (200, "font/woff2")
