"""The tree of projects in the drawer: quick with thousands of rows, filtered, folded."""

import json
from typing import Any

import pytest_asyncio
from playwright.async_api import Page, Route, expect

from tests.page.browser import Screen, ready
from tests.page.conftest import OpenPage

PROJECTS, WORKTREES, SESSIONS = 300, 4, 3


def crowded(snapshot: Any) -> Any:
    """A snapshot with many more of the projects, worktrees and sessions that it holds."""
    project = snapshot["projects"][0]
    worktree = next(iter(snapshot["worktreesByProject"][project["id"]]))
    session = next(iter(snapshot["sessionsByWorktree"][worktree["id"]]))
    for p in range(PROJECTS):
        made = {**project, "id": f"p{p}", "name": f"project {p}", "order": 1000 + p}
        snapshot["projects"].append(made)
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
async def crowd(open_page: OpenPage, session: Any, screen: Screen) -> Page:
    """A page that was told of thousands of rows."""
    page = await open_page(f"/session/{session['id']}", screen=screen)

    async def answer(route: Route) -> None:
        response = await route.fetch()
        told = crowded(json.loads(await response.text()))
        await route.fulfill(response=response, json=told)

    await page.route("**/api/init", answer)
    await page.reload()
    await ready(page)
    await drawn_out(page)
    return page


async def drawn_out(page: Page) -> None:
    """Have the drawer in sight, where the screen has no room for it."""
    menu = page.get_by_role("button", name="Projects")
    if await menu.is_visible():
        await menu.click()


async def test_of_thousands_of_rows_only_those_in_sight_are_drawn(crowd: Page) -> None:
    rows = crowd.locator("#tree li")
    await expect(crowd.get_by_role("link", name="project 0", exact=True)).to_be_visible()
    assert await rows.count() < 100
    total = PROJECTS * (1 + WORKTREES * (1 + SESSIONS))
    assert int(await rows.first.get_attribute("aria-setsize") or "") >= total
    await crowd.locator("#tree").evaluate("(nav) => nav.scrollTo(0, nav.scrollHeight)")
    last = crowd.get_by_role("link", name=f"talk {PROJECTS - 1}.{WORKTREES - 1}.{SESSIONS - 1}")
    await expect(last).to_be_visible()
    assert await rows.count() < 100


async def test_the_filter_leaves_what_is_called_so_and_where_it_lies(crowd: Page) -> None:
    box = crowd.get_by_role("searchbox", name="Filter projects")
    await box.fill("talk 217.2.1")
    names = crowd.locator("#tree .rows .name")
    await expect(names).to_have_text(["project 217", "tree 217.2", "talk 217.2.1"])
    await box.press("Enter")
    assert crowd.url.endswith("#/session/p217w2s1")
    await drawn_out(crowd)
    await box.fill("")
    await expect(crowd.get_by_role("link", name="talk 217.2.1")).to_have_attribute(
        "aria-current", "page"
    )


async def test_folds_are_kept_and_keep_the_focus(crowd: Page) -> None:
    fold = crowd.get_by_role("button", name="Collapse project 0", exact=True)
    await fold.focus()
    await crowd.keyboard.press("Enter")
    unfold = crowd.get_by_role("button", name="Expand project 0", exact=True)
    await expect(unfold).to_be_focused()
    await expect(crowd.get_by_role("link", name="tree 0.0", exact=True)).to_have_count(0)
    await crowd.reload()
    await ready(crowd)
    await drawn_out(crowd)
    await expect(unfold).to_be_visible()
