"""The page starts: signed in by its address or by hand, and shows what needs a person."""

import json
from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect

from tests.page.browser import Faults, Screen
from tests.page.conftest import OpenPage, made_worktree
from tests.page.line import Line
from tests.program import Serving
from tests.server.conftest import Socket


async def test_the_token_leaves_the_address_at_once(page: Page, served: Serving) -> None:
    assert served.token not in page.url
    await page.reload()
    await expect(page.locator("#link")).to_have_text("connected")


async def test_it_opens_at_the_place_that_the_address_names(
    open_page: OpenPage, session: Any, screen: Screen
) -> None:
    page = await open_page(f"/session/{session['id']}", screen=screen)
    await expect(page.locator("#title")).to_have_text("Fix the parser")
    assert page.url.endswith(f"#/session/{session['id']}")


async def test_a_wrong_token_is_told_and_the_right_one_lets_in(
    page: Page, served: Serving, faults: Faults
) -> None:
    faults.allow("401")
    await page.evaluate("sessionStorage.setItem('spinney-token', 'wrong')")
    await page.reload()
    await expect(page.get_by_role("heading", name="Sign in to Spinney")).to_be_visible()
    refused = page.get_by_role("alert").filter(has_text="Wrong token.")
    await expect(refused).to_be_visible()
    await expect(refused).to_have_class("bad")
    await page.get_by_label("Token").fill(served.token)
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await expect(page.locator("#link")).to_have_text("connected")
    await expect(page.locator("#sign-in")).to_be_hidden()


async def test_what_another_client_makes_stands_in_the_tree(
    page: Page, other: Socket, session: Any
) -> None:
    row = page.locator(f'#tree a[href$="{session["id"]}"]')
    await expect(row).to_contain_text("Fix the parser")
    await other.call("update_session", sessionId=session["id"], name="Mend the parser")
    await expect(row).to_contain_text("Mend the parser")
    await other.call("delete_session", sessionId=session["id"])
    await expect(row).to_have_count(0)


async def test_the_colours_of_who_never_chose_any_are_asked_for_once(page: Page) -> None:
    asked = await page.evaluate(
        "() => performance.getEntriesByType('resource').map((each) => each.name)"
    )
    assert sum("/theme.css" in name for name in asked) == 1


async def test_what_a_place_asks_at_the_start_is_asked_once_the_connection_is_there(
    open_page: OpenPage, worktree: Any
) -> None:
    scripts = {"scripts": {"run": "echo ripe"}}
    (Path(worktree["path"]) / "spinney.json").write_text(json.dumps(scripts))
    page = await open_page(f"/worktree/{worktree['id']}")
    await expect(page.locator(".script")).to_contain_text("echo ripe")


async def test_a_place_that_is_opened_before_it_is_told_of_is_shown_once_it_is(
    line: Line, open_page: OpenPage, other: Socket, repository: Path
) -> None:
    pages = [await open_page(base_url=line.base_url) for _ in range(4)]
    for page in pages:
        await expect(page.locator("#link")).to_have_text("connected")
    line.hold()
    project = await other.call("add_project", path=str(repository))
    worktree = await made_worktree(other, projectId=project["id"])
    places = {
        f"project/{project['id']}": "Refresh",
        f"worktree/{worktree['id']}": "Push",
        f"diff/{worktree['id']}": "Refresh",
        "new": repository.name,
    }
    for page, place in zip(pages, places, strict=True):
        await page.goto(f"/#/{place}")
        missing = "No projects yet" if place == "new" else "does not exist"
        await expect(page.get_by_text(missing)).to_be_visible()
    await line.restore()
    for page, there in zip(pages, places.values(), strict=True):
        await expect(page.locator("#content")).to_contain_text(there)


async def test_an_address_that_names_nothing_says_so_and_leads_home(page: Page) -> None:
    home = page.get_by_role("link", name="Go to the start page")
    for address in ("/#/nonsense", "/nonsense"):
        await page.goto(address)
        await expect(page.get_by_text("There is nothing at")).to_contain_text("/nonsense")
        await home.click()
        await expect(page.locator("#title")).to_have_text("Needs you")


async def test_a_path_without_its_hash_is_the_same_place(page: Page, session: Any) -> None:
    await page.goto(f"/session/{session['id']}")
    await expect(page.locator("#title")).to_have_text(session["name"])
