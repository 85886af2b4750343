"""What a person writes while the connection is gone is kept, and sent once when it is back."""

import asyncio
import json
from typing import Any

import pytest_asyncio
from playwright.async_api import WebSocketRoute, expect

from tests.page.browser import Faults, Screen
from tests.page.conftest import OpenPage
from tests.page.line import Line
from tests.page.person import Conversation, Pointer
from tests.page.test_composer import texts
from tests.page.test_device import with_worker
from tests.program import Program, Serving
from tests.server.conftest import Socket

WAITED_LONG = """() => {
  const letters = JSON.parse(localStorage.getItem("spinney-outbox"));
  for (const letter of letters) letter.at -= 60_000;
  localStorage.setItem("spinney-outbox", JSON.stringify(letters));
}"""
"""What waits is shown: as on a good line, it is not in its first moments."""


@pytest_asyncio.fixture(loop_scope="session")
async def at(open_page: OpenPage, line: Line, session: Any) -> Conversation:
    """Somebody at the session, at the other end of the line, who was answered once."""
    page = await open_page(f"/session/{session['id']}", base_url=line.base_url, has_worker=True)
    made = Conversation(Pointer(page))
    await made.say("/demo say before")
    await expect(made.answers.last).to_contain_text("before")
    await made.idle()
    return made


async def test_a_message_written_offline_goes_once_when_the_connection_is_back(
    at: Conversation, line: Line, other: Socket, session: Any
) -> None:
    await line.cut()
    banner = at.page.locator("#offline")
    await expect(banner).to_contain_text("Offline since")
    await expect(at.answers.last).to_contain_text("before")
    await at.say("/demo say first")
    await at.say("/demo say second")
    waiting = at.page.get_by_role("list", name="Queued messages").get_by_role("listitem")
    await expect(waiting).to_have_count(2)
    await line.restore()
    await expect(at.answers.filter(has_text="second")).to_have_count(1)
    await expect(waiting).to_have_count(0)
    await expect(banner).to_be_hidden()
    expected = ["/demo say before", "/demo say first", "/demo say second"]
    assert await texts(other, session) == expected


async def test_what_was_read_stays_readable_while_the_connection_is_gone(
    at: Conversation, line: Line, other: Socket, session: Any
) -> None:
    unread = await other.call("create_session", worktreeId=session["worktree_id"], name="Unread")
    await expect(at.page.locator("#tree").get_by_role("link", name="Unread")).to_be_visible()
    await at.page.goto(f"/#/diff/{session['worktree_id']}")
    await expect(at.page.get_by_text("No unstaged changes.")).to_be_visible()
    await line.cut()
    await expect(at.page.locator("#offline")).to_be_visible()
    await at.page.goto(f"/#/session/{unread['id']}")
    conversation = at.page.get_by_role("log")
    await expect(conversation).to_contain_text("this conversation has not been loaded yet")
    await at.page.goto(f"/#/session/{session['id']}")
    await expect(at.answers.last).to_contain_text("before")
    await expect(conversation).to_contain_text("This is the conversation as of")
    await at.page.goto(f"/#/diff/{session['worktree_id']}")
    await expect(at.page.get_by_text("You are offline. Changes will load when")).to_be_visible()
    await at.page.goto(f"/#/worktree/{session['worktree_id']}")
    await expect(at.page.get_by_role("button", name="New session")).to_be_visible()
    # Who goes about sends nothing, and is told of nothing that was not sent.
    await expect(at.page.get_by_text("Nothing was sent")).to_have_count(0)
    await at.page.goto(f"/#/diff/{session['worktree_id']}")
    await line.restore()
    await expect(at.page.locator("#link")).to_have_text("connected")
    await expect(at.page.get_by_text("You are offline.")).to_have_count(0)
    await at.page.goto(f"/#/session/{session['id']}")
    await expect(at.answers.last).to_contain_text("before")
    await expect(conversation).not_to_contain_text("This is the conversation as of")


async def test_what_waits_lies_over_nothing_where_a_keyboard_takes_half_of_a_phone(
    open_page: OpenPage, line: Line, session: Any
) -> None:
    place, screen = f"/session/{session['id']}", Screen(390, 430, touch=True)
    page = await open_page(place, base_url=line.base_url, screen=screen, has_worker=True)
    at = Conversation(Pointer(page, touch=True))
    await expect(at.box).to_be_visible()
    await line.cut()
    await expect(page.locator("#offline")).to_be_visible()
    for number in range(3):
        await at.say(f"/demo say {number}")
    waiting = page.get_by_role("list", name="Queued messages")
    await expect(waiting.get_by_role("listitem")).to_have_count(3)
    log, queue, composer = [
        await part.evaluate("(part) => part.getBoundingClientRect().toJSON()")
        for part in (page.get_by_role("log"), waiting, page.locator(".composer"))
    ]
    assert log["bottom"] <= queue["top"]
    assert queue["bottom"] <= composer["top"]
    assert composer["bottom"] <= 430
    assert queue["top"] - log["top"] > 32  # its paddings, and something between them


async def test_a_part_that_was_never_opened_comes_when_the_connection_does(
    open_page: OpenPage, line: Line, worktree: Any
) -> None:
    # Without the worker, as at an address that has no encryption: nothing is kept.
    page = await open_page(base_url=line.base_url)
    await line.cut()
    await expect(page.locator("#offline")).to_be_visible()
    await page.goto(f"/#/diff/{worktree['id']}")
    await expect(page.get_by_text("You are offline, and this part of the page")).to_be_visible()
    await line.restore()
    await expect(page.get_by_text("No unstaged changes.")).to_be_visible()
    await expect(page.locator(".diff-view")).to_have_css("display", "grid")


async def test_every_part_opens_without_a_connection_where_the_worker_keeps_the_page(
    open_page: OpenPage, line: Line
) -> None:
    page = await open_page(base_url=line.base_url, has_worker=True)
    await with_worker(page)
    await line.cut()
    await expect(page.locator("#offline")).to_be_visible()
    await page.goto("/#/help")
    await expect(page.locator("#content")).to_contain_text("Rename the session")


async def test_the_token_is_written_into_no_console(
    at: Conversation, line: Line, served: Serving, faults: Faults
) -> None:
    line.cut_before = "message-queued"
    await at.say("/demo say once")
    await expect(at.answers.filter(has_text="once")).to_have_count(1)
    await line.cut()
    await expect(at.page.locator("#offline")).to_be_visible()
    await expect(at.page.locator("#link")).to_contain_text("next try in 2")
    await line.restore()
    await expect(at.page.locator("#link")).to_have_text("connected")
    assert any("WebSocket connection to" in told for told in faults.found)
    assert not any(served.token in told for told in faults.found)


async def test_a_message_whose_answer_was_lost_is_not_sent_twice(
    at: Conversation, line: Line, other: Socket, session: Any
) -> None:
    line.cut_before = "message-queued"
    await at.say("/demo say only once")
    await expect(at.answers.filter(has_text="only once")).to_have_count(1)
    await expect(at.page.get_by_role("list", name="Queued messages")).to_be_empty()
    assert await texts(other, session) == ["/demo say before", "/demo say only once"]


async def test_it_is_kept_over_a_reload_and_a_restart_of_spinney(
    at: Conversation, line: Line, served: Serving, program: Program, session: Any
) -> None:
    served.process.kill()
    served.process.wait()
    await expect(at.page.locator("#offline")).to_be_visible()
    await at.say("/demo say after all")
    with program.serving("--demo") as again:
        line.target = again.base_url
        await at.page.reload()
        await expect(at.answers.filter(has_text="after all")).to_have_count(1)
        told = program.call("get_messages", f"sessionId={session['id']}")["messages"]
        said = [m["content"][0]["text"] for m in told if m["role"] == "user"]
        assert said == ["/demo say before", "/demo say after all"]


async def test_it_can_be_changed_and_removed_before_it_goes(
    at: Conversation, line: Line, other: Socket, session: Any
) -> None:
    await line.cut()
    await expect(at.page.locator("#offline")).to_be_visible()
    await at.say("/demo say wrong")
    await at.say("/demo say never")
    waiting = at.page.get_by_role("list", name="Queued messages").get_by_role("listitem")
    await waiting.filter(has_text="never").get_by_role("button", name="Remove").click()
    await waiting.filter(has_text="wrong").get_by_role("button", name="Edit").click()
    await expect(waiting).to_have_count(0)
    await expect(at.box).to_have_value("/demo say wrong")
    await at.say("/demo say right")
    await line.restore()
    await expect(at.answers.filter(has_text="right")).to_have_count(1)
    assert await texts(other, session) == ["/demo say before", "/demo say right"]


async def test_what_is_on_its_way_cannot_be_changed_or_removed_any_more(
    open_page: OpenPage, line: Line, session: Any
) -> None:
    page = await open_page(base_url=line.base_url, has_worker=True)
    is_on_its_way = asyncio.Event()

    def deaf(route: WebSocketRoute) -> None:
        """What the page sends second is taken, and it never hears so."""
        server = route.connect_to_server()
        sent: list[str] = []

        def tell(frame: str | bytes) -> None:
            if json.loads(frame).get("id") not in sent[1:]:
                route.send(frame)

        def ask(frame: str | bytes) -> None:
            if json.loads(frame).get("command") == "send_chat_message":
                sent.append(json.loads(frame)["id"])
            if len(sent) == 2:
                is_on_its_way.set()
            server.send(frame)

        route.on_message(ask)
        server.on_message(tell)

    await page.route_web_socket("**/ws?*", deaf)
    await page.goto(f"/#/session/{session['id']}")
    await page.reload()
    at = Conversation(Pointer(page))
    await expect(at.page.locator("#link")).to_have_text("connected")
    await line.cut()
    await expect(page.locator("#offline")).to_be_visible()
    await at.say("/demo say first")
    await at.say("/demo say second")
    await page.evaluate(WAITED_LONG)
    await line.restore()
    await is_on_its_way.wait()
    waiting = page.get_by_role("list", name="Queued messages").get_by_role("listitem")
    assert await waiting.filter(has_text="second").get_by_role("button").count() == 0
    await expect(waiting.filter(has_text="Sending: /demo say second")).to_be_visible()


async def test_an_approval_is_never_made_up_for(
    at: Conversation, line: Line, other: Socket, session: Any
) -> None:
    await at.say("/demo plan write late.txt: x")
    await expect(at.button("Build")).to_be_visible()
    await line.cut()
    await expect(at.page.locator("#offline")).to_be_visible()
    await at.press("Build")
    await expect(at.page.get_by_role("alert")).to_be_visible()
    await line.restore()
    await expect(at.page.locator("#link")).to_have_text("connected")
    await at.say("/demo say and now")
    await expect(at.answers.filter(has_text="and now")).to_have_count(1)
    now = await other.call("get_session", sessionId=session["id"])
    assert now["execution_mode"] == "plan"
