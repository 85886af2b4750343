"""A new task: in three taps and the words, where and as the last one, or on an existing branch."""

import json
import subprocess
from pathlib import Path
from typing import Any

from playwright.async_api import Page, WebSocketRoute, expect

from tests.page.browser import PHONE, PageErrors
from tests.page.conftest import OpenPage
from tests.page.test_composer import PASTE, attachments, wait_until_kept
from tests.page.test_projects import PIXEL
from tests.page.user_input import Pointer, SessionPage
from tests.server.conftest import Socket

# Before the browser can announce the new address, as on a slow machine.
PRESS_LINK_AND_KEY = """([link, key]) => {
  document.querySelector(link).click();
  const pressed = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
  document.activeElement.dispatchEvent(pressed);
}"""


async def test_a_task_is_started_in_two_taps_and_the_next_one_remembers_its_choices(
    open_page: OpenPage, client: Socket, project: Any
) -> None:
    phone = await open_page(screen=PHONE)
    await phone.get_by_role("link", name="New task").last.tap()
    await expect(phone.get_by_role("textbox", name="First message")).to_be_focused()
    await expect(phone.get_by_label("Agent")).to_contain_text("Default (Demo agent)")
    await phone.keyboard.type("/demo say made")
    await phone.get_by_role("button", name="Start", exact=True).tap()
    await expect(SessionPage(Pointer(phone, touch=True)).answers.last).to_contain_text("made")

    await phone.goto("/#/new")
    await expect(phone.get_by_role("textbox", name="First message")).to_have_value("")
    await phone.get_by_text("Yolo", exact=True).tap()
    await phone.get_by_label("Agent").select_option("Demo agent")
    await phone.get_by_role("textbox", name="First message").fill("/demo say again")
    await phone.get_by_role("button", name="Start", exact=True).tap()
    await expect(SessionPage(Pointer(phone, touch=True)).answers.last).to_contain_text("again")
    await phone.goto("/#/new")
    await expect(phone.get_by_role("radio", name="Yolo")).to_be_checked()
    await expect(phone.get_by_label("Agent")).to_have_value("demo")


async def test_what_is_typed_as_soon_as_the_form_opens_is_not_lost(
    page: Page, project: Any
) -> None:
    await page.wait_for_load_state("networkidle")
    await page.evaluate(PRESS_LINK_AND_KEY, ["#tree .head a", "A"])
    await page.keyboard.type("dd a farewell")
    message = page.get_by_role("textbox", name="First message")
    await expect(message).to_have_value("Add a farewell")


async def test_a_task_starts_with_a_picture_and_a_file(
    open_page: OpenPage, client: Socket, project: Any
) -> None:
    phone = await open_page("/new", screen=PHONE)
    message = phone.get_by_role("textbox", name="First message")
    await message.fill("/demo say seen")
    await message.evaluate(PASTE, ["data.csv", "text/csv", list(b"a,b")])
    await message.evaluate(PASTE, ["dot.png", "image/png", list(PIXEL)])
    await wait_until_kept(phone, 2)
    # They wait for the start, also over a reload and while another view is shown.
    await phone.reload()
    await expect(phone.locator(".attached")).to_contain_text("data.csv")
    await phone.goto("/#/needs")
    await expect(phone.locator(".attached")).to_have_count(0)
    await phone.goto("/#/new")
    await expect(phone.locator(".attached").get_by_role("listitem")).to_have_count(2)
    await phone.get_by_role("button", name="Start", exact=True).tap()
    await expect(SessionPage(Pointer(phone, touch=True)).answers.last).to_contain_text("seen")
    page = await client.call("get_messages", sessionId=phone.url.rpartition("/")[2])
    assert [Path(path).read_bytes() for path in page["messages"][0]["files"]] == [b"a,b"]
    assert "image" in [block["type"] for block in page["messages"][0]["content"]]
    await phone.goto("/#/new")
    await expect(message).to_have_value("")
    await expect(phone.locator(".attached").get_by_role("listitem")).to_have_count(0)


async def test_a_file_that_was_not_uploaded_at_the_start_waits_in_the_session(
    page: Page, project: Any, page_errors: PageErrors
) -> None:
    page_errors.allow("net::ERR_")
    await page.route("**/attachments?*", lambda route: route.abort())
    await page.goto("/#/new")
    message = page.get_by_role("textbox", name="First message")
    await message.fill("/demo say seen")
    await message.evaluate(PASTE, ["data.csv", "text/csv", list(b"a,b")])
    await wait_until_kept(page, 1)
    await page.get_by_role("button", name="Start", exact=True).click()
    session_page = SessionPage(Pointer(page))
    await expect(session_page.message_box).to_have_value("/demo say seen")
    await expect(attachments(session_page)).to_contain_text("Could not attach 'data.csv'")
    await page.unroute("**/attachments?*")
    await page.reload()
    await expect(attachments(session_page)).to_have_text("data.csv")
    await session_page.press("Send")
    await expect(session_page.answers.last).to_contain_text("seen")
    await page.goto("/#/new")
    await expect(message).to_have_value("")
    await expect(attachments(session_page)).to_have_count(0)


async def test_what_was_typed_survives_an_error_and_a_reload(
    page: Page, client: Socket, project: Any
) -> None:
    await page.goto("/#/new")
    await page.get_by_role("textbox", name="First message").fill("count the pears")
    await page.locator("summary").filter(has_text="On a new branch").click()
    await page.get_by_role("textbox", name="Name", exact=True).fill("..")
    await page.get_by_role("button", name="Start", exact=True).click()
    await expect(page.get_by_role("alert").filter(has_text="..")).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("textbox", name="First message")).to_have_value("count the pears")


async def test_a_start_whose_answer_is_lost_is_repeated_as_the_same_task(
    page: Page, client: Socket, project: Any, page_errors: PageErrors
) -> None:
    page_errors.allow("WebSocket")
    asked: list[str] = []

    def lose_the_answer(page_side: WebSocketRoute) -> None:
        server_side = page_side.connect_to_server()

        def to_server(frame: str | bytes) -> None:
            if '"start_task"' in str(frame):
                asked.append(json.loads(frame)["id"])
            server_side.send(frame)

        async def to_page(frame: str | bytes) -> None:
            if len(asked) == 1 and json.loads(frame).get("id") == asked[0]:
                await page_side.close()
            else:
                page_side.send(frame)

        page_side.on_message(to_server)
        server_side.on_message(to_page)

    await page.route_web_socket("**/ws?*", lose_the_answer)
    await page.goto("/#/new")
    await page.reload()
    await page.get_by_role("textbox", name="First message").fill("/demo say once")
    start = page.get_by_role("button", name="Start", exact=True)
    await start.click()
    await expect(page.get_by_role("alert").filter(has_text="connection")).to_be_visible()
    await expect(page.locator("#link")).to_have_text("connected")
    await start.click()
    await expect(SessionPage(Pointer(page)).answers.last).to_contain_text("once")
    assert len(asked) == 2
    (worktree,) = await client.call("list_worktrees", projectId=project["id"])
    (session,) = await client.call("list_sessions", worktreeId=worktree["id"])
    assert session["message_count"] == 2


async def test_a_task_on_an_existing_branch(
    page: Page, client: Socket, project: Any, repository: Path
) -> None:
    subprocess.run(["git", "branch", "pears"], cwd=repository, check=True)
    await page.goto("/#/new")
    await page.locator("summary").filter(has_text="On a new branch").click()
    await page.get_by_text("Branch", exact=True).first.click()
    await page.get_by_role("combobox", name="Branch", exact=True).select_option("pears")
    await page.get_by_role("textbox", name="First message").fill("/demo say here")
    await page.get_by_role("textbox", name="First message").press("Enter")
    await expect(SessionPage(Pointer(page)).answers.last).to_contain_text("here")
    (worktree,) = await client.call("list_worktrees", projectId=project["id"])
    assert worktree["branch"] == "pears"
