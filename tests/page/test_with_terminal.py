"""Two pages and a terminal at one session: whoever does something, all three show it."""

import asyncio
from typing import Any

from playwright.async_api import expect

from tests.page.browser import PHONE
from tests.page.conftest import OpenPage
from tests.page.person import Conversation, Pointer
from tests.program import Program
from tests.server.conftest import Socket

NEXT_WAITING = b"\x00"
"""ctrl+space."""


async def test_a_plan_goes_from_the_phone_to_the_terminal_and_back_to_both_pages(
    program: Program, open_page: OpenPage, other: Socket, session: Any
) -> None:
    place = f"/session/{session['id']}"
    desk = Conversation(Pointer(await open_page(place)))
    phone = Conversation(Pointer(await open_page(place, screen=PHONE), touch=True))
    with program.on_a_terminal("attach") as terminal:

        async def shows(words: str) -> None:
            await asyncio.to_thread(terminal.shows, words)

        await shows(session["name"])
        await phone.say("/demo plan say as planned")
        await shows("needs you")
        terminal.write(NEXT_WAITING)
        await shows("Plan")
        await desk.press("Build")
        await shows("as planned")
        for person in (desk, phone):
            await expect(person.answers.last).to_contain_text("as planned")
            await person.idle()
        terminal.write(b"/demo say typed there\r")
        for person in (desk, phone):
            await expect(person.answers.last).to_contain_text("typed there")
        await other.call("update_session", sessionId=session["id"], name="Renamed")
        await shows("Renamed")
        for person in (desk, phone):
            await expect(person.page.locator("#title")).to_have_text("Renamed")
