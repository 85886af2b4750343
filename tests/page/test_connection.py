"""A page whose connection breaks: it says so, comes back by itself, and has missed nothing."""

import asyncio
import json
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest_asyncio
from playwright.async_api import Page, expect

from tests.contract.conftest import data_of
from tests.page.browser import Faults
from tests.page.conftest import OpenPage
from tests.page.line import Line
from tests.page.person import Conversation, Pointer
from tests.patience import PATIENCE
from tests.program import Program, Serving, until
from tests.server.conftest import Socket

PAUSES = (1, 2, 4, 8, 16, 30, 30)
"""Seconds until the next try; each may be a fifth shorter."""

GAPS = (
    "message-queued",
    "message-started",
    "content-blocks",
    "content-blocks#2",
    "message-completed",
    "session-updated#1",
    "session-updated#2",
)
"""Events before which a connection may break while a turn is taken."""


def stored_text(program: Program) -> str:
    """All blocks that are on the disk."""
    with closing(sqlite3.connect(program.data / "spinney.db")) as database:
        return "".join(body for (body,) in database.execute("SELECT body FROM blocks"))


@pytest_asyncio.fixture(loop_scope="session")
async def person(open_page: OpenPage, line: Line, session: Any) -> Conversation:
    """Somebody at the session, at the other end of the line."""
    page = await open_page(f"/session/{session['id']}", base_url=line.base_url)
    await expect(page.locator("#link")).to_have_text("connected")
    return Conversation(Pointer(page))


async def said(other: Socket, session: Any, message: str) -> None:
    """Have the agent answer, and wait for the end of its turn."""
    await other.call("send_chat_message", sessionId=session["id"], message=message)
    await data_of(other, "message-completed")


async def conversation(page: Page) -> str:
    await Conversation(Pointer(page)).idle()
    return str(
        await page.locator(".message").evaluate_all(
            "(all) => all.map((one) => one.outerHTML).join('\\n')"
        )
    )


async def tree(page: Page) -> list[str]:
    return await page.locator("#tree .row").all_inner_texts()


async def assert_up_to_date(page: Page, open_page: OpenPage, session: Any, last: str) -> None:
    """It shows what a page shows that is opened now; `last` is the end of it."""
    await expect(page.locator("#link")).to_have_text("connected")
    await expect(page.locator(".message").last).to_contain_text(last)
    fresh = await open_page(f"/session/{session['id']}")
    await expect(fresh.locator(".message").last).to_contain_text(last)
    assert await conversation(page) == await conversation(fresh)
    async with asyncio.timeout(PATIENCE):
        while await tree(page) != await tree(fresh):  # that it was read is told to each by itself
            await asyncio.sleep(0.05)


async def test_what_came_in_a_gap_of_a_second_is_there_afterwards(
    person: Conversation, line: Line, other: Socket, open_page: OpenPage, session: Any
) -> None:
    await person.say("/demo stream 300 150")
    await expect(person.answers.last).to_contain_text("50:")
    await line.cut()
    await expect(person.page.locator("#link")).to_contain_text("offline, next try in")
    await data_of(other, "message-completed")
    await line.restore()
    await assert_up_to_date(person.page, open_page, session, "300:")


async def test_what_came_in_a_gap_of_more_events_than_are_kept_is_there_afterwards(
    person: Conversation,
    line: Line,
    other: Socket,
    open_page: OpenPage,
    session: Any,
    worktree: Any,
) -> None:
    await said(other, session, "/demo say before")
    await expect(person.answers.last).to_contain_text("before")
    await line.cut()
    made = await other.call("create_session", worktreeId=worktree["id"], name="made meanwhile")
    for number in range(1100):
        await other.call("update_session", sessionId=made["id"], name=f"renamed {number}")
    await said(other, session, "/demo say in the gap")
    await other.call("update_session", sessionId=session["id"], name="Renamed, too")
    await line.restore()
    await assert_up_to_date(person.page, open_page, session, "in the gap")
    await expect(person.page.locator("#title")).to_have_text("Renamed, too")


async def test_a_server_that_was_restarted_is_found_again(
    person: Conversation, line: Line, served: Serving, program: Program, session: Any
) -> None:
    await person.say("/demo stream 100000 50")
    await expect(person.answers.last).to_contain_text("20:")
    await asyncio.to_thread(until, lambda: "20:" in stored_text(program), "it is written down")
    served.process.kill()
    served.process.wait()
    await expect(person.page.locator("#link")).to_contain_text("offline")
    with program.serving("--demo") as again:
        assert again.token == served.token
        line.target = again.base_url
        await expect(person.page.locator("#link")).to_have_text("connected")
        await expect(person.answers.last).to_contain_text("20:")
        await person.idle()
        await person.say("/demo say after all")
        await expect(person.answers.last).to_contain_text("after all")
        told = program.call("get_messages", f"sessionId={session['id']}")["messages"]
        await expect(person.page.locator(".message")).to_have_count(len(told))


async def test_no_answer_is_lost_where_the_connection_breaks_as_a_turn_ends(
    person: Conversation, line: Line, other: Socket, open_page: OpenPage, session: Any
) -> None:
    for number, gap in enumerate(GAPS):
        before = line.upgrades
        line.cut_before = gap
        await said(other, session, f"/demo say answer {number} in full")
        await expect(person.answers).to_have_count(number + 1)
        await expect(person.answers.last).to_contain_text(f"answer {number} in full")
        await person.idle()
        line.cut_before = None
        await expect(person.page.locator("#link")).to_have_text("connected")
        assert line.upgrades > before, f"nothing was cut before {gap}"
    await assert_up_to_date(person.page, open_page, session, f"answer {len(GAPS) - 1} in full")
    assert line.most_sockets == 1


async def test_it_tries_again_ever_more_rarely_but_never_gives_up(
    person: Conversation, line: Line
) -> None:
    page = person.page
    await page.clock.install()
    await page.reload()
    link = page.locator("#link")
    await expect(link).to_have_text("connected")
    # From now on time goes by as it is told to: a slow machine tries no sooner.
    await page.clock.pause_at(await page.evaluate("Date.now() / 1000") + PATIENCE)
    before = line.upgrades
    await line.cut()
    for pause in PAUSES:
        fitting = range(round(pause * 0.8), pause + 1)
        words = "|".join(str(max(1, seconds)) for seconds in fitting)
        await expect(link).to_have_text(re.compile(rf"offline, next try in ({words}) s"))
        await page.evaluate("() => { document.getElementById('link').textContent = 'waits'; }")
        await page.clock.fast_forward(pause * 1000)
        await expect(link).not_to_have_text("waits")
    await line.restore()
    await page.clock.fast_forward(30_000)
    await expect(link).to_have_text("connected")
    assert line.upgrades == before + 1
    assert line.most_sockets == 1


async def test_a_line_that_went_dead_without_a_word_is_noticed(
    person: Conversation, line: Line, other: Socket, open_page: OpenPage, session: Any
) -> None:
    page = person.page
    await page.clock.install()
    await page.reload()
    await expect(page.locator("#link")).to_have_text("connected")
    line.hold()
    await said(other, session, "/demo say nobody hears this")
    await page.clock.run_for(30_000)
    await expect(page.locator("#link")).to_contain_text("offline")
    await line.restore()
    await page.clock.run_for(5_000)
    await assert_up_to_date(page, open_page, session, "nobody hears this")


async def test_a_device_that_wakes_up_asks_at_once_whether_its_connection_lives(
    person: Conversation, line: Line, other: Socket, open_page: OpenPage, session: Any
) -> None:
    page = person.page
    line.hold()
    await said(other, session, "/demo say while it slept")
    await page.evaluate("() => { document.dispatchEvent(new Event('visibilitychange')); }")
    await expect(page.locator("#link")).to_contain_text("offline")
    await line.restore()
    await assert_up_to_date(page, open_page, session, "while it slept")


async def test_a_page_that_could_not_keep_up_has_everything_in_the_end(
    person: Conversation, line: Line, other: Socket, open_page: OpenPage, session: Any
) -> None:
    line.hold()
    for _ in range(3):
        await said(other, session, "/demo stream 6000 6000")  # some two megabytes on the line
    await said(other, session, "/demo say the end")
    await line.restore()
    await assert_up_to_date(person.page, open_page, session, "the end")


async def test_a_draft_outlives_a_reload_and_a_dead_server(
    person: Conversation, line: Line, faults: Faults
) -> None:
    await person.box.fill("half a thought\nand more")
    await person.page.reload()
    await expect(person.box).to_have_value("half a thought\nand more")
    await line.cut()
    await expect(person.page.locator("#link")).to_contain_text("offline")
    await person.box.fill("half a thought, longer")
    await line.restore()
    await person.page.reload()
    await expect(person.box).to_have_value("half a thought, longer")


async def test_a_message_whose_answer_was_lost_is_kept_once(
    person: Conversation, line: Line, other: Socket, session: Any
) -> None:
    line.cut_before = "message-queued"  # it was taken, and nobody says so
    await person.box.fill("/demo say only once")
    await person.press("Send")
    await expect(person.answers.last).to_contain_text("only once")
    await person.idle()
    kept = (await other.call("get_messages", sessionId=session["id"]))["messages"]
    assert json.dumps(kept).count("/demo say only once") == 1


async def test_the_end_stays_in_sight_where_all_is_read_again(
    person: Conversation, line: Line, other: Socket, session: Any, faults: Faults
) -> None:
    for message in ("/demo markdown 2", "/demo say one", "/demo say two"):
        await said(other, session, message)
    page = person.page
    await expect(page.locator(".message").last).to_contain_text("two")
    faults.allow("WebSocket")
    for _ in range(2):  # At the second time all is as high in the end as it was before.
        marked = "(all) => all.map((one) => (one.dataset.old = ''))"
        await page.locator(".message").evaluate_all(marked)
        await line.break_all()
        await expect(page.locator("[data-old]")).to_have_count(0)
        for _ in range(2):
            await page.evaluate("() => new Promise(requestAnimationFrame)")
    below = "(element) => element.scrollHeight - element.scrollTop - element.clientHeight"
    assert await page.get_by_role("log", name="Conversation").evaluate(below) < 2
