"""Sounds and notifications of sessions that need the user or have finished, once for all tabs."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from tests.page.browser import PagePool, launch_browser, sign_in
from tests.page.conftest import OpenPage
from tests.program import Serving
from tests.server.conftest import Socket

PLAYED = """
window.played = [];
HTMLMediaElement.prototype.play = function () {
  window.played.push(new URL(this.src).pathname.split("/").at(-1));
  const refused = new DOMException("not yet", "NotAllowedError");
  return window.refuses ? Promise.reject(refused) : Promise.resolve();
};
"""
"""Records the sounds that the page plays.

Headless Chromium never blocks a sound; `window.refuses` simulates that.
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    """A Chromium that has the permission for notifications."""
    async with async_playwright() as playwright:
        home = str(tmp_path_factory.mktemp("chromium"))
        launched = await launch_browser(playwright, home, notifies=True)
        yield launched
        await launched.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pages(browser: Browser) -> PagePool:
    """The pages of that browser."""
    return PagePool(browser)


@pytest_asyncio.fixture(loop_scope="session")
async def sounds(client: Socket) -> None:
    """Turns both sounds on."""
    changes = {"waiting_sound": "ding", "review_sound": "pop"}
    await client.call("update_preferences", changes=changes)


async def read_played_sounds(page: Page) -> Any:
    """The sounds that the page has played, read after its pending requests for the two locks."""
    return await page.evaluate(
        """async () => {
          for (let lock = 0; lock < 2; lock++) await navigator.locks.request("after", () => {});
          return played;
        }"""
    )


async def open_tab(context: BrowserContext, server: Serving, place: str = "") -> Page:
    page = await context.new_page()
    await page.add_init_script(PLAYED)
    await sign_in(page, server.token, place)
    await expect(page.locator("#link")).to_have_attribute("data-state", "open")
    return page


@pytest_asyncio.fixture(loop_scope="session")
async def archive_page(open_page: OpenPage, server: Serving, sounds: None) -> Page:
    """The archive: a page that shows neither a session nor the list of waiting ones."""
    context = (await open_page(has_worker=True)).context
    await context.pages[0].close()
    return await open_tab(context, server, "/archive")


async def test_a_request_plays_a_sound_and_its_toast_opens_the_session(
    archive_page: Page, client: Socket, session: Any
) -> None:
    await client.call("send_chat_message", sessionId=session["id"], message="/demo ask Tea? | Yes")
    toast = archive_page.locator(".toast")
    await expect(toast).to_contain_text("'Fix the parser' has a question")
    assert await read_played_sounds(archive_page) == ["ding.wav"]
    await toast.get_by_role("button", name="Show").click()
    await expect(archive_page.locator("#title")).to_have_text("Fix the parser")


async def test_a_finished_turn_plays_a_sound_but_a_stopped_one_does_not(
    archive_page: Page, client: Socket, session: Any, worktree: Any
) -> None:
    second = await client.call("create_session", worktreeId=worktree["id"], name="Another")
    await client.call("send_chat_message", sessionId=second["id"], message="/demo wait 600")
    await expect(archive_page.locator("#tree .mark[data-mark=running]")).to_have_count(1)
    await client.call("stop_generation", sessionId=second["id"])
    await expect(archive_page.locator("#tree .mark[data-mark=running]")).to_have_count(0)
    await client.call("send_chat_message", sessionId=session["id"], message="/demo say done")
    await expect(archive_page.locator(".toast")).to_have_text(["'Fix the parser' has finishedShow"])
    assert await read_played_sounds(archive_page) == ["pop.wav"]


async def test_a_visible_session_plays_no_sound(
    open_page: OpenPage, server: Serving, client: Socket, session: Any, sounds: None
) -> None:
    context = (await open_page(has_worker=True)).context
    page = await open_tab(context, server, f"/session/{session['id']}")
    await page.bring_to_front()
    await client.call("send_chat_message", sessionId=session["id"], message="/demo ask Tea? | Yes")
    await expect(page.get_by_role("button", name="Answer")).to_be_visible()
    await expect(page.locator(".toast")).to_have_count(0)
    assert await read_played_sounds(page) == []


async def test_only_one_of_two_tabs_plays_a_sound(
    archive_page: Page, server: Serving, client: Socket, session: Any
) -> None:
    second = await open_tab(archive_page.context, server, "/archive")
    await client.call("send_chat_message", sessionId=session["id"], message="/demo ask Tea? | Yes")
    await expect(archive_page.locator(".toast")).to_have_count(1)
    await expect(second.locator(".toast")).to_have_count(1)
    assert sorted(await read_played_sounds(archive_page) + await read_played_sounds(second)) == [
        "ding.wav"
    ]


async def test_without_a_sound_in_the_preferences_only_a_toast_is_shown(
    archive_page: Page, client: Socket, session: Any
) -> None:
    await client.call("update_preferences", changes={"waiting_sound": "none"})
    await client.call("send_chat_message", sessionId=session["id"], message="/demo ask Tea? | Yes")
    await expect(archive_page.locator(".toast")).to_have_count(1)
    assert await read_played_sounds(archive_page) == []


async def test_a_sound_that_the_browser_blocks_can_be_allowed(
    archive_page: Page, client: Socket, session: Any
) -> None:
    await archive_page.evaluate("window.refuses = true")
    await client.call("send_chat_message", sessionId=session["id"], message="/demo ask Tea? | Yes")
    allow = archive_page.get_by_role("button", name="Allow sounds")
    await expect(allow).to_be_visible()
    await archive_page.evaluate("window.refuses = false")
    await allow.click()
    assert await read_played_sounds(archive_page) == ["ding.wav", "ding.wav"]


@pytest.mark.parametrize("name", ["ding", "chime", "pop", "choochoo"])
async def test_a_sound_can_be_played_beside_its_preference(
    open_page: OpenPage, client: Socket, name: str
) -> None:
    await client.call("update_preferences", changes={"waiting_sound": name})
    page = await open_page("/preferences?q=sound", has_worker=True)
    async with page.expect_response(lambda response: f"/sounds/{name}.wav" in response.url) as info:
        await page.get_by_role("button", name="Play Waiting sound").click()
    response = await info.value
    assert (response.ok, response.headers["content-type"]) == (True, "audio/wav")


async def test_a_hidden_tab_marks_its_title_and_shows_a_notification(
    archive_page: Page, client: Socket, session: Any
) -> None:
    await archive_page.context.grant_permissions(["notifications"])
    await archive_page.evaluate("navigator.serviceWorker.ready.then(() => undefined)")
    await archive_page.evaluate(
        """() => {
          Object.defineProperty(document, "hidden", { get: () => true, configurable: true });
          document.hasFocus = () => false;
          const { prototype } = ServiceWorkerRegistration;
          const show = prototype.showNotification;
          window.shown = new Promise((resolve) => {
            prototype.showNotification = async function (...args) {
              await show.apply(this, args);
              const all = await this.getNotifications();
              resolve(all.map(({ title, body, data }) => [title, body, data]));
            };
          });
        }"""
    )
    await client.call("send_chat_message", sessionId=session["id"], message="/demo say done")
    await expect(archive_page).to_have_title("✓ Archive · Spinney")
    # Not before: Chromium forgets a notification that it is asked for while it shows it.
    shown = await archive_page.evaluate("shown")
    assert shown == [["Fix the parser has finished", "", f"#/session/{session['id']}"]]
    await expect(archive_page.locator(".toast")).to_have_count(0)


async def test_a_notice_that_is_pushed_is_shown_with_its_buttons(
    archive_page: Page,
) -> None:
    await archive_page.context.grant_permissions(["notifications"])
    await archive_page.evaluate("navigator.serviceWorker.ready.then(() => undefined)")
    notice = {
        "title": "login has a plan", "body": "", "tag": "plan.s1", "go": "#/session/s1",
        "actions": [{"title": "Approve", "path": "/act/token"}],
    }  # fmt: skip
    assert await push(archive_page, json.dumps(notice)) == "Success"
    shown = await archive_page.evaluate(
        """async () => {
          const found = await (await navigator.serviceWorker.ready).getNotifications();
          return found.map(({ title, tag, data, actions }) => [title, tag, data, actions[0].title]);
        }"""
    )
    assert shown == [
        [
            "login has a plan",
            "plan.s1",
            {"go": "#/session/s1", "paths": ["/act/token"]},
            "Approve",
        ]
    ]


async def push(page: Page, data: str) -> str:
    """Deliver a push message to the page's service worker, and return with what status it ended.

    Its notification is shown then. Asking for it again and again instead would lose it: Chromium
    forgets a notification that it is asked for while it shows it.
    """
    protocol = await page.context.new_cdp_session(page)
    registered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def take_registration(update: dict[str, Any]) -> None:
        for each in update["registrations"]:
            if not each["isDeleted"] and not registered.done():
                registered.set_result(each["registrationId"])

    def take_end(report: dict[str, Any]) -> None:
        event = report["backgroundServiceEvent"]
        if event["eventName"] == "Push event completed":
            ended.set_result(event["eventMetadata"][0]["value"])

    protocol.on("ServiceWorker.workerRegistrationUpdated", take_registration)
    protocol.on("BackgroundService.backgroundServiceEventReceived", take_end)
    pushes = {"service": "pushMessaging"}
    await protocol.send("BackgroundService.startObserving", pushes)
    await protocol.send("BackgroundService.setRecording", {**pushes, "shouldRecord": True})
    await protocol.send("ServiceWorker.enable")
    origin = page.url.partition("#")[0]
    message = {"origin": origin, "registrationId": await registered, "data": data}
    await protocol.send("ServiceWorker.deliverPushMessage", message)
    return await ended


async def test_notifications_are_turned_on_only_by_a_click(open_page: OpenPage) -> None:
    page = await open_page("/preferences/This%20browser", has_worker=True)
    box = page.get_by_label("Notify me when a session needs me")
    await expect(box).to_be_enabled()
    assert await page.evaluate("Notification.permission") == "default"
    await page.context.grant_permissions(["notifications"])
    await box.check()
    await expect(page.get_by_text("Only while you are not using this page")).to_be_visible()
    await box.uncheck()
    await page.reload()
    await expect(box).not_to_be_checked()
