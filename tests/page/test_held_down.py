"""Pressed buttons and focused text boxes survive updates of the page."""

import re
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, Page, expect

from tests.page.conftest import OpenPage
from tests.server.conftest import Socket


async def hold_down(page: Page, control: Locator) -> None:
    """Press the mouse button on the control without releasing it."""
    await control.hover()
    await page.mouse.down()


async def test_a_click_works_if_the_page_updates_while_the_button_is_down(
    open_page: OpenPage, client: Socket, project: Any, worktree: Any, session: Any
) -> None:
    page = await open_page(f"/worktree/{worktree['id']}")
    main = page.get_by_role("main")
    await hold_down(page, main.get_by_role("button", name="New session"))
    (Path(worktree["path"]) / "news.txt").write_text("one\n")
    await client.call("fetch_worktrees_status", projectId=project["id"])
    await expect(main.locator("ins").first).to_be_visible()
    await page.mouse.up()
    await expect(page).to_have_url(re.compile("#/session/"))
    assert len(await client.call("list_sessions", worktreeId=worktree["id"])) == 2

    await client.call("archive_worktree", worktreeId=worktree["id"])
    await page.goto("/#/archive")
    row = main.locator(".archived").filter(has_text=worktree["name"])
    await hold_down(page, row.get_by_role("button", name="Restore"))
    another = await client.call("create_worktree", projectId=project["id"], customName="another")
    await expect(page.locator("#tree").get_by_role("link", name=another["name"])).to_be_visible()
    await page.mouse.up()
    await expect(row).to_have_count(0)


async def test_an_answer_keeps_focus_when_the_request_above_it_is_answered(
    open_page: OpenPage, client: Socket, worktree: Any, session: Any
) -> None:
    second = await client.call("create_session", worktreeId=worktree["id"], name="Second")
    for each in (session, second):
        words = "/demo ask Tea or coffee? | Tea | Coffee"
        await client.call("send_chat_message", sessionId=each["id"], message=words)
    page = await open_page("/needs")
    cards = page.locator(".waiting-item")
    await expect(cards).to_have_count(2)
    box = cards.last.get_by_role("textbox")
    await box.fill("Wat")
    first = session if "Second" in await cards.last.inner_text() else second
    await client.call("answer_question", sessionId=first["id"], answer="Tea")
    await expect(cards).to_have_count(1)
    await page.keyboard.type("er")
    await expect(cards.get_by_role("textbox")).to_have_value("Water")
