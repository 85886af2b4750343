"""Who looks elsewhere hears of a session that needs them or has ended: once for all tabs."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from tests.page.browser import launched, signed_in
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
"""Notes what the page plays. Headless Chromium never holds a sound back, so that is acted."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    """One that may be allowed to notify."""
    async with async_playwright() as playwright:
        home = str(tmp_path_factory.mktemp("chromium"))
        made = await launched(playwright, home, notifies=True)
        yield made
        await made.close()


@pytest_asyncio.fixture(loop_scope="session")
async def sounds(other: Socket) -> None:
    """Both sounds are wanted."""
    wanted = {"waiting_sound": "ding", "review_sound": "pop"}
    await other.call("update_preferences", changes=wanted)


async def heard(page: Page) -> Any:
    """What it has played, once the two locks are had or refused that it asks for before it does."""
    return await page.evaluate(
        """async () => {
          for (let lock = 0; lock < 2; lock++) await navigator.locks.request("after", () => {});
          return played;
        }"""
    )


async def opened(context: BrowserContext, served: Serving, place: str = "") -> Page:
    page = await context.new_page()
    await page.add_init_script(PLAYED)
    await signed_in(page, served.token, place)
    await expect(page.locator("#link")).to_have_attribute("data-state", "open")
    return page


@pytest_asyncio.fixture(loop_scope="session")
async def listening(open_page: OpenPage, served: Serving, sounds: None) -> Page:
    """A page that shows no session, and not who needs somebody."""
    context = (await open_page(has_worker=True)).context
    await context.pages[0].close()
    return await opened(context, served, "/archive")


async def test_a_request_sounds_and_its_word_leads_to_it(
    listening: Page, other: Socket, session: Any
) -> None:
    await other.call("send_chat_message", sessionId=session["id"], message="/demo ask Tea? | Yes")
    toast = listening.locator(".toast")
    await expect(toast).to_contain_text("'Fix the parser' has a question")
    assert await heard(listening) == ["ding.wav"]
    await toast.get_by_role("button", name="Show").click()
    await expect(listening.locator("#title")).to_have_text("Fix the parser")


async def test_an_end_sounds_but_not_one_that_a_person_made(
    listening: Page, other: Socket, session: Any, worktree: Any
) -> None:
    second = await other.call("create_session", worktreeId=worktree["id"], name="Another")
    await other.call("send_chat_message", sessionId=second["id"], message="/demo wait 600")
    await expect(listening.locator("#tree .mark[data-mark=running]")).to_have_count(1)
    await other.call("stop_generation", sessionId=second["id"])
    await expect(listening.locator("#tree .mark[data-mark=running]")).to_have_count(0)
    await other.call("send_chat_message", sessionId=session["id"], message="/demo say done")
    await expect(listening.locator(".toast")).to_have_text(["'Fix the parser' has finishedShow✕"])
    assert await heard(listening) == ["pop.wav"]


async def test_what_one_sees_is_silent(
    open_page: OpenPage, served: Serving, other: Socket, session: Any, sounds: None
) -> None:
    context = (await open_page(has_worker=True)).context
    page = await opened(context, served, f"/session/{session['id']}")
    await page.bring_to_front()
    await other.call("send_chat_message", sessionId=session["id"], message="/demo ask Tea? | Yes")
    await expect(page.get_by_role("button", name="Answer")).to_be_visible()
    await expect(page.locator(".toast")).to_have_count(0)
    assert await heard(page) == []


async def test_of_two_tabs_one_sounds(
    listening: Page, served: Serving, other: Socket, session: Any
) -> None:
    second = await opened(listening.context, served, "/archive")
    await other.call("send_chat_message", sessionId=session["id"], message="/demo ask Tea? | Yes")
    await expect(listening.locator(".toast")).to_have_count(1)
    await expect(second.locator(".toast")).to_have_count(1)
    assert sorted(await heard(listening) + await heard(second)) == ["ding.wav"]


async def test_without_a_sound_in_the_preferences_there_is_a_word_alone(
    listening: Page, other: Socket, session: Any
) -> None:
    await other.call("update_preferences", changes={"waiting_sound": "none"})
    await other.call("send_chat_message", sessionId=session["id"], message="/demo ask Tea? | Yes")
    await expect(listening.locator(".toast")).to_have_count(1)
    assert await heard(listening) == []


async def test_a_sound_that_the_browser_holds_back_is_asked_for_once(
    listening: Page, other: Socket, session: Any
) -> None:
    await listening.evaluate("window.refuses = true")
    await other.call("send_chat_message", sessionId=session["id"], message="/demo ask Tea? | Yes")
    allow = listening.get_by_role("button", name="Allow sounds")
    await expect(allow).to_be_visible()
    await listening.evaluate("window.refuses = false")
    await allow.click()
    assert await heard(listening) == ["ding.wav", "ding.wav"]


@pytest.mark.parametrize("name", ["ding", "chime", "pop", "choochoo"])
async def test_a_sound_is_tried_beside_its_preference(
    open_page: OpenPage, other: Socket, name: str
) -> None:
    await other.call("update_preferences", changes={"waiting_sound": name})
    page = await open_page("/preferences", has_worker=True)
    async with page.expect_response(lambda answer: f"/sounds/{name}.wav" in answer.url) as asked:
        await page.get_by_role("button", name="Play Waiting sound").click()
    answer = await asked.value
    assert (answer.ok, answer.headers["content-type"]) == (True, "audio/wav")


async def test_a_hidden_tab_is_marked_in_its_title_and_the_device_notifies(
    listening: Page, other: Socket, session: Any
) -> None:
    await listening.context.grant_permissions(["notifications"])
    await listening.evaluate("navigator.serviceWorker.ready.then(() => undefined)")
    await listening.evaluate(
        """() => {
          Object.defineProperty(document, "hidden", { get: () => true, configurable: true });
          document.hasFocus = () => false;
        }"""
    )
    await other.call("send_chat_message", sessionId=session["id"], message="/demo say done")
    await expect(listening).to_have_title("✓ Archive · Spinney")
    told = await listening.evaluate(
        """async () => {
          const worker = await navigator.serviceWorker.ready;
          for (;;) {
            const [shown] = await worker.getNotifications();
            if (shown) return [shown.title, shown.body, shown.data];
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        }"""
    )
    assert told == ["Fix the parser", "has finished", f"#/session/{session['id']}"]
    await expect(listening.locator(".toast")).to_have_count(0)


async def test_the_device_is_asked_on_a_press_only(open_page: OpenPage) -> None:
    page = await open_page("/preferences", has_worker=True)
    box = page.get_by_label("Notify me when a session needs me")
    await expect(box).to_be_enabled()
    assert await page.evaluate("Notification.permission") == "default"
    await page.context.grant_permissions(["notifications"])
    await box.check()
    await expect(page.get_by_text("Only while you are not using this page")).to_be_visible()
    await box.uncheck()
    await page.reload()
    await expect(box).not_to_be_checked()
