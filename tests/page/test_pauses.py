"""A paused session on the page: its reason, another time, and messages that are sent later."""

from typing import Any

from playwright.async_api import expect

from tests.page.test_session_life import open_session
from tests.page.user_input import SessionPage, UserInput


async def test_a_pause_is_shown_changed_and_ended_and_messages_wait_for_their_time(
    user: UserInput, session: Any
) -> None:
    session_page = SessionPage(user)
    page = session_page.page
    await open_session(session_page, session)
    await session_page.send("/demo fail rate_limit 3600")
    card = page.locator(".paused")
    await expect(card).to_contain_text("The demo's rate limit is reached. It continues at")
    await session_page.send("/demo say one", button="Queue")
    await expect(page.locator(".queue")).to_contain_text("Queued until the session continues")
    await user.press(card.get_by_role("button", name="Change…"))
    await user.press(page.get_by_role("button", name="Not by itself"))
    await expect(card).to_contain_text("It waits until you continue it.")
    await user.press(page.locator(".queue").get_by_role("button", name="Time"))
    await user.press(page.get_by_role("button", name="In an hour"))
    await expect(page.locator(".queue")).to_contain_text("To be sent at")
    await user.press(card.get_by_role("button", name="Continue now"))
    await expect(card).to_have_count(0)
    await expect(session_page.answers.last).to_contain_text("I continue where I was interrupted")
    await session_page.wait_until_idle()
    await user.press(page.locator(".queue").get_by_role("button", name="Time"))
    await user.press(page.get_by_role("button", name="When it is its turn"))
    await expect(session_page.answers.last).to_contain_text("one")
