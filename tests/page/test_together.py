"""Several people at once: what one does is seen by all of them, without asking."""

from typing import Any

from playwright.async_api import Page, expect

from tests.page.browser import PHONE
from tests.page.conftest import OpenPage
from tests.page.person import Conversation, Pointer
from tests.server.conftest import Socket


async def two_people(open_page: OpenPage, session: Any) -> tuple[Conversation, Conversation]:
    """One at a desk and one on a phone, both at the session."""
    place = f"/session/{session['id']}"
    desk, phone = await open_page(place), await open_page(place, screen=PHONE)
    for page in (desk, phone):
        await expect(page.locator("#link")).to_contain_text("connected")
    return Conversation(Pointer(desk)), Conversation(Pointer(phone, touch=True))


async def test_a_message_and_its_answer_reach_everybody(
    open_page: OpenPage, other: Socket, session: Any
) -> None:
    desk, phone = await two_people(open_page, session)
    await desk.say("/demo say from the desk")
    for person in (desk, phone):
        await expect(person.answers.last).to_contain_text("from the desk")
        await person.idle()
    await phone.say("/demo say from the phone")
    for person in (desk, phone):
        await expect(person.answers.last).to_contain_text("from the phone")
        await person.idle()
    said = {"sessionId": session["id"], "message": "/demo say from a script"}
    await other.call("send_chat_message", **said)
    for person in (desk, phone):
        await expect(person.answers.last).to_contain_text("from a script")


async def test_a_plan_is_approved_by_one_and_gone_for_the_others(
    open_page: OpenPage, other: Socket, session: Any
) -> None:
    desk, phone = await two_people(open_page, session)
    needs = await open_page("/needs")
    await other.call(
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
    for person in (desk, phone):
        await expect(person.answers.last).to_contain_text("as planned")


async def test_a_preference_takes_effect_on_every_page(page: Page, other: Socket) -> None:
    root = page.locator("html")
    for theme in ("light", "dark"):
        await other.call("update_preferences", changes={"theme": theme})
        await expect(root).to_have_attribute("data-theme", theme)


async def test_two_answers_at_once_are_one_and_the_other_is_told(
    open_page: OpenPage, other: Socket, session: Any
) -> None:
    desk, _ = await two_people(open_page, session)
    await other.call(
        "send_chat_message", sessionId=session["id"], message="/demo ask Tea or coffee? | Tea"
    )
    await desk.press("Tea")
    asked = (await other.call("get_session", sessionId=session["id"]))["request"]["id"]
    given = {"sessionId": session["id"], "requestId": asked, "answer": "Neither"}
    await other.call("answer_question", **given)
    await expect(desk.answers.last).to_contain_text("You answered: Neither")
    await expect(desk.button("Answer")).to_have_count(0)
    again = {"id": "late", "command": "answer_question", "args": given}
    await other.send(again)
    assert (await other.answer("late"))["type"] == "error"
