"""The raw log of a session in the page: opened, turned on and off, followed."""

from typing import Any

import pytest
from playwright.async_api import expect

from model.chat.raw_files import append
from tests.page.browser import Screen
from tests.page.conftest import OpenPage
from tests.page.in_process import InProcessServer
from tests.page.user_input import Pointer, SessionPage


@pytest.fixture
def server(in_process_server: InProcessServer) -> InProcessServer:
    return in_process_server


async def test_the_raw_log_turns_debug_mode_on_and_follows_the_traffic(
    open_page: OpenPage, session: Any, in_process_server: InProcessServer, screen: Screen
) -> None:
    page = await open_page(f"/session/{session['id']}", screen=screen)
    session_page = SessionPage(Pointer(page, touch=screen.touch))
    await session_page.press("Session actions")
    await session_page.press("Show the raw log")
    log, state = page.get_by_label("Raw log", exact=True), page.locator(".raw-log [role=status]")
    await expect(state).to_contain_text("Debug mode is off, so nothing is recorded.")
    await expect(log).to_be_hidden()
    await session_page.press("Turn debug mode on")
    await expect(state).to_contain_text("Input and output of the agent will appear here")
    record = in_process_server.workspace.raw_logs.make_recorder(session["id"], {})
    record("\u00b7", "started in /w")
    await expect(log).to_contain_text("\u00b7 started in /w")
    record("\u2192", {"text": "<b>heddle</b>"})
    await expect(log).to_contain_text('\u2192 {"text":"<b>heddle</b>"}')
    await expect(page.locator(".raw-log .path")).to_contain_text("raw-0.log")
    await session_page.press("Turn debug mode off")
    await expect(state).to_contain_text("Debug mode is off, so nothing more is recorded.")
    await session_page.user.press(page.get_by_role("link", name="Back to the session"))
    await expect(page.locator("#title")).to_have_text(session["name"])


async def test_older_lines_load_above_without_moving_the_view(
    open_page: OpenPage, session: Any, in_process_server: InProcessServer, screen: Screen
) -> None:
    lines = [f"{number:06} said {'x' * 80}\n".encode() for number in range(2000)]
    append(in_process_server.workspace.directories.raw_logs / session["id"], lines)
    page = await open_page(f"/raw/{session['id']}", screen=screen)
    log = page.get_by_label("Raw log", exact=True)
    await expect(log).to_contain_text("001999 said")
    await expect(log).not_to_contain_text("000000 said")
    at_end = "log => log.scrollTop + log.clientHeight >= log.scrollHeight - 2"
    assert await log.evaluate(at_end)
    older = page.get_by_role("button", name="Load older lines")
    while await older.is_visible():
        await log.evaluate("log => { log.scrollTop = 0; }")
        await page.wait_for_timeout(50)
    await expect(log).to_contain_text("000000 said")
    assert not await log.evaluate(at_end)
    text = await log.evaluate("log => log.textContent")
    assert text == b"".join(lines).decode()
