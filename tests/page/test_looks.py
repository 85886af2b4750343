"""The page looks as the preferences say: at once, and from the first paint after a reload."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.page.browser import ready
from tests.page.conftest import OpenPage
from tests.program import Program, Serving
from tests.server.conftest import Socket
from themes import loader

FONT = b"wOF2" + b"\0" * 60

PROBE = """
window.atFirst = new Promise((resolve) => requestAnimationFrame(() => {
  const style = getComputedStyle(document.documentElement);
  resolve({
    theme: document.documentElement.dataset.theme ?? "",
    code: style.getPropertyValue("--code-background"),
    size: style.fontSize,
    font: style.getPropertyValue("--ui-font"),
  });
}));
"""
"""What the page looks like in the first frame that is painted."""


async def shown(page: Page, name: str) -> str:
    return str(
        await page.evaluate(
            "name => getComputedStyle(document.documentElement).getPropertyValue(name)", name
        )
    )


async def test_a_change_shows_at_once_in_every_page(open_page: OpenPage, other: Socket) -> None:
    page = await open_page()
    wanted = {
        "theme": "light", "syntax_theme_light": "one-light", "zoom_level": 150,
        "ui_font_size": 20, "chat_font_size": 12, "ui_font": "lato", "chat_font": "fira-code",
    }  # fmt: skip
    await other.call("update_preferences", changes=wanted)
    root = page.locator("html")
    await expect(root).to_have_attribute("data-theme", "light")
    await expect(root).to_have_css("font-size", "30px")
    await expect(root).to_have_css("color-scheme", "light")
    await expect(page.locator("body")).to_have_css("font-family", "lato, system-ui, sans-serif")
    assert await shown(page, "--chat-size") == "18px"
    assert (await shown(page, "--chat-font")).startswith('"fira code"')
    assert (await shown(page, "--mono")).startswith('"fira code"')
    ground = loader.load_syntax_theme("one-light").ui["background"]
    await expect(root).to_have_css("--code-background", ground)
    await other.call("update_preferences", changes={"theme": "system", "chat_font": "geist"})
    await expect(root).not_to_have_attribute("data-theme", "light")
    await expect(root).to_have_css("color-scheme", "dark")
    assert (await shown(page, "--mono")).startswith("ui-monospace")


async def test_after_a_reload_it_looks_so_from_the_start(
    open_page: OpenPage, other: Socket
) -> None:
    page = await open_page()
    wanted = {"theme": "light", "syntax_theme_light": "rose-pine-dawn", "zoom_level": 100}
    await other.call("update_preferences", changes={**wanted, "ui_font": "inter"})
    ground = loader.load_syntax_theme("rose-pine-dawn").ui["background"]
    await expect(page.locator("html")).to_have_css("--code-background", ground)

    async def late(route: Route) -> None:
        await ready(page)
        await route.continue_()

    await page.route("**/theme.css*rose-pine-dawn*", late)
    await page.add_init_script(PROBE)
    await page.reload()
    at_first: Any = await page.evaluate("atFirst")
    assert (at_first["theme"], at_first["size"]) == ("light", "16px")
    assert at_first["font"].startswith('"inter"')
    assert at_first["code"] == ground, "it was painted before its colours were there"


async def test_the_browsers_own_bar_has_the_colour_of_the_pages(
    open_page: OpenPage, other: Socket
) -> None:
    page = await open_page()
    bar = page.locator('meta[name="theme-color"]')
    await expect(bar).to_have_attribute("content", await shown(page, "--ui-surface"))
    dark = await bar.get_attribute("content")
    await other.call("update_preferences", changes={"theme": "light"})
    await expect(page.locator("html")).to_have_attribute("data-theme", "light")
    await expect(bar).to_have_attribute("content", await shown(page, "--ui-surface"))
    assert await bar.get_attribute("content") != dark


async def test_a_device_that_asks_for_more_contrast_has_it(open_page: OpenPage) -> None:
    page = await open_page()
    usual = await shown(page, "--ui-text-faint")
    await page.emulate_media(contrast="more")
    assert await shown(page, "--ui-text-faint") != usual


@pytest.fixture
def with_fonts(program: Program) -> Path:
    """A folder of fonts beside the preferences, before Spinney starts."""
    folder = Path(program.environ["SPINNEY_CONFIG_DIR"]) / "fonts"
    folder.mkdir(parents=True)
    (folder / "inter.woff2").write_bytes(FONT)
    return folder


async def test_a_persons_own_font_is_loaded_where_it_is_wanted(
    with_fonts: Path, open_page: OpenPage, other: Socket, served: Serving
) -> None:
    page = await open_page()
    async with page.expect_response(lambda answer: "/fonts/inter.woff2" in answer.url) as asked:
        await other.call("update_preferences", changes={"ui_font": "inter"})
    answer = await asked.value
    assert (answer.status, answer.headers["content-type"]) == (200, "font/woff2")
