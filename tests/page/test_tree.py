"""The tree of projects: thousands of rows, filter, collapsed rows."""

import json
from typing import Any

import pytest_asyncio
from playwright.async_api import Page, Route, expect

from tests.page.browser import Screen, wait_until_ready
from tests.page.conftest import OpenPage

PROJECTS, WORKTREES, SESSIONS = 300, 4, 3


def add_rows(snapshot: Any) -> Any:
    """Add copies of the snapshot's project, worktree and session by the thousand."""
    project = snapshot["projects"][0]
    worktree = next(iter(snapshot["worktreesByProject"][project["id"]]))
    session = next(iter(snapshot["sessionsByWorktree"][worktree["id"]]))
    for p in range(PROJECTS):
        copy = {**project, "id": f"p{p}", "name": f"project {p}", "order": 1000 + p}
        snapshot["projects"].append(copy)
        snapshot["worktreesByProject"][f"p{p}"] = []
        for w in range(WORKTREES):
            key = f"p{p}w{w}"
            tree = {**worktree, "id": key, "name": f"tree {p}.{w}", "project_id": f"p{p}"}
            snapshot["worktreesByProject"][f"p{p}"].append({**tree, "order": w})
            snapshot["sessionsByWorktree"][key] = [
                {
                    **session,
                    "id": f"{key}s{s}",
                    "name": f"talk {p}.{w}.{s}",
                    "worktree_id": key,
                    "order": s,
                }
                for s in range(SESSIONS)
            ]
    return snapshot


@pytest_asyncio.fixture(loop_scope="session")
async def large_tree(open_page: OpenPage, session: Any, screen: Screen) -> Page:
    """A page whose tree has thousands of rows."""
    page = await open_page(f"/session/{session['id']}", screen=screen)

    async def answer(route: Route) -> None:
        response = await route.fetch()
        snapshot = add_rows(json.loads(await response.text()))
        await route.fulfill(response=response, json=snapshot)

    await page.route("**/api/init", answer)
    await page.reload()
    await wait_until_ready(page)
    await open_drawer(page)
    return page


async def open_drawer(page: Page) -> None:
    """Open the drawer with the tree, on screens that have one."""
    menu = page.get_by_role("button", name="Projects")
    if await menu.is_visible():
        await menu.click()


async def test_only_visible_rows_are_drawn(large_tree: Page) -> None:
    rows = large_tree.locator("#tree li")
    await expect(large_tree.get_by_role("link", name="project 0", exact=True)).to_be_visible()
    assert await rows.count() < 100
    total = PROJECTS * (1 + WORKTREES * (1 + SESSIONS))
    assert int(await rows.first.get_attribute("aria-setsize") or "") >= total
    await large_tree.locator("#tree .scroller").evaluate(
        "(nav) => nav.scrollTo(0, nav.scrollHeight)"
    )
    last = large_tree.get_by_role(
        "link", name=f"talk {PROJECTS - 1}.{WORKTREES - 1}.{SESSIONS - 1}"
    )
    await expect(last).to_be_visible()
    assert await rows.count() < 100


async def test_the_filter_keeps_matching_rows_and_their_parents(large_tree: Page) -> None:
    box = large_tree.get_by_role("searchbox", name="Filter projects")
    await box.fill("talk 217.2.1")
    names = large_tree.locator("#tree .rows .name")
    await expect(names).to_have_text(["project 217", "tree 217.2", "talk 217.2.1"])
    await box.press("Enter")
    assert large_tree.url.endswith("#/session/p217w2s1")
    await open_drawer(large_tree)
    await box.fill("")
    link = large_tree.locator("#tree").get_by_role("link", name="talk 217.2.1")
    await expect(link).to_have_attribute("aria-current", "page")


async def test_collapsed_rows_survive_a_reload_and_keep_the_focus(large_tree: Page) -> None:
    fold = large_tree.get_by_role("button", name="Collapse project 0", exact=True)
    await fold.focus()
    await large_tree.keyboard.press("Enter")
    unfold = large_tree.get_by_role("button", name="Expand project 0", exact=True)
    await expect(unfold).to_be_focused()
    await expect(large_tree.get_by_role("link", name="tree 0.0", exact=True)).to_have_count(0)
    await large_tree.reload()
    await wait_until_ready(large_tree)
    await open_drawer(large_tree)
    await expect(unfold).to_be_visible()


async def test_a_phone_on_its_side_has_room_for_rows(open_page: OpenPage, session: Any) -> None:
    page = await open_page(screen=Screen(844, 390, touch=True))
    rows = await page.locator("#tree .scroller").bounding_box()
    assert rows is not None and rows["height"] > 140
    await expect(page.locator("#tree").get_by_role("link", name="All sessions")).to_be_in_viewport()
