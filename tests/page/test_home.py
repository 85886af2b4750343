"""The start view: what needs you, what runs, what has finished."""

from typing import Any

from playwright.async_api import Page, expect

from tests.page.browser import PHONE
from tests.page.conftest import OpenPage, create_worktree
from tests.server.conftest import Socket


async def test_a_plan_is_read_and_approved_in_one_tap(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    plan = "/demo plan write a.txt: b"
    await client.call("send_chat_message", sessionId=session["id"], message=plan)
    phone = await open_page(screen=PHONE)
    needs = phone.get_by_role("region", name="Needs you")
    await expect(needs.get_by_role("list").filter(has_text="write a.txt: b")).to_be_visible()
    await needs.get_by_role("button", name="Build").tap()
    await expect(needs).to_be_hidden()
    recent = phone.get_by_role("region", name="Recent").get_by_role("link")
    await expect(recent).to_contain_text("Fix the parser")
    await recent.tap()
    await expect(phone.locator("#title")).to_have_text("Fix the parser")


async def test_the_choice_of_an_option_answers_a_question(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    question = "/demo ask Tea or coffee? | Tea | Coffee"
    await client.call("send_chat_message", sessionId=session["id"], message=question)
    phone = await open_page(screen=PHONE)
    await phone.get_by_role("button", name="Coffee").tap()
    await expect(phone.get_by_text("All quiet.")).to_be_visible()
    await expect(phone.locator(".toast")).to_have_count(0)  # it is listed below
    messages = (await client.call("get_messages", sessionId=session["id"]))["messages"]
    assert "You answered: Coffee" in str(messages)


async def test_a_running_session_shows_its_last_line_and_is_stopped_in_one_tap(
    page: Page, client: Socket, project: Any, session: Any
) -> None:
    message = "/demo say One line.\n\n/demo say Newest **line**.\n/demo wait 600"
    await client.call("send_chat_message", sessionId=session["id"], message=message)
    card = page.get_by_role("region", name="Running").get_by_role("listitem")
    await expect(card).to_contain_text("Newest line.")
    # Sessions that were at work before the page was opened are shown in the same way.
    await page.reload()
    await expect(card).to_contain_text("Newest line.")
    await card.get_by_role("button", name="Stop Fix the parser").click()
    await expect(card).to_have_count(0)
    stopped = await client.call("get_session", sessionId=session["id"])
    assert stopped["last_run"]["status"] == "cancelled"


async def test_unread_sessions_come_first(page: Page, client: Socket, project: Any) -> None:
    made = []
    for name in ("first", "second", "third"):
        worktree = await create_worktree(client, projectId=project["id"], customName=name)
        session = await client.call("create_session", worktreeId=worktree["id"], name=name)
        await client.call("send_chat_message", sessionId=session["id"], message="/demo say hello")
        await client.event("message-completed")
        made.append(session)
    rows = page.get_by_role("region", name="Recent").get_by_role("listitem")
    await expect(rows.locator('[data-mark="unread"]')).to_have_count(3)
    await client.call("mark_session_read", sessionId=made[2]["id"])
    await expect(rows.locator("b")).to_have_text(["second", "first", "third"])


async def test_without_a_project_the_ways_to_one_are_offered(page: Page) -> None:
    await expect(page.get_by_role("heading", name="No projects yet")).to_be_visible()
    await page.locator("main").get_by_role("button", name="Add a project").click()
    await expect(page.get_by_role("dialog")).to_be_visible()
