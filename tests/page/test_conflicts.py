"""Conflicts to come: from the mark in the tree, both versions, and a message to a session."""

import re
from pathlib import Path
from typing import Any

from playwright.async_api import expect

from tests.page.browser import PHONE
from tests.page.conftest import OpenPage, create_worktree
from tests.server.conftest import Socket

TOO_WIDE = "() => document.documentElement.scrollWidth > innerWidth"


async def test_a_conflict_to_come_is_shown_and_written_about(
    client: Socket, open_page: OpenPage, session: Any, project: Any
) -> None:
    worktree = await client.call("get_worktree", worktreeId=session["worktree_id"])
    other = await create_worktree(client, projectId=project["id"])
    ours, theirs = (Path(each["path"]) / "orchard.py" for each in (worktree, other))
    ours.write_text("def count(trees):\n    return 1\n")
    theirs.write_text("def count(trees):\n    return 2\n    # two\n")
    await client.call("fetch_worktrees_status", projectId=project["id"])
    page = await open_page(f"/session/{session['id']}")
    phone = await open_page(f"/project/{project['id']}", screen=PHONE)

    mark = page.locator("#tree").get_by_role("link", name="would conflict").first
    await mark.focus()
    await page.keyboard.press("Enter")
    pair = page.locator(".conflicts section.card")
    await expect(pair.locator("h2")).to_contain_text(f"{worktree['name']} and {other['name']}")
    await expect(pair.locator("figure").first).to_contain_text("line 2")
    await expect(pair.locator("figure").last).to_contain_text("return 2\n    # two")

    await phone.get_by_role("button", name="More actions").tap()
    await phone.get_by_role("button", name="Conflicts to come").tap()
    await expect(phone.locator(".conflicts section.card")).to_contain_text("return 1")
    assert not await phone.evaluate(TOO_WIDE)
    await phone.get_by_role("button", name=f"Write to {worktree['name']}").tap()
    box = phone.get_by_role("textbox", name="Message")
    await expect(box).to_have_value(re.compile(f"in '{other['name']}' will be in conflict"))
    assert (await client.call("get_session", sessionId=session["id"]))["message_count"] == 0

    theirs.write_text("def count(trees):\n    return len(trees)\n")
    await client.call("fetch_worktrees_status", projectId=project["id"])
    await expect(page.locator("#content")).to_contain_text("No worktrees of this project would")
    await expect(page.locator("#tree").get_by_text("would conflict")).to_have_count(0)


async def test_the_matrix_of_three_worktrees_leads_to_each_pair(
    client: Socket, open_page: OpenPage, project: Any
) -> None:
    made = [await create_worktree(client, projectId=project["id"]) for _ in range(3)]
    for number, worktree in enumerate(made):
        (Path(worktree["path"]) / "orchard.py").write_text(
            f"def count(trees):\n    return {number}\n"
        )
    await client.call("fetch_worktrees_status", projectId=project["id"])
    page = await open_page(f"/conflicts/{project['id']}", screen=PHONE)

    first, *_, last = sorted(worktree["name"] for worktree in made)
    matrix = page.locator(".conflicts .matrix")
    await expect(matrix.get_by_role("button")).to_have_count(3)
    assert not await page.evaluate(TOO_WIDE)
    await matrix.get_by_role("button", name=f"1 file: {first} and {last}").tap()
    pair = page.locator(".conflicts section.card").filter(
        has_text=re.compile(f"{first}.*{last}|{last}.*{first}")
    )
    await expect(pair.first).to_be_in_viewport()
