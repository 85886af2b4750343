"""Key bindings of the page: those of the terminal that browsers allow, the palette, the help."""

import asyncio
import re
from typing import Any

from playwright.async_api import Locator, Page, Route, expect

from tests.page.conftest import OpenPage
from tests.server.conftest import Socket

TEXT_FIELDS = (
    "main :is(textarea, input:not([type=checkbox], [type=radio], [type=range], [type=color]))"
)

VIEWS_WITH_FIELDS = (
    "preferences",
    "canvas",
    "new",
    "search",
    "work",
    "preferences?q=keybindings",
)
"""No two in a row are the same view."""


async def open_message_box(open_page: OpenPage, session: Any, **options: Any) -> Locator:
    """Open the session in a new page and return its focused message box."""
    page = await open_page(f"/session/{session['id']}", **options)
    box = page.get_by_role("textbox", name="Message", exact=True)
    await expect(box).to_be_focused()
    return box


async def test_keys_switch_between_views(open_page: OpenPage, session: Any) -> None:
    page = await open_page(f"/session/{session['id']}")
    title = page.locator("#title")
    for key, text in (
        ("Control+o", "All sessions"),
        ("F1", "Help"),
        ("F8", "Archive"),
        ("Control+Shift+F", "Search"),
    ):
        await page.keyboard.press(key)
        await expect(title).to_have_text(text)


async def test_the_palette_finds_commands_and_sessions(
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


async def test_text_typed_while_the_palette_loads_goes_into_it(
    open_page: OpenPage, session: Any
) -> None:
    box = await open_message_box(open_page, session)
    page = box.page
    may_load = asyncio.Event()

    async def delay(route: Route) -> None:
        await may_load.wait()
        await route.continue_()

    await page.route("**/views/palette.js", delay)
    await page.keyboard.press("Control+k")
    await page.keyboard.type("rename the sess")
    await page.keyboard.press("Enter")
    may_load.set()
    await expect(page.get_by_role("textbox", name="Rename the session")).to_be_focused()
    await expect(box).to_have_value("")


async def test_custom_key_bindings_work_and_are_listed_in_the_help(
    open_page: OpenPage, client: Socket
) -> None:
    await client.call("update_preferences", changes={"keybindings": {"canvas": "ctrl+y,ctrl+t"}})
    page = await open_page("/help")
    keys = page.locator("dl.keys")
    await expect(keys).to_contain_text("ctrl+y")
    await expect(keys).not_to_contain_text("ctrl+t")  # reserved by the browser
    await page.keyboard.press("Control+o")
    await expect(page.locator("#title")).to_have_text("Help")
    await page.keyboard.press("Control+y")
    await expect(page.locator("#title")).to_have_text("All sessions")
    await client.call("update_preferences", changes={"keybindings": {}})


async def test_a_question_mark_opens_the_help_except_in_a_text_box(
    open_page: OpenPage, session: Any
) -> None:
    box = await open_message_box(open_page, session)
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


async def test_escape_that_closes_something_does_not_stop_the_run_when_pressed_twice(
    page: Page, session: Any
) -> None:
    await page.goto(f"/#/session/{session['id']}")
    box = page.get_by_role("textbox", name="Message", exact=True)
    await expect(box).to_be_focused()
    await page.keyboard.type("/demo stream 1000000 50")
    await page.keyboard.press("Enter")
    stop = page.get_by_role("button", name="Stop", exact=True)
    await expect(stop).to_be_visible()
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(page.get_by_text("Esc again stops the run.")).to_be_visible()
    await expect(stop).to_be_enabled()
    await page.keyboard.press("Escape")
    await expect(stop).to_be_hidden()


async def test_every_text_field_takes_what_is_typed_and_lets_the_focus_go(
    open_page: OpenPage, session: Any
) -> None:
    """In each view that has fields without a dialog; what is typed is taken back."""
    page = await open_page()
    for view in (f"session/{session['id']}", *VIEWS_WITH_FIELDS):
        await page.goto(f"/#/{view}")
        shown = re.split("[/?]", view)[0]
        await expect(page.locator(f'body[data-view="{shown}"]')).to_be_attached()
        await expect(page.locator(TEXT_FIELDS).first).to_be_visible()
        await page.evaluate(
            "document.querySelectorAll('details').forEach((fold) => fold.open = true)"
        )
        for field in await page.locator(TEXT_FIELDS).filter(visible=True).all():
            before = await field.input_value()
            await field.focus()
            await page.keyboard.press("End")
            await page.keyboard.type("7")
            name = f"{view}: {await field.get_attribute('aria-label')}"
            assert await field.input_value() == f"{before}7", name
            await page.keyboard.press("Backspace")
            for key in ("Tab", "Shift+Tab"):
                await field.focus()
                await page.keyboard.press(key)
                await expect(field, name).not_to_be_focused()


async def test_a_search_that_is_left_while_one_types_does_not_change_the_next_address(
    open_page: OpenPage,
) -> None:
    page = await open_page()
    await page.clock.install()
    await page.keyboard.press("Control+Shift+F")
    await expect(page.get_by_label("Search messages")).to_be_focused()
    await page.keyboard.type("quince")
    await page.keyboard.press("F1")
    await expect(page.locator("#title")).to_have_text("Help")
    await page.clock.run_for(5000)
    assert page.url.endswith("#/help")


async def test_keys_step_through_the_sessions_of_a_worktree(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    await client.call("create_session", worktreeId=session["worktree_id"], name="beside")
    page = await open_page(f"/session/{session['id']}")
    await page.keyboard.press("Alt+PageDown")
    await expect(page.locator("#title")).to_have_text("beside")
    await page.keyboard.press("Alt+PageUp")
    await expect(page.locator("#title")).to_have_text(session["name"])


async def test_the_focus_stays_when_a_view_is_redrawn(
    page: Page, client: Socket, session: Any, worktree: Any
) -> None:
    content = page.locator("#content")
    menu = content.get_by_role("button", name="Worktree actions")
    link = content.get_by_role("link", name=session["name"])
    for place, focused in (
        (f"worktree/{worktree['id']}", menu),
        (f"worktree/{worktree['id']}", link),
        (f"project/{worktree['project_id']}", link),
    ):
        await page.goto(f"/#/{place}")
        await focused.focus()
        created = await client.call("create_session", worktreeId=worktree["id"])
        await expect(content.locator(f'a[href$="{created["id"]}"]')).to_be_visible()
        await expect(focused).to_be_focused()
