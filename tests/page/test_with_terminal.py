"""Two pages and a terminal at one session: each shows what the others do."""

import asyncio
from typing import Any

from playwright.async_api import expect

from tests.page.browser import PHONE
from tests.page.conftest import OpenPage
from tests.page.user_input import Pointer, SessionPage
from tests.program import Program
from tests.server.conftest import Socket

NEXT_WAITING = b"\x00"
"""The bytes of ctrl+space."""


async def test_a_plan_goes_from_the_phone_to_the_terminal_and_back_to_both_pages(
    program: Program, open_page: OpenPage, client: Socket, session: Any
) -> None:
    place = f"/session/{session['id']}"
    desk = SessionPage(Pointer(await open_page(place)))
    phone = SessionPage(Pointer(await open_page(place, screen=PHONE), touch=True))
    with program.on_a_terminal("attach") as terminal:

        async def wait_for_text(text: str) -> None:
            await asyncio.to_thread(terminal.wait_for_text, text)

        await wait_for_text(session["name"])
        await phone.send("/demo plan say as planned")
        await wait_for_text("needs you")
        terminal.write(NEXT_WAITING)
        await wait_for_text("Plan")
        await desk.press("Build")
        await wait_for_text("as planned")
        for session_page in (desk, phone):
            await expect(session_page.answers.last).to_contain_text("as planned")
            await session_page.wait_until_idle()
        terminal.write(b"/demo say typed there\r")
        for session_page in (desk, phone):
            await expect(session_page.answers.last).to_contain_text("typed there")
        await client.call("update_session", sessionId=session["id"], name="Renamed")
        await wait_for_text("Renamed")
        for session_page in (desk, phone):
            await expect(session_page.page.locator("#title")).to_have_text("Renamed")
