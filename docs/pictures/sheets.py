"""Contact sheets: every screen of the terminal at three sizes, dark and light, a picture each.

make sheets
"""

import asyncio
import html
import tempfile
from pathlib import Path
from typing import Literal

from playwright.async_api import async_playwright

from docs.pictures.make import self_contained
from tests.page.browser import launch_browser
from tests.tui.every_screen import SCREENS, show_screen
from tests.tui.waiting import wait_until_still

HERE = Path(__file__).parent
SIZES = {(80, 24): 5, (120, 40): 4, (200, 50): 3}
"""Columns of the sheet for each size of the terminal."""
THEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
WIDTH = 2400
"""Width of a sheet in pixels."""

Sheet = tuple[tuple[int, int], str]


async def draw_screens() -> dict[Sheet, list[tuple[str, str]]]:
    """The name and picture of each screen, for each sheet. Those that vary are left out."""
    sheets: dict[Sheet, list[tuple[str, str]]] = {
        (size, theme): [] for size in SIZES for theme in THEMES
    }
    for case in SCREENS:
        if case.varies:
            continue
        async with show_screen(case) as (app, pilot):
            for theme in THEMES:
                app.use_theme(theme)
                for size in SIZES:
                    await pilot.resize_terminal(*size)
                    await wait_until_still(pilot)
                    picture = self_contained(app.export_screenshot(title=case.name))
                    sheets[size, theme].append((case.name, picture))
    return sheets


def lay_out(pictures: list[tuple[str, str]], folder: Path, columns: int, theme: str) -> str:
    """The sheet as a page; each picture is a file, so that their styles do not mix."""
    figures = []
    for name, picture in pictures:
        (folder / f"{name}.svg").write_text(picture)
        label = html.escape(name)
        figures.append(f'<figure><img src="{name}.svg"><figcaption>{label}</figcaption></figure>')
    ground, text = ("#0b0d0c", "#b0bab3") if theme == "dark" else ("#ffffff", "#333333")
    return (
        f"<style>body{{margin:16px;background:{ground};color:{text};font:14px sans-serif;"
        f"display:grid;grid-template-columns:repeat({columns},1fr);gap:16px}}"
        f"figure{{margin:0}}img{{width:100%}}figcaption{{padding:2px 8px}}</style>"
        f"{''.join(figures)}"
    )


async def main() -> None:
    """Draw all sheets."""
    sheets = await draw_screens()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        async with async_playwright() as playwright:
            browser = await launch_browser(playwright, str(folder / "browser"))
            page = await browser.new_page(viewport={"width": WIDTH, "height": 1000})
            for (size, theme), pictures in sheets.items():
                document = folder / "sheet.html"
                document.write_text(lay_out(pictures, folder, SIZES[size], theme))
                await page.goto(document.as_uri(), wait_until="networkidle")
                name = f"screens-{size[0]}x{size[1]}-{theme}.jpg"
                await page.screenshot(path=HERE / name, full_page=True, type="jpeg", quality=60)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
