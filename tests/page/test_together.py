"""Several clients at once: each shows what the others do."""

from typing import Any

from playwright.async_api import Page, expect

from tests.page.browser import PHONE
from tests.page.conftest import OpenPage
from tests.page.user_input import Pointer, SessionPage
from tests.server.conftest import Socket


async def open_two(open_page: OpenPage, session: Any) -> tuple[SessionPage, SessionPage]:
    """The session on a desktop and on a phone."""
    place = f"/session/{session['id']}"
    desk, phone = await open_page(place), await open_page(place, screen=PHONE)
    for page in (desk, phone):
        await expect(page.locator("#link")).to_contain_text("connected")
    return SessionPage(Pointer(desk)), SessionPage(Pointer(phone, touch=True))


async def test_a_message_and_its_answer_reach_every_client(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    desk, phone = await open_two(open_page, session)
    await desk.send("/demo say from the desk")
    for session_page in (desk, phone):
        await expect(session_page.answers.last).to_contain_text("from the desk")
        await session_page.wait_until_idle()
    await phone.send("/demo say from the phone")
    for session_page in (desk, phone):
        await expect(session_page.answers.last).to_contain_text("from the phone")
        await session_page.wait_until_idle()
    message = "/demo say from a script"
    await client.call("send_chat_message", sessionId=session["id"], message=message)
    for session_page in (desk, phone):
        await expect(session_page.answers.last).to_contain_text("from a script")


async def test_a_plan_approved_in_one_page_disappears_from_the_others(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    desk, phone = await open_two(open_page, session)
    needs = await open_page("/needs")
    await client.call(
        "send_chat_message", sessionId=session["id"], message="/demo plan say as planned"
    )
    pages = (desk.page, phone.page, needs)
    card = f'.waiting-item:has(a[href$="{session["id"]}"])'
    for page in pages[:2]:
        await expect(page.get_by_role("heading", name="Approve this plan?")).to_be_visible()
    await expect(needs.locator(card)).to_be_visible()
    await phone.press("Build")
    for page in pages[:2]:
        await expect(page.get_by_role("heading", name="Approve this plan?")).to_have_count(0)
    await expect(needs.locator(card)).to_have_count(0)
    for session_page in (desk, phone):
        await expect(session_page.answers.last).to_contain_text("as planned")


async def test_a_preference_takes_effect_on_every_page(page: Page, client: Socket) -> None:
    root = page.locator("html")
    for theme in ("light", "dark"):
        await client.call("update_preferences", changes={"theme": theme})
        await expect(root).to_have_attribute("data-theme", theme)


async def test_the_second_answer_to_a_question_is_rejected(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    desk, _ = await open_two(open_page, session)
    await client.call(
        "send_chat_message", sessionId=session["id"], message="/demo ask Tea or coffee? | Tea"
    )
    await expect(desk.button("Tea")).to_be_visible()
    request_id = (await client.call("get_session", sessionId=session["id"]))["request"]["id"]
    arguments = {"sessionId": session["id"], "requestId": request_id, "answer": "Neither"}
    await client.call("answer_question", **arguments)
    await expect(desk.answers.last).to_contain_text("You answered: Neither")
    await expect(desk.button("Answer")).to_have_count(0)
    again = {"id": "late", "command": "answer_question", "args": arguments}
    await client.send(again)
    assert (await client.answer("late"))["type"] == "error"
