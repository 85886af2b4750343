"""Notices on the page: the list on the start view, the matrix, and which session is shown."""

from typing import Any

from playwright.async_api import expect

from tests.page.conftest import OpenPage
from tests.server.conftest import Socket


async def test_a_failed_session_is_listed_until_it_is_dismissed(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    page = await open_page("/")
    notices = page.locator(".feed.notices")
    await expect(notices).to_be_hidden()
    await client.call("send_chat_message", sessionId=session["id"], message="/demo fail auth")
    row = notices.get_by_role("listitem")
    await expect(row).to_contain_text("Fix the parser has failed")
    await row.get_by_role("button", name="Dismiss: Fix the parser has failed").click()
    await expect(notices).to_be_hidden()
    assert await client.call("list_notices") == []


async def test_the_matrix_saves_each_box_and_the_channels_can_be_tested(
    open_page: OpenPage, client: Socket
) -> None:
    page = await open_page("/preferences/Away")
    box = page.get_by_role("checkbox", name="Plan by Command")
    await expect(box).to_be_checked()
    await box.uncheck()
    await client.until(
        lambda found: "command" not in found["notify_matrix"]["plan"], "get_preferences"
    )
    preferences = await client.call("get_preferences")
    assert "command" in preferences["notify_matrix"]["question"]
    await client.call(
        "update_preferences",
        changes={"notify_matrix": {"plan": []}, "notify_command": ["/no/such/program"]},
    )
    await expect(page.get_by_role("checkbox", name="Plan by Page")).not_to_be_checked()
    await page.get_by_role("button", name="Send a test notice").click()
    await expect(page.get_by_text("Command failed: '/no/such/program'")).to_be_visible()
    await expect(page.get_by_text("Page: shown where one is open.")).to_be_visible()


async def test_nothing_is_sent_about_the_session_that_the_page_shows(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}")
    await page.bring_to_front()
    await page.evaluate("window.dispatchEvent(new Event('focus'))")
    await client.call("send_chat_message", sessionId=session["id"], message="/demo ask Tea? | Yes")
    await expect(page.get_by_role("button", name="Answer")).to_be_visible()
    [notice] = await client.until(bool, "list_notices")
    assert notice["sent"] == {}
