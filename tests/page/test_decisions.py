"""What waits for a person: words decide nothing and are never lost, no press decides unmeant."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from tests.contract.conftest import payload_of
from tests.page.browser import PHONE
from tests.page.conftest import OpenPage
from tests.page.person import Conversation, Pointer
from tests.server.conftest import Socket

PRESS_AT_ONCE = """() => new MutationObserver((_, watching) => {
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
async def build(other: Socket, session: Any) -> AsyncIterator[Any]:
    """The session in build mode, where commands are asked for; gone afterwards."""
    await other.call("update_session", sessionId=session["id"], executionMode="build")
    yield session
    await other.call("delete_session", sessionId=session["id"])


async def ask(other: Socket, session: Any, words: str) -> Any:
    """Have the demo agent do this, until it waits for a person."""
    await other.call("send_chat_message", sessionId=session["id"], message=words)
    while (now := await payload_of(other, "session-waiting"))["session_id"] != session["id"]:
        pass
    return now["request"]


async def shown(open_page: OpenPage, session: Any) -> Conversation:
    return Conversation(Pointer(await open_page(f"/session/{session['id']}")))


def reason(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Reason for denial")


async def test_a_message_answers_what_waits_and_the_box_says_how_before(
    open_page: OpenPage, other: Socket, build: Any, worktree: Any
) -> None:
    at = await shown(open_page, build)
    await at.say("/demo permission touch made.txt")
    await expect(at.page.get_by_text("Your message denies the permission")).to_be_visible()
    await expect(at.button("Allow")).to_be_enabled()
    await at.box.press_sequentially("yes allow a 1 y")
    await at.press("Say no")
    await at.idle()
    tool = at.answers.last.locator("details.tool.failed")
    await tool.locator("summary").click()
    await expect(tool).to_contain_text("yes allow a 1 y")
    await expect(at.page.get_by_role("list", name="Queued messages")).to_be_empty()
    await other.call("update_session", sessionId=build["id"], executionMode="plan")
    await at.say("/demo plan write made.txt: x")
    await expect(
        at.page.get_by_text("Your message is sent to the agent as feedback")
    ).to_be_visible()
    await at.say("build yolo approve")
    feedback = at.page.locator('.message[data-role="user"]').filter(has_text="build yolo approve")
    await expect(feedback).to_be_visible()
    now = await other.call("get_session", sessionId=build["id"])
    assert now["execution_mode"] == "plan"
    assert not (Path(worktree["path"]) / "made.txt").exists()


async def test_the_box_stays_under_the_finger_as_a_permission_is_asked_for(
    open_page: OpenPage, build: Any
) -> None:
    at = Conversation(Pointer(await open_page(f"/session/{build['id']}", screen=PHONE), touch=True))
    before = await at.box.bounding_box()
    await at.say("/demo permission true")
    await expect(at.button("Say no")).to_be_visible()
    assert await at.box.bounding_box() == before
    await expect(at.button("Allow")).to_be_enabled()
    await at.page.get_by_text("Your message denies the permission").tap()
    await at.page.keyboard.type("not now")
    await expect(at.box).to_have_value("not now")
    await at.press("Say no")
    await at.idle()


async def test_what_is_written_outlives_its_request(
    open_page: OpenPage, other: Socket, build: Any
) -> None:
    at = await shown(open_page, build)
    for page_of_needs in (False, True):
        request = await ask(other, build, "/demo permission true")
        if page_of_needs:
            await at.page.goto("/#/needs")
        await reason(at.page).fill("not like this")
        await at.page.reload()
        await expect(reason(at.page)).to_have_value("not like this")
        answer = {"requestId": request["id"], "decision": "allow"}
        await other.call("answer_permission", sessionId=build["id"], **answer)
        await expect(reason(at.page)).to_have_count(0)
        await at.page.goto(f"/#/session/{build['id']}")
        await expect(at.box).to_have_value("not like this")
        await at.idle()
        await at.box.fill("")


async def test_a_press_that_was_on_its_way_decides_nothing(
    open_page: OpenPage, other: Socket, build: Any, worktree: Any
) -> None:
    at = await shown(open_page, build)
    await at.page.evaluate(PRESS_AT_ONCE)
    await at.say("/demo permission touch pressed.txt")
    await expect(at.page.locator("body")).to_have_attribute("data-pressed", "yes")
    await expect(at.button("Allow")).to_be_enabled()
    assert (await other.call("get_session", sessionId=build["id"]))["waiting_for"] == "permission"
    later = await other.call(
        "create_session", worktreeId=worktree["id"], name="Later", executionMode="build"
    )
    await ask(other, later, "/demo permission touch later.txt")
    await at.page.goto("/#/needs")
    below = (
        at.page.locator(".waiting-item").filter(has_text="Later").get_by_role("button", name="Deny")
    )
    await expect(below).to_be_enabled()
    await below.evaluate(NOTE_DISARMING)
    await other.call("stop_generation", sessionId=build["id"])
    await expect(at.page.locator("body")).to_have_attribute("data-disarmed", "yes")
    await below.click()
    await expect(below).to_have_count(0)
    assert not (Path(worktree["path"]) / "later.txt").exists()
    await other.call("delete_session", sessionId=later["id"])


async def test_a_plan_goes_on_in_a_fresh_session_which_is_shown(
    open_page: OpenPage, other: Socket, session: Any
) -> None:
    at = await shown(open_page, session)
    await at.say("/demo plan write afresh.txt: x")
    await at.page.get_by_label("In a new session").check()
    await at.press("Build")
    await expect(at.page).not_to_have_url(re.compile(session["id"]))
    await expect(at.page.locator('.message[data-role="user"]')).to_contain_text(
        "Carry out this plan"
    )
    await at.idle()
    assert (await other.call("get_session", sessionId=session["id"]))["archived_at"]


async def test_one_escape_leaves_what_waits(open_page: OpenPage, session: Any) -> None:
    at = await shown(open_page, session)
    await at.say("/demo plan write set-aside.txt: x")
    await expect(at.button("Build")).to_be_visible()
    await at.box.press_sequentially("half a thought")
    await at.box.press("Escape")
    told = at.page.get_by_role("status").filter(has_text="Press Escape again to set it aside.")
    await expect(told).to_be_visible()
    await expect(at.button("Build")).to_be_visible()
    await at.box.press("Escape")
    await expect(at.page.get_by_role("heading", name="This plan was set aside.")).to_be_visible()
    await expect(at.page.locator("#needs")).to_be_hidden()
    await expect(at.box).to_have_value("half a thought")
    await at.press("Build")
    await expect(at.page.get_by_role("combobox", name="Mode", exact=True)).to_have_value("build")
    await expect(at.answers.last).to_contain_text("set-aside.txt")
    await at.idle()


async def test_a_plan_is_discussed_where_it_is_read(
    open_page: OpenPage, other: Socket, session: Any, worktree: Any
) -> None:
    await ask(other, session, "/demo plan write discussed.txt: x")
    page = await open_page()
    card = page.locator(".waiting-item").filter(has_text=session["name"])
    await expect(card.locator("details .verbatim")).to_be_visible()
    await expect(card).not_to_contain_text("in the message box")
    words = card.get_by_role("textbox", name="Changes you want")
    await words.fill("in fewer words")
    await words.press("Enter")
    at = Conversation(Pointer(page))
    await page.goto(f"/#/session/{session['id']}")
    said = page.locator('.message[data-role="user"]').filter(has_text="in fewer words")
    await expect(said).to_be_visible()
    await expect(at.box).to_have_value("")
    assert not (Path(worktree["path"]) / "discussed.txt").exists()
    await other.call("stop_generation", sessionId=session["id"])


async def test_a_stop_is_seen_at_once_and_afterwards_and_what_waits_can_be_sent(
    open_page: OpenPage, session: Any
) -> None:
    at, elsewhere = await shown(open_page, session), await shown(open_page, session)
    await at.say("/demo stream 1000000 50")
    await at.say("/demo say after all", button="Queue")
    waiting = at.page.get_by_role("list", name="Queued messages").get_by_role("listitem")
    await expect(waiting).to_contain_text("Queued until this answer is complete")
    stop = at.button("Stop")
    assert (
        await stop.evaluate("(stop) => { stop.click(); return stop.textContent; }") == "Stopping…"
    )
    for place in (at, elsewhere):
        await expect(place.answers.last).to_contain_text("Stopped by you")
    await at.page.reload()
    await expect(at.answers.last).to_contain_text("Stopped by you")
    await expect(waiting).to_contain_text("Queued until your next message")
    await waiting.get_by_role("button", name="Send now").click()
    await expect(at.answers.last).to_contain_text("after all")
    await expect(waiting).to_have_count(0)
