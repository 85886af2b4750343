"""The start of the page: signing in, opening a view by its address, unknown addresses."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.page.browser import PageErrors, Screen
from tests.page.conftest import OpenPage, create_worktree
from tests.page.proxy import Proxy
from tests.program import Serving
from tests.server.conftest import Socket

TITLES = {"": "Home", "&go=/nonsense": "Not found", "&go=/help": "Help"}
"""The title of the view at each end of an address."""

REMEMBERED = "localStorage.getItem('spinney-token')"


@pytest.mark.short
async def test_the_token_is_removed_from_the_address_at_once(page: Page, server: Serving) -> None:
    assert server.token not in page.url
    await page.reload()
    await expect(page.locator("#link")).to_have_text("connected")


NOTE_TEXTS = """
window.texts = [];
const note = () => window.texts.push(document.title, document.body?.textContent ?? "");
addEventListener("DOMContentLoaded", () => new MutationObserver(note).observe(document, {
  subtree: true, childList: true, characterData: true,
}));
"""
"""Notes every text that is shown."""


@pytest.mark.parametrize("place", ["", "&go=/nonsense", "&go=/help"])
async def test_a_token_pasted_into_a_tab_that_shows_the_page_is_never_shown(
    open_page: OpenPage, server: Serving, page_errors: PageErrors, place: str
) -> None:
    page_errors.allow("401")
    page = await open_page(is_new=True)
    await page.add_init_script(NOTE_TEXTS)
    await page.reload()
    await expect(page.locator("#link")).to_have_text("connected")
    for token in (server.token, f"%20{server.token}%0A", "a-wrong-one"):
        await page.goto(f"/#token={token}{place}")
        await expect(page.locator("#title")).to_have_text(TITLES[place])
        assert "token" not in page.url
        assert token not in "".join(await page.evaluate("window.texts"))
        await expect(page.locator("#link")).to_have_text("connected")
    await expect(page.get_by_text("was not accepted, so nothing has changed")).to_be_visible()
    for mistyped in (f"/#tokn={server.token}", f"/#{server.token}"):
        await page.goto(mistyped)
        await expect(page.get_by_text("There is nothing at this address.")).to_be_visible()
        assert server.token not in "".join(await page.evaluate("window.texts"))
    await page.goto(f"/?token={server.token}")
    await expect(page.locator("#link")).to_have_text("connected")
    assert server.token not in page.url


async def test_a_browser_that_is_remembered_stays_so_when_an_address_with_a_token_is_opened(
    page: Page, server: Serving, page_errors: PageErrors
) -> None:
    page_errors.allow("401")
    await page.evaluate(f"localStorage.setItem('spinney-token', '{server.token}')")
    for token in (server.token, "a-wrong-one"):
        opened = await page.context.new_page()
        await opened.goto(f"/#token={token}")
        await expect(opened.locator("#link")).to_have_text("connected")
        assert await opened.evaluate(REMEMBERED) == server.token
    await page.evaluate("localStorage.setItem('spinney-token', 'an-old-one')")
    opened = await page.context.new_page()
    await opened.goto(f"/#token={server.token}")
    await expect(opened.locator("#link")).to_have_text("connected")
    assert await opened.evaluate(REMEMBERED) == server.token
    await page.evaluate("localStorage.setItem('spinney-token', 'sgd_of_a_guest')")
    opened = await page.context.new_page()
    await opened.goto(f"/#token={server.token}")
    await expect(opened.locator("#link")).to_have_text("connected")
    assert await opened.evaluate(REMEMBERED) == "sgd_of_a_guest"


async def test_a_browser_that_was_signed_in_by_an_address_stays_so_if_asked_to(page: Page) -> None:
    await page.goto("/#/server")
    await page.get_by_role("button", name="Stay signed in here").click()
    await expect(page.get_by_text("This browser stays signed in")).to_be_visible()
    opened = await page.context.new_page()
    await opened.goto("/")
    await expect(opened.locator("#link")).to_have_text("connected")


async def test_the_page_opens_the_view_in_its_address(
    open_page: OpenPage, session: Any, screen: Screen
) -> None:
    page = await open_page(f"/session/{session['id']}", screen=screen)
    await expect(page.locator("#title")).to_have_text("Fix the parser")
    assert page.url.endswith(f"#/session/{session['id']}")


async def test_a_wrong_token_is_rejected_and_the_right_one_signs_in(
    page: Page, server: Serving, page_errors: PageErrors
) -> None:
    page_errors.allow("401")
    await page.evaluate("sessionStorage.setItem('spinney-token', 'wrong')")
    await page.reload()
    await expect(page.get_by_role("heading", name="Sign in to Spinney")).to_be_visible()
    error = page.get_by_role("alert").filter(has_text="Wrong token.")
    await expect(error).to_be_visible()
    await expect(error).to_have_class("bad")
    await page.get_by_label("Token").fill(server.token)
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await expect(page.locator("#link")).to_have_text("connected")
    await expect(page.locator("#sign-in")).to_be_hidden()


async def test_the_tree_follows_changes_by_another_client(
    page: Page, client: Socket, session: Any
) -> None:
    row = page.locator(f'#tree a[href$="{session["id"]}"]')
    # The only session of a worktree shares its row.
    await expect(row).to_have_attribute("title", re.compile("Fix the parser$"))
    other = await client.call("create_session", worktreeId=session["worktree_id"], name="Another")
    await expect(row).to_have_text("·Fix the parser")
    await client.call("update_session", sessionId=session["id"], name="Repair the parser")
    await expect(row).to_have_text("·Repair the parser")
    await client.call("delete_session", sessionId=other["id"])
    await client.call("delete_session", sessionId=session["id"])
    await expect(row).to_have_count(0)


async def test_the_default_theme_is_requested_once_without_and_once_with_the_colors_of_code(
    page: Page,
) -> None:
    await expect(page.locator("#code-colors")).to_be_attached()
    urls = await page.evaluate(
        "() => performance.getEntriesByType('resource').map((each) => each.name)"
    )
    assert sum("/theme.css?plain" in name for name in urls) == 1
    assert sum("/theme.css?dark" in name for name in urls) <= 1


async def test_requests_of_the_first_view_wait_for_the_connection(
    open_page: OpenPage, worktree: Any
) -> None:
    scripts = {"scripts": {"run": "echo ripe"}}
    (Path(worktree["path"]) / "spinney.json").write_text(json.dumps(scripts))
    page = await open_page(f"/worktree/{worktree['id']}")
    await expect(page.locator(".script")).to_contain_text("echo ripe")


async def test_a_view_opened_before_its_data_arrives_is_shown_once_it_does(
    proxy: Proxy, open_page: OpenPage, client: Socket, repository: Path
) -> None:
    pages = [await open_page(base_url=proxy.base_url) for _ in range(4)]
    for page in pages:
        await expect(page.locator("#link")).to_have_text("connected")
    proxy.stall()
    project = await client.call("add_project", path=str(repository))
    worktree = await create_worktree(client, projectId=project["id"])
    places = {
        f"project/{project['id']}": "Settings",
        f"worktree/{worktree['id']}": "Push",
        f"diff/{worktree['id']}": "No unstaged changes.",
        "new": repository.name,
    }
    for page, place in zip(pages, places, strict=True):
        await page.goto(f"/#/{place}")
        missing = "No projects yet" if place == "new" else "does not exist"
        await expect(page.get_by_text(missing)).to_be_visible()
    await proxy.restore()
    for page, there in zip(pages, places.values(), strict=True):
        await expect(page.locator("#content")).to_contain_text(there)


async def test_what_is_typed_while_a_view_is_loaded_goes_into_its_box(page: Page) -> None:
    is_asked, is_allowed = asyncio.Event(), asyncio.Event()

    async def answer_later(route: Route) -> None:
        is_asked.set()
        await is_allowed.wait()
        await route.continue_()

    await page.route("**/views/search.js", answer_later)
    await page.evaluate("() => { location.hash = '#/search'; }")
    await is_asked.wait()
    await page.keyboard.type("quince?")
    is_allowed.set()
    await expect(page.get_by_label("Search messages")).to_have_value("quince?")
    await expect(page.locator("main .hint[role=status]")).to_have_text("No results for 'quince?'.")


async def test_an_unknown_address_shows_an_error_and_a_link_to_the_start_page(page: Page) -> None:
    home = page.get_by_role("link", name="Go to the start page")
    for address in ("/#/nonsense", "/nonsense"):
        await page.goto(address)
        await expect(page.get_by_text("There is nothing at this address.")).to_be_visible()
        await home.click()
        await expect(page.locator("#title")).to_have_text("Home")


async def test_a_path_without_a_hash_opens_the_same_view(page: Page, session: Any) -> None:
    await page.goto(f"/session/{session['id']}")
    await expect(page.locator("#title")).to_have_text(session["name"])
