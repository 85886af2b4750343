"""A page whose connection breaks: it shows that, reconnects and catches up."""

import asyncio
import json
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest_asyncio
from playwright.async_api import Page, expect

from tests.contract.conftest import receive_data
from tests.page.browser import PageErrors
from tests.page.conftest import OpenPage
from tests.page.proxy import Proxy
from tests.page.user_input import Pointer, SessionPage
from tests.patience import PATIENCE
from tests.program import Program, Serving, until
from tests.server.conftest import Socket

BACKOFF = (1, 2, 4, 8, 16, 30, 30)
"""Seconds between reconnection attempts; each may be up to a fifth shorter."""

CUTS = (
    "message-queued",
    "message-started",
    "content-blocks",
    "content-blocks#2",
    "message-completed",
    "session-updated#1",
    "session-updated#2",
)
"""Events of a turn before which the connection is cut."""


def read_stored_text(program: Program) -> str:
    """The text of all blocks in the database."""
    with closing(sqlite3.connect(program.data / "spinney.db")) as database:
        return "".join(body for (body,) in database.execute("SELECT body FROM blocks"))


@pytest_asyncio.fixture(loop_scope="session")
async def session_page(open_page: OpenPage, proxy: Proxy, session: Any) -> SessionPage:
    """The session's page, connected through the proxy."""
    page = await open_page(f"/session/{session['id']}", base_url=proxy.base_url)
    await expect(page.locator("#link")).to_have_text("connected")
    return SessionPage(Pointer(page))


async def complete_turn(client: Socket, session: Any, message: str) -> None:
    """Send a message and wait for the end of the turn."""
    await client.call("send_chat_message", sessionId=session["id"], message=message)
    await receive_data(client, "message-completed")


async def read_conversation(page: Page) -> str:
    """The HTML of the conversation."""
    await SessionPage(Pointer(page)).wait_until_idle()
    return str(
        await page.locator(".message").evaluate_all(
            "(all) => all.map((one) => one.outerHTML).join('\\n')"
        )
    )


async def read_tree(page: Page) -> list[str]:
    """The rows of the tree without ages, which depend on the clock of each page."""
    return list(
        await page.locator("#tree .row").evaluate_all(
            """(rows) => rows.map((row) => {
              const copy = row.cloneNode(true);
              for (const age of copy.querySelectorAll("time")) age.remove();
              return copy.textContent;
            })"""
        )
    )


async def assert_up_to_date(page: Page, open_page: OpenPage, session: Any, last: str) -> None:
    """Assert that the page shows the same as a newly opened one, ending with `last`."""
    await expect(page.locator("#link")).to_have_text("connected")
    await expect(page.locator(".message").last).to_contain_text(last)
    fresh = await open_page(f"/session/{session['id']}")
    await expect(fresh.locator(".message").last).to_contain_text(last)
    assert await read_conversation(page) == await read_conversation(fresh)
    async with asyncio.timeout(PATIENCE):
        # The read state of the session reaches each page separately.
        while await read_tree(page) != await read_tree(fresh):
            await asyncio.sleep(0.05)


async def test_events_of_a_short_disconnection_are_shown_after_it(
    session_page: SessionPage, proxy: Proxy, client: Socket, open_page: OpenPage, session: Any
) -> None:
    await session_page.send("/demo stream 300 150")
    await expect(session_page.answers.last).to_contain_text("50:")
    await proxy.cut()
    await expect(session_page.page.locator("#link")).to_contain_text("offline, next try in")
    await receive_data(client, "message-completed")
    await proxy.restore()
    await assert_up_to_date(session_page.page, open_page, session, "300:")


async def test_more_missed_events_than_the_server_keeps_are_shown_after_reconnecting(
    session_page: SessionPage,
    proxy: Proxy,
    client: Socket,
    open_page: OpenPage,
    session: Any,
    worktree: Any,
) -> None:
    await complete_turn(client, session, "/demo say before")
    await expect(session_page.answers.last).to_contain_text("before")
    await proxy.cut()
    second = await client.call("create_session", worktreeId=worktree["id"], name="made meanwhile")
    for number in range(1100):
        await client.call("update_session", sessionId=second["id"], name=f"renamed {number}")
    await complete_turn(client, session, "/demo say in the gap")
    await client.call("update_session", sessionId=session["id"], name="Renamed, too")
    await proxy.restore()
    await assert_up_to_date(session_page.page, open_page, session, "in the gap")
    await expect(session_page.page.locator("#title")).to_have_text("Renamed, too")


async def test_the_page_reconnects_to_a_restarted_server(
    session_page: SessionPage, proxy: Proxy, server: Serving, program: Program, session: Any
) -> None:
    await session_page.send("/demo stream 100000 50")
    await expect(session_page.answers.last).to_contain_text("20:")
    await asyncio.to_thread(until, lambda: "20:" in read_stored_text(program), "it is stored")
    server.process.kill()
    server.process.wait()
    await expect(session_page.page.locator("#link")).to_contain_text("offline")
    with program.serving("--demo") as again:
        assert again.token == server.token
        proxy.target = again.base_url
        await expect(session_page.page.locator("#link")).to_have_text("connected")
        await expect(session_page.answers.last).to_contain_text("20:")
        await session_page.wait_until_idle()
        await session_page.send("/demo say after all")
        await expect(session_page.answers.last).to_contain_text("after all")
        messages = program.call("get_messages", f"sessionId={session['id']}")["messages"]
        await expect(session_page.page.locator(".message")).to_have_count(len(messages))


async def test_no_answer_is_lost_if_the_connection_breaks_during_a_turn(
    session_page: SessionPage, proxy: Proxy, client: Socket, open_page: OpenPage, session: Any
) -> None:
    for number, event in enumerate(CUTS):
        before = proxy.upgrades
        proxy.cut_before = event
        await complete_turn(client, session, f"/demo say answer {number} in full")
        await expect(session_page.answers).to_have_count(number + 1)
        await expect(session_page.answers.last).to_contain_text(f"answer {number} in full")
        await session_page.wait_until_idle()
        proxy.cut_before = None
        await expect(session_page.page.locator("#link")).to_have_text("connected")
        assert proxy.upgrades > before, f"the connection was not cut before {event}"
    await assert_up_to_date(
        session_page.page, open_page, session, f"answer {len(CUTS) - 1} in full"
    )
    assert proxy.most_sockets == 1


async def test_reconnecting_backs_off_but_never_gives_up(
    session_page: SessionPage, proxy: Proxy
) -> None:
    page = session_page.page
    await page.clock.install()
    await page.reload()
    link = page.locator("#link")
    await expect(link).to_have_text("connected")
    # From here on only the test advances the clock, so a slow machine sees no early attempt.
    await page.clock.pause_at(await page.evaluate("Date.now() / 1000") + PATIENCE)
    before = proxy.upgrades
    await proxy.cut()
    for pause in BACKOFF:
        allowed = range(round(pause * 0.8), pause + 1)
        words = "|".join(str(max(1, seconds)) for seconds in allowed)
        await expect(link).to_have_text(re.compile(rf"offline, next try in ({words}) s"))
        await page.evaluate("() => { document.getElementById('link').textContent = 'waits'; }")
        await page.clock.fast_forward(pause * 1000)
        await expect(link).not_to_have_text("waits")
    await proxy.restore()
    await page.clock.fast_forward(30_000)
    await expect(link).to_have_text("connected")
    assert proxy.upgrades == before + 1
    assert proxy.most_sockets == 1


async def test_a_silently_dead_connection_is_detected(
    session_page: SessionPage, proxy: Proxy, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = session_page.page
    await page.clock.install()
    await page.reload()
    await expect(page.locator("#link")).to_have_text("connected")
    proxy.stall()
    await complete_turn(client, session, "/demo say nobody hears this")
    await page.clock.run_for(30_000)
    await expect(page.locator("#link")).to_contain_text("offline")
    await proxy.restore()
    await page.clock.run_for(5_000)
    await assert_up_to_date(page, open_page, session, "nobody hears this")


async def test_the_connection_is_checked_at_once_when_the_device_wakes_up(
    session_page: SessionPage, proxy: Proxy, client: Socket, open_page: OpenPage, session: Any
) -> None:
    page = session_page.page
    proxy.stall()
    await complete_turn(client, session, "/demo say while it slept")
    await page.evaluate("() => { document.dispatchEvent(new Event('visibilitychange')); }")
    await expect(page.locator("#link")).to_contain_text("offline")
    await proxy.restore()
    await assert_up_to_date(page, open_page, session, "while it slept")


async def test_a_page_that_fell_behind_catches_up(
    session_page: SessionPage, proxy: Proxy, client: Socket, open_page: OpenPage, session: Any
) -> None:
    proxy.stall()
    for _ in range(3):
        await complete_turn(client, session, "/demo stream 6000 6000")  # about two megabytes
    await complete_turn(client, session, "/demo say the end")
    await proxy.restore()
    await assert_up_to_date(session_page.page, open_page, session, "the end")


async def test_a_draft_survives_a_reload_and_an_unreachable_server(
    session_page: SessionPage, proxy: Proxy, page_errors: PageErrors
) -> None:
    await session_page.message_box.fill("half a thought\nand more")
    await session_page.page.reload()
    await expect(session_page.message_box).to_have_value("half a thought\nand more")
    await proxy.cut()
    await expect(session_page.page.locator("#link")).to_contain_text("offline")
    await session_page.message_box.fill("half a thought, longer")
    await proxy.restore()
    await session_page.page.reload()
    await expect(session_page.message_box).to_have_value("half a thought, longer")


async def test_a_message_whose_response_was_lost_is_stored_once(
    session_page: SessionPage, proxy: Proxy, client: Socket, session: Any
) -> None:
    proxy.cut_before = "message-queued"  # the message is stored, but the response is lost
    await session_page.message_box.fill("/demo say only once")
    await session_page.press("Send")
    await expect(session_page.answers.last).to_contain_text("only once")
    await session_page.wait_until_idle()
    stored = (await client.call("get_messages", sessionId=session["id"]))["messages"]
    assert json.dumps(stored).count("/demo say only once") == 1


async def test_the_end_stays_visible_when_the_conversation_is_reloaded(
    session_page: SessionPage, proxy: Proxy, client: Socket, session: Any, page_errors: PageErrors
) -> None:
    for message in ("/demo markdown 2", "/demo say one", "/demo say two"):
        await complete_turn(client, session, message)
    page = session_page.page
    await expect(page.locator(".message").last).to_contain_text("two")
    page_errors.allow("WebSocket")
    for _ in range(2):  # The second time, the conversation has the same height as before.
        mark_all = "(all) => all.map((one) => (one.dataset.old = ''))"
        await page.locator(".message").evaluate_all(mark_all)
        await proxy.close_connections()
        await expect(page.locator("[data-old]")).to_have_count(0)
        for _ in range(2):
            await page.evaluate("() => new Promise(requestAnimationFrame)")
    below = "(element) => element.scrollHeight - element.scrollTop - element.clientHeight"
    assert await page.get_by_role("log", name="Conversation").evaluate(below) < 2
