"""Actions on sessions: rename, archive, restore, delete; navigation to sessions and messages."""

from typing import Any

import pytest_asyncio
from playwright.async_api import expect

from tests.page.browser import DESKTOP, Screen
from tests.page.conftest import OpenPage
from tests.page.user_input import Pointer, SessionPage
from tests.server.conftest import Socket


@pytest_asyncio.fixture(loop_scope="session")
async def session_page(open_page: OpenPage, session: Any, screen: Screen) -> SessionPage:
    """The session's page, operated by mouse or by touch."""
    page = await open_page(f"/session/{session['id']}", screen=screen)
    await expect(page.locator("#title")).to_have_text(session["name"])
    return SessionPage(Pointer(page, touch=screen.touch))


async def choose_action(session_page: SessionPage, name: str) -> None:
    """Choose an action from the session's menu."""
    await session_page.press("Session actions")
    await session_page.press(name)


async def archive(session_page: SessionPage) -> None:
    """Archive the session and confirm it."""
    await choose_action(session_page, "Archive the session")
    await session_page.press("Archive")


async def test_a_session_is_renamed(session_page: SessionPage) -> None:
    await choose_action(session_page, "Rename the session")
    await session_page.page.get_by_role("textbox", name="Rename the session").fill(
        "Mend the parser"
    )
    await session_page.press("Rename")
    await expect(session_page.page.locator("#title")).to_have_text("Mend the parser")


async def test_a_session_is_archived_and_restored(
    session_page: SessionPage, client: Socket, session: Any
) -> None:
    await archive(session_page)
    toast = session_page.page.get_by_role("status").filter(has_text="Archived")
    await expect(toast).to_be_visible()
    assert "#/worktree/" in session_page.page.url
    await session_page.user.press(toast.get_by_role("button", name="Undo"))
    await expect(
        session_page.page.locator("main").get_by_role("link", name=session["name"])
    ).to_be_visible()
    assert "archived_at" not in await client.call("get_session", sessionId=session["id"])


async def test_a_session_is_archived_without_confirmation_if_preferred(
    session_page: SessionPage, client: Socket
) -> None:
    await client.call("update_preferences", changes={"confirm_session_close": False})
    try:
        await choose_action(session_page, "Archive the session")
        toast = session_page.page.get_by_role("status").filter(has_text="Archived")
        await expect(toast).to_be_visible()
    finally:
        await client.call("update_preferences", changes={"confirm_session_close": True})


async def test_an_archived_session_can_be_read_from_the_archive(
    session_page: SessionPage, session: Any
) -> None:
    await session_page.send("/demo say kept")
    await expect(session_page.answers.last).to_contain_text("kept")
    await session_page.wait_until_idle()
    await archive(session_page)
    await expect(
        session_page.page.get_by_role("status").filter(has_text="Archived")
    ).to_be_visible()
    await session_page.page.goto("/#/archive")
    await session_page.user.press(
        session_page.page.locator("main").get_by_role("link", name=session["name"])
    )
    await expect(session_page.answers.last).to_contain_text("kept")
    await expect(session_page.button("Restore").first).to_be_visible()


async def test_a_session_is_deleted_after_a_confirmation(
    session_page: SessionPage, session: Any
) -> None:
    await choose_action(session_page, "Delete the session")
    await session_page.press("Cancel")
    await expect(session_page.page.locator("#title")).to_have_text(session["name"])
    await choose_action(session_page, "Delete the session")
    await session_page.press("Delete")
    await expect(session_page.page.locator(f'#tree a[href$="{session["id"]}"]')).to_have_count(0)
    assert session["id"] not in session_page.page.url


async def test_the_next_session_that_needs_the_user_is_opened(
    session_page: SessionPage, client: Socket, session: Any
) -> None:
    waiting = []
    for name in ("one", "two"):
        created = await client.call("create_session", worktreeId=session["worktree_id"], name=name)
        await client.call(
            "send_chat_message", sessionId=created["id"], message="/demo ask What? | A | B"
        )
        row = session_page.page.locator(f'#tree a[href$="{created["id"]}"] [data-mark="needs-you"]')
        await expect(row).to_have_count(1)
        waiting.append(created)
    await session_page.page.keyboard.press("Control+Space")
    await expect(session_page.page.locator("#title")).to_have_text("one")
    await session_page.page.keyboard.press("Control+Space")
    await expect(session_page.page.locator("#title")).to_have_text("two")
    await choose_action(session_page, "Go to the next session that needs you")
    await expect(session_page.page.locator("#title")).to_have_text("one")
    for created in waiting:
        await client.call("delete_session", sessionId=created["id"])


async def test_a_search_hit_opens_the_session_at_the_highlighted_message(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    given = {"sessionId": session["id"]}
    await client.call("send_chat_message", message="/demo say quincunx", **given)
    await client.event("message-completed")
    for number in range(70):
        await client.call("send_chat_message", message=f"/demo say {number}", **given)
        await client.event("message-completed")
    page = await open_page("/search?q=quincunx", screen=DESKTOP)
    await page.locator(".hit a.session").last.click()
    found = page.locator(".message.highlighted")
    await expect(found).to_contain_text("quincunx")
    await expect(found).to_be_in_viewport()


async def test_a_long_tool_result_is_shown_in_full_on_request(session_page: SessionPage) -> None:
    await session_page.choose_mode("yolo")
    await session_page.send("/demo run seq 1 20000")
    await session_page.wait_until_idle()
    tool = session_page.answers.last.locator("details.tool").first
    await session_page.user.press(tool.locator("summary"))
    output = tool.locator("pre.output")
    await expect(output).to_contain_text("are left out here")
    await session_page.user.press(tool.get_by_role("button", name="Show all"))
    await expect(output).to_contain_text("\n10000\n")
    await expect(output).not_to_contain_text("are left out here")
    await expect(tool.get_by_role("button", name="show")).to_have_count(0)
