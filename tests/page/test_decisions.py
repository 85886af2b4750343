"""Requests that wait for the user: text approves nothing and is kept; no accidental decisions."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from tests.contract.conftest import receive_payload
from tests.page.browser import PHONE
from tests.page.conftest import OpenPage
from tests.page.user_input import Pointer, SessionPage
from tests.server.conftest import Socket

CLICK_AT_ONCE = """() => new MutationObserver((_, watching) => {
  const button = document.querySelector(".request .primary");
  if (!button) return;
  watching.disconnect();
  button.click();
  document.body.dataset.pressed = "yes";
}).observe(document.body, { childList: true, subtree: true })"""

NOTE_DISARMING = """(button) => new MutationObserver(() => {
  if (button.ariaDisabled === "true") document.body.dataset.disarmed = "yes";
}).observe(button, { attributes: true })"""


@pytest_asyncio.fixture(loop_scope="session")
async def build(client: Socket, session: Any) -> AsyncIterator[Any]:
    """The session in build mode, where commands need a permission; deleted afterwards."""
    await client.call("update_session", sessionId=session["id"], executionMode="build")
    yield session
    await client.call("delete_session", sessionId=session["id"])


async def run_until_waiting(client: Socket, session: Any, message: str) -> Any:
    """Send a message to the demo agent; return the request on which it waits."""
    await client.call("send_chat_message", sessionId=session["id"], message=message)
    while (now := await receive_payload(client, "session-waiting"))["session_id"] != session["id"]:
        pass
    return now["request"]


async def open_session(open_page: OpenPage, session: Any) -> SessionPage:
    return SessionPage(Pointer(await open_page(f"/session/{session['id']}")))


def reason_box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Reason for denial")


async def test_a_message_answers_the_open_request_and_the_box_says_how(
    open_page: OpenPage, client: Socket, build: Any, worktree: Any
) -> None:
    session_page = await open_session(open_page, build)
    await session_page.send("/demo permission touch made.txt")
    await expect(
        session_page.page.get_by_text("Your message denies the permission")
    ).to_be_visible()
    await expect(session_page.button("Allow")).to_be_enabled()
    await session_page.message_box.press_sequentially("yes allow a 1 y")
    await session_page.press("Say no")
    await session_page.wait_until_idle()
    tool = session_page.answers.last.locator("details.tool.failed")
    await tool.locator("summary").click()
    await expect(tool).to_contain_text("yes allow a 1 y")
    await expect(session_page.page.get_by_role("list", name="Queued messages")).to_be_empty()
    await client.call("update_session", sessionId=build["id"], executionMode="plan")
    await session_page.send("/demo plan write made.txt: x")
    await expect(
        session_page.page.get_by_text("Your message is sent to the agent as feedback")
    ).to_be_visible()
    await session_page.send("build yolo approve")
    feedback = session_page.page.locator('.message[data-role="user"]').filter(
        has_text="build yolo approve"
    )
    await expect(feedback).to_be_visible()
    now = await client.call("get_session", sessionId=build["id"])
    assert now["execution_mode"] == "plan"
    assert not (Path(worktree["path"]) / "made.txt").exists()


async def test_the_message_box_does_not_move_when_a_permission_is_requested(
    open_page: OpenPage, build: Any
) -> None:
    session_page = SessionPage(
        Pointer(await open_page(f"/session/{build['id']}", screen=PHONE), touch=True)
    )
    before = await session_page.message_box.bounding_box()
    await session_page.send("/demo permission true")
    await expect(session_page.button("Say no")).to_be_visible()
    assert await session_page.message_box.bounding_box() == before
    await expect(session_page.button("Allow")).to_be_enabled()
    await session_page.page.get_by_text("Your message denies the permission").tap()
    await session_page.page.keyboard.type("not now")
    await expect(session_page.message_box).to_have_value("not now")
    await session_page.press("Say no")
    await session_page.wait_until_idle()


async def test_a_typed_reason_survives_its_request(
    open_page: OpenPage, client: Socket, build: Any
) -> None:
    session_page = await open_session(open_page, build)
    for in_needs_view in (False, True):
        request = await run_until_waiting(client, build, "/demo permission true")
        if in_needs_view:
            await session_page.page.goto("/#/needs")
        await reason_box(session_page.page).fill("not like this")
        await session_page.page.reload()
        await expect(reason_box(session_page.page)).to_have_value("not like this")
        answer = {"requestId": request["id"], "decision": "allow"}
        await client.call("answer_permission", sessionId=build["id"], **answer)
        await expect(reason_box(session_page.page)).to_have_count(0)
        await session_page.page.goto(f"/#/session/{build['id']}")
        await expect(session_page.message_box).to_have_value("not like this")
        await session_page.wait_until_idle()
        await session_page.message_box.fill("")


@pytest.mark.short
async def test_a_click_just_as_a_request_appears_decides_nothing(
    open_page: OpenPage, client: Socket, build: Any, worktree: Any
) -> None:
    session_page = await open_session(open_page, build)
    await session_page.page.evaluate(CLICK_AT_ONCE)
    await session_page.send("/demo permission touch pressed.txt")
    await expect(session_page.page.locator("body")).to_have_attribute("data-pressed", "yes")
    await expect(session_page.button("Allow")).to_be_enabled()
    assert (await client.call("get_session", sessionId=build["id"]))["waiting_for"] == "permission"
    later = await client.call(
        "create_session", worktreeId=worktree["id"], name="Later", executionMode="build"
    )
    await run_until_waiting(client, later, "/demo permission touch later.txt")
    await session_page.page.goto("/#/needs")
    below = (
        session_page.page.locator(".waiting-item")
        .filter(has_text="Later")
        .get_by_role("button", name="Deny")
    )
    await expect(below).to_be_enabled()
    await below.evaluate(NOTE_DISARMING)
    await client.call("stop_generation", sessionId=build["id"])
    await expect(session_page.page.locator("body")).to_have_attribute("data-disarmed", "yes")
    await below.click()
    await expect(below).to_have_count(0)
    assert not (Path(worktree["path"]) / "later.txt").exists()
    await client.call("delete_session", sessionId=later["id"])


async def test_a_plan_can_be_built_in_a_new_session_which_opens(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    session_page = await open_session(open_page, session)
    await session_page.send("/demo plan write afresh.txt: x")
    await session_page.page.get_by_label("In a new session").check()
    await session_page.press("Build")
    await expect(session_page.page).not_to_have_url(re.compile(session["id"]))
    await expect(session_page.page.locator('.message[data-role="user"]')).to_contain_text(
        "Carry out this plan"
    )
    await session_page.wait_until_idle()
    assert (await client.call("get_session", sessionId=session["id"]))["archived_at"]


async def test_a_plan_is_set_aside_only_by_a_second_escape(
    open_page: OpenPage, session: Any
) -> None:
    session_page = await open_session(open_page, session)
    await session_page.send("/demo plan write set-aside.txt: x")
    await expect(session_page.button("Build")).to_be_visible()
    await session_page.message_box.press_sequentially("half a thought")
    await session_page.message_box.press("Escape")
    hint = session_page.page.get_by_role("status").filter(
        has_text="Press Escape again to set it aside."
    )
    await expect(hint).to_be_visible()
    await expect(session_page.button("Build")).to_be_visible()
    await session_page.message_box.press("Escape")
    await expect(
        session_page.page.get_by_role("heading", name="This plan was set aside.")
    ).to_be_visible()
    await expect(session_page.page.locator("#needs")).to_be_hidden()
    await expect(session_page.message_box).to_have_value("half a thought")
    await session_page.press("Build")
    await session_page.expect_mode("build")
    await expect(session_page.answers.last).to_contain_text("set-aside.txt")
    await session_page.wait_until_idle()


async def test_a_plan_can_be_discussed_in_the_needs_you_view(
    open_page: OpenPage, client: Socket, session: Any, worktree: Any
) -> None:
    await run_until_waiting(client, session, "/demo plan write discussed.txt: x")
    page = await open_page()
    card = page.locator(".waiting-item").filter(has_text=session["name"])
    await expect(card.locator(".plan-text")).to_be_visible()
    await expect(card).not_to_contain_text("in the message box")
    feedback = card.get_by_role("textbox", name="Changes you want")
    await feedback.fill("in fewer words")
    await feedback.press("Enter")
    session_page = SessionPage(Pointer(page))
    await page.goto(f"/#/session/{session['id']}")
    message = page.locator('.message[data-role="user"]').filter(has_text="in fewer words")
    await expect(message).to_be_visible()
    await expect(session_page.message_box).to_have_value("")
    assert not (Path(worktree["path"]) / "discussed.txt").exists()
    await client.call("stop_generation", sessionId=session["id"])


async def test_a_stop_is_shown_at_once_and_queued_messages_can_still_be_sent(
    open_page: OpenPage, session: Any
) -> None:
    session_page, elsewhere = (
        await open_session(open_page, session),
        await open_session(open_page, session),
    )
    await session_page.send("/demo stream 1000000 50")
    await expect(session_page.answers.last).to_be_visible()
    await session_page.send("/demo say after all", button="Queue")
    waiting = session_page.page.get_by_role("list", name="Queued messages").get_by_role("listitem")
    await expect(waiting).to_contain_text("Queued until this answer is complete")
    stop = session_page.button("Stop")
    assert (
        await stop.evaluate("(stop) => { stop.click(); return stop.textContent; }") == "Stopping…"
    )
    for place in (session_page, elsewhere):
        await expect(place.answers.last).to_contain_text("Stopped by you")
    await session_page.page.reload()
    await expect(session_page.answers.last).to_contain_text("Stopped by you")
    await expect(waiting).to_contain_text("Queued until your next message")
    await waiting.get_by_role("button", name="Send now").click()
    await expect(session_page.answers.last).to_contain_text("after all")
    await expect(waiting).to_have_count(0)
