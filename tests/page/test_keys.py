"""The page by keys: the terminal's where a browser allows, the palette, and the help of both."""

import asyncio
from typing import Any

from playwright.async_api import Locator, Page, Route, expect

from tests.page.conftest import OpenPage
from tests.server.conftest import Socket


async def about_to_write(open_page: OpenPage, session: Any, **how: Any) -> Locator:
    """The message box of the session in a new page, which has the keys."""
    page = await open_page(f"/session/{session['id']}", **how)
    box = page.get_by_role("textbox", name="Message", exact=True)
    await expect(box).to_be_focused()
    return box


async def test_keys_lead_from_place_to_place(open_page: OpenPage, session: Any) -> None:
    page = await open_page(f"/session/{session['id']}")
    title = page.locator("#title")
    for key, words in (
        ("Control+o", "All sessions"),
        ("F1", "Help"),
        ("F8", "Archive"),
        ("Control+Shift+F", "Search"),
    ):
        await page.keyboard.press(key)
        await expect(title).to_have_text(words)


async def test_the_palette_finds_commands_and_places(
    open_page: OpenPage, session: Any, project: Any
) -> None:
    page = await open_page()
    await page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="All commands")
    await expect(palette.get_by_role("combobox")).to_be_focused()
    await page.keyboard.type("fix pars")
    await expect(palette.get_by_role("option").first).to_contain_text("Fix the parser")
    await page.keyboard.press("Enter")
    await expect(page.locator("#title")).to_have_text("Fix the parser")
    await expect(palette).to_have_count(0)
    await page.keyboard.press("Control+p")
    await page.keyboard.type("rename the sess")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("textbox", name="Rename the session")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_what_is_typed_while_the_palette_still_loads_is_typed_into_it(
    open_page: OpenPage, session: Any
) -> None:
    box = await about_to_write(open_page, session)
    page = box.page
    loads = asyncio.Event()

    async def late(route: Route) -> None:
        await loads.wait()
        await route.continue_()

    await page.route("**/views/palette.js", late)
    await page.keyboard.press("Control+k")
    await page.keyboard.type("rename the sess")
    await page.keyboard.press("Enter")
    loads.set()
    await expect(page.get_by_role("textbox", name="Rename the session")).to_be_focused()
    await expect(box).to_have_value("")


async def test_keys_of_ones_own_hold_here_too_and_stand_in_the_help(
    open_page: OpenPage, other: Socket
) -> None:
    await other.call("update_preferences", changes={"keybindings": {"canvas": "ctrl+y,ctrl+t"}})
    page = await open_page("/help")
    keys = page.locator("dl.keys")
    await expect(keys).to_contain_text("ctrl+y")
    await expect(keys).not_to_contain_text("ctrl+t")  # the browser's
    await page.keyboard.press("Control+o")
    await expect(page.locator("#title")).to_have_text("Help")
    await page.keyboard.press("Control+y")
    await expect(page.locator("#title")).to_have_text("All sessions")
    await other.call("update_preferences", changes={"keybindings": {}})


async def test_a_question_mark_is_help_but_where_one_writes(
    open_page: OpenPage, session: Any
) -> None:
    box = await about_to_write(open_page, session)
    page = box.page
    await page.keyboard.type("why?")
    await expect(box).to_have_value("why?")
    await page.locator("#content").focus()
    await page.keyboard.type("?")
    await expect(page.locator("#title")).to_have_text("Help")


async def test_escape_stops_the_run(page: Page, session: Any) -> None:
    await page.goto(f"/#/session/{session['id']}")
    box = page.get_by_role("textbox", name="Message", exact=True)
    await box.fill("/demo stream 1000000 50")
    await box.press("Enter")
    stop = page.get_by_role("button", name="Stop", exact=True)
    await expect(stop).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(stop).to_be_hidden()


async def test_sessions_beside_each_other_are_stepped_through(
    open_page: OpenPage, other: Socket, session: Any
) -> None:
    await other.call("create_session", worktreeId=session["worktree_id"], name="beside")
    page = await open_page(f"/session/{session['id']}")
    await page.keyboard.press("Alt+PageDown")
    await expect(page.locator("#title")).to_have_text("beside")
    await page.keyboard.press("Alt+PageUp")
    await expect(page.locator("#title")).to_have_text(session["name"])


async def test_the_keys_stay_where_they_are_while_a_place_is_drawn_anew(
    page: Page, other: Socket, session: Any, worktree: Any
) -> None:
    room = page.locator("#content")
    archive = room.get_by_role("button", name="Archive")
    link = room.get_by_role("link", name=session["name"])
    for place, focused in (
        (f"worktree/{worktree['id']}", archive),
        (f"worktree/{worktree['id']}", link),
        (f"project/{worktree['project_id']}", link),
    ):
        await page.goto(f"/#/{place}")
        await focused.focus()
        made = await other.call("create_session", worktreeId=worktree["id"])
        await expect(room.locator(f'a[href$="{made["id"]}"]')).to_be_visible()
        await expect(focused).to_be_focused()
