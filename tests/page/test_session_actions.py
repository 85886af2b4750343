"""What is done with a session beside talking: name, place, end; and finding a message."""

from typing import Any

import pytest_asyncio
from playwright.async_api import expect

from tests.page.browser import DESKTOP, Screen
from tests.page.conftest import OpenPage
from tests.page.person import Conversation, Pointer
from tests.server.conftest import Socket


@pytest_asyncio.fixture(loop_scope="session")
async def at(open_page: OpenPage, session: Any, screen: Screen) -> Conversation:
    """Somebody at the session, by mouse and by touch."""
    page = await open_page(f"/session/{session['id']}", screen=screen)
    await expect(page.locator("#title")).to_have_text(session["name"])
    return Conversation(Pointer(page, touch=screen.touch))


async def do(at: Conversation, words: str) -> None:
    """Choose it from the session's menu."""
    await at.press("Session actions")
    await at.press(words)


async def archive(at: Conversation) -> None:
    """Archive the session, and say that this is meant."""
    await do(at, "Archive the session")
    await at.press("Archive")


async def test_a_session_is_renamed(at: Conversation) -> None:
    await do(at, "Rename the session")
    await at.page.get_by_role("textbox", name="Rename the session").fill("Mend the parser")
    await at.press("Rename")
    await expect(at.page.locator("#title")).to_have_text("Mend the parser")


async def test_a_session_is_archived_and_brought_back(
    at: Conversation, other: Socket, session: Any
) -> None:
    await archive(at)
    told = at.page.get_by_role("status").filter(has_text="Archived")
    await expect(told).to_be_visible()
    assert "#/worktree/" in at.page.url
    await at.hands.press(told.get_by_role("button", name="Undo"))
    await expect(at.page.locator("main").get_by_role("link", name=session["name"])).to_be_visible()
    assert "archived_at" not in await other.call("get_session", sessionId=session["id"])


async def test_a_session_is_archived_without_a_question_where_none_is_wanted(
    at: Conversation, other: Socket
) -> None:
    await other.call("update_preferences", changes={"confirm_session_close": False})
    try:
        await do(at, "Archive the session")
        told = at.page.get_by_role("status").filter(has_text="Archived")
        await expect(told).to_be_visible()
    finally:
        await other.call("update_preferences", changes={"confirm_session_close": True})


async def test_what_is_archived_can_be_read_from_the_archive(
    at: Conversation, session: Any
) -> None:
    await at.say("/demo say kept")
    await expect(at.answers.last).to_contain_text("kept")
    await at.idle()
    await archive(at)
    await expect(at.page.get_by_role("status").filter(has_text="Archived")).to_be_visible()
    await at.page.goto("/#/archive")
    await at.hands.press(at.page.locator("main").get_by_role("link", name=session["name"]))
    await expect(at.answers.last).to_contain_text("kept")
    await expect(at.button("Restore").first).to_be_visible()


async def test_a_session_is_deleted_after_a_question(at: Conversation, session: Any) -> None:
    await do(at, "Delete the session permanently")
    await at.press("Cancel")
    await expect(at.page.locator("#title")).to_have_text(session["name"])
    await do(at, "Delete the session permanently")
    await at.press("Delete permanently")
    await expect(at.page.locator(f'#tree a[href$="{session["id"]}"]')).to_have_count(0)
    assert session["id"] not in at.page.url


async def test_the_next_that_needs_a_person_is_gone_to(
    at: Conversation, other: Socket, session: Any
) -> None:
    waiting = []
    for name in ("one", "two"):
        made = await other.call("create_session", worktreeId=session["worktree_id"], name=name)
        await other.call(
            "send_chat_message", sessionId=made["id"], message="/demo ask What? | A | B"
        )
        row = at.page.locator(f'#tree a[href$="{made["id"]}"] [data-mark="needs-you"]')
        await expect(row).to_have_count(1)
        waiting.append(made)
    await at.page.keyboard.press("Control+Space")
    await expect(at.page.locator("#title")).to_have_text("one")
    await at.page.keyboard.press("Control+Space")
    await expect(at.page.locator("#title")).to_have_text("two")
    await do(at, "Go to the next session that needs you")
    await expect(at.page.locator("#title")).to_have_text("one")
    for made in waiting:
        await other.call("delete_session", sessionId=made["id"])


async def test_a_message_found_by_search_is_read_back_to_and_marked(
    open_page: OpenPage, other: Socket, session: Any
) -> None:
    given = {"sessionId": session["id"]}
    await other.call("send_chat_message", message="/demo say quincunx", **given)
    await other.event("message-completed")
    for number in range(70):
        await other.call("send_chat_message", message=f"/demo say {number}", **given)
        await other.event("message-completed")
    page = await open_page("/search?q=quincunx", screen=DESKTOP)
    await page.locator(".hit a.session").last.click()
    found = page.locator(".message.highlighted")
    await expect(found).to_contain_text("quincunx")
    await expect(found).to_be_in_viewport()


async def test_a_long_result_is_shown_whole_when_asked_for(at: Conversation) -> None:
    await at.hands.choose(at.page.get_by_role("combobox", name="Mode", exact=True), "yolo")
    await at.say("/demo run seq 1 20000")
    await at.idle()
    tool = at.answers.last.locator("details.tool").first
    await at.hands.press(tool.locator("summary"))
    output = tool.locator("pre.output")
    await expect(output).to_contain_text("are left out here")
    await at.hands.press(tool.get_by_role("button", name="Show all"))
    await expect(output).to_contain_text("\n10000\n")
    await expect(output).not_to_contain_text("are left out here")
    await expect(tool.get_by_role("button", name="show")).to_have_count(0)
