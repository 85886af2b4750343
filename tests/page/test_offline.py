"""Messages written offline are kept, and sent once after reconnecting."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest_asyncio
from playwright.async_api import WebSocketRoute, expect

from tests.page.browser import PageErrors, Screen, sign_in
from tests.page.conftest import OpenPage
from tests.page.proxy import Proxy
from tests.page.test_composer import PASTE, attachments, read_user_texts, wait_until_kept
from tests.page.test_device import wait_for_worker
from tests.page.test_projects import PIXEL
from tests.page.user_input import Pointer, SessionPage
from tests.patience import PATIENCE
from tests.program import Program, Serving
from tests.server.conftest import Socket

AGE_OUTBOX = """() => {
  const letters = JSON.parse(localStorage.getItem("spinney-outbox"));
  for (const letter of letters) letter.at -= 60_000;
  localStorage.setItem("spinney-outbox", JSON.stringify(letters));
}"""
"""Makes queued messages a minute older: new ones are not shown as waiting yet."""

PASTE_LARGE = """(box) => {
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File([new Uint8Array(21 * 1024 * 1024)], "large.bin"));
  box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
}"""

READ_TOKEN = "() => sessionStorage.getItem('spinney-token')"


@pytest_asyncio.fixture(loop_scope="session")
async def session_page(open_page: OpenPage, proxy: Proxy, session: Any) -> SessionPage:
    """The session's page, connected through the proxy, after one turn."""
    page = await open_page(f"/session/{session['id']}", base_url=proxy.base_url, has_worker=True)
    session_page = SessionPage(Pointer(page))
    await session_page.send("/demo say before")
    await expect(session_page.answers.last).to_contain_text("before")
    await session_page.wait_until_idle()
    return session_page


async def test_a_message_written_offline_is_sent_once_after_reconnecting(
    session_page: SessionPage, proxy: Proxy, client: Socket, session: Any
) -> None:
    await proxy.cut()
    banner = session_page.page.locator("#offline")
    await expect(banner).to_contain_text("Offline since")
    await expect(session_page.answers.last).to_contain_text("before")
    await session_page.send("/demo say first")
    await session_page.send("/demo say second")
    waiting = session_page.page.get_by_role("list", name="Queued messages").get_by_role("listitem")
    await expect(waiting).to_have_count(2)
    await proxy.restore()
    await expect(session_page.answers.filter(has_text="second")).to_have_count(1)
    await expect(waiting).to_have_count(0)
    await expect(banner).to_be_hidden()
    expected = ["/demo say before", "/demo say first", "/demo say second"]
    assert await read_user_texts(client, session) == expected


async def test_a_file_attached_offline_is_uploaded_after_reconnecting(
    session_page: SessionPage, proxy: Proxy, client: Socket, session: Any
) -> None:
    await proxy.cut()
    await expect(session_page.page.locator("#offline")).to_be_visible()
    await session_page.message_box.evaluate(PASTE, ["data.csv", "text/csv", list(b"a,b")])
    attached = attachments(session_page)
    await expect(attached).to_contain_text("uploads when you are back online")
    await session_page.message_box.fill("/demo say seen")
    # It stays attached while another view is shown, and is sent as soon as it is uploaded.
    address = session_page.page.url
    await session_page.page.goto("/#/needs")
    await expect(attached).to_have_count(0)
    await session_page.page.goto(address)
    await expect(attached).to_contain_text("data.csv")
    await session_page.press("Send")
    await expect(session_page.page.get_by_text("Sends as soon as")).to_be_visible()
    await expect(session_page.message_box).to_have_value("/demo say seen")
    await proxy.restore()
    await expect(session_page.answers.last).to_contain_text("seen")
    await session_page.wait_until_idle()
    page = await client.call("get_messages", sessionId=session["id"])
    [path] = page["messages"][-2]["files"]
    assert Path(path).read_bytes() == b"a,b"


async def test_an_upload_that_broke_off_is_tried_again_with_the_next_connection(
    open_page: OpenPage, proxy: Proxy, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}", base_url=proxy.base_url)
    await page.route("**/attachments?*", lambda route: route.abort())
    session_page = SessionPage(Pointer(page))
    await session_page.message_box.evaluate(PASTE, ["data.csv", "text/csv", list(b"a,b")])
    await expect(page.get_by_role("alert").filter(has_text="Could not attach")).to_be_visible()
    await page.unroute("**/attachments?*")
    await proxy.close_connections()
    await expect(attachments(session_page)).to_have_text(["data.csv"])


async def test_a_message_waits_for_its_attachments_also_over_a_reload(
    session_page: SessionPage, proxy: Proxy, client: Socket, session: Any
) -> None:
    page = session_page.page
    await wait_for_worker(page)
    await proxy.cut()
    await expect(page.locator("#offline")).to_be_visible()
    await session_page.message_box.evaluate(PASTE, ["data.csv", "text/csv", list(b"a,b")])
    await session_page.message_box.evaluate(PASTE, ["dot.png", "image/png", list(PIXEL)])
    await session_page.message_box.evaluate(PASTE, ["no.txt", "text/plain", list(b"not this")])
    await session_page.press("Remove no.txt")
    await wait_until_kept(page, 2)
    await session_page.message_box.fill("/demo say seen")
    await session_page.press("Send")
    await expect(page.get_by_text("Sends as soon as")).to_be_visible()
    await page.reload()
    await proxy.restore()
    await expect(session_page.answers.last).to_contain_text("seen")
    await session_page.wait_until_idle()
    read = await client.call("get_messages", sessionId=session["id"])
    message = read["messages"][-2]
    assert [Path(path).read_bytes() for path in message["files"]] == [b"a,b"]
    assert [block["type"] for block in message["content"]].count("image") == 1
    # What was uploaded is not attached once more by the next reload.
    await page.reload()
    await expect(session_page.message_box).to_have_value("")
    await expect(attachments(session_page)).to_have_count(0)


async def test_a_message_that_waits_for_its_attachments_is_sent_from_any_view(
    session_page: SessionPage, proxy: Proxy, client: Socket, session: Any
) -> None:
    await proxy.cut()
    await expect(session_page.page.locator("#offline")).to_be_visible()
    await session_page.message_box.evaluate(PASTE, ["data.csv", "text/csv", list(b"a,b")])
    await session_page.message_box.fill("/demo say seen")
    await session_page.press("Send")
    await expect(session_page.page.get_by_text("Sends as soon as")).to_be_visible()
    await session_page.page.goto("/#/needs")
    await expect(session_page.message_box).to_have_count(0)
    await proxy.restore()
    async with asyncio.timeout(PATIENCE):
        while "/demo say seen" not in await read_user_texts(client, session):
            await asyncio.sleep(0.1)
    await session_page.page.goto(f"/#/session/{session['id']}")
    await expect(session_page.answers.last).to_contain_text("seen")
    await expect(session_page.message_box).to_have_value("")


async def test_a_file_that_is_too_large_is_refused_at_once(
    session_page: SessionPage, proxy: Proxy
) -> None:
    await proxy.cut()
    await expect(session_page.page.locator("#offline")).to_be_visible()
    await session_page.message_box.evaluate(PASTE_LARGE)
    await expect(attachments(session_page)).to_contain_text("It is larger than 20 MB.")


async def test_a_file_that_two_tabs_upload_is_attached_once(
    session_page: SessionPage, proxy: Proxy, session: Any
) -> None:
    await proxy.cut()
    await expect(session_page.page.locator("#offline")).to_be_visible()
    await session_page.message_box.evaluate(PASTE, ["data.csv", "text/csv", list(b"a,b")])
    await expect(attachments(session_page)).to_contain_text("uploads when you are back online")
    other = await session_page.page.context.new_page()
    await proxy.restore()
    await sign_in(other, await session_page.page.evaluate(READ_TOKEN), f"/session/{session['id']}")
    for one in (session_page, SessionPage(Pointer(other))):
        await expect(attachments(one)).to_have_text(["data.csv"])
        await expect(attachments(one).locator("progress")).to_have_count(0)


async def test_loaded_views_stay_readable_offline(
    session_page: SessionPage, proxy: Proxy, client: Socket, session: Any
) -> None:
    unread = await client.call("create_session", worktreeId=session["worktree_id"], name="Unread")
    await expect(
        session_page.page.locator("#tree").get_by_role("link", name="Unread")
    ).to_be_visible()
    await session_page.page.goto(f"/#/worktree/{session['worktree_id']}")
    await expect(session_page.page.get_by_role("button", name="New session")).to_be_visible()
    await session_page.page.goto(f"/#/diff/{session['worktree_id']}")
    await expect(session_page.page.get_by_text("No unstaged changes.")).to_be_visible()
    await proxy.cut()
    await expect(session_page.page.locator("#offline")).to_be_visible()
    await session_page.page.goto(f"/#/session/{unread['id']}")
    conversation = session_page.page.get_by_role("log")
    await expect(conversation).to_contain_text("this conversation has not been loaded yet")
    await session_page.page.goto(f"/#/session/{session['id']}")
    await expect(session_page.answers.last).to_contain_text("before")
    await expect(conversation).to_contain_text("This is the conversation as of")
    await session_page.page.goto(f"/#/diff/{session['worktree_id']}")
    await expect(
        session_page.page.get_by_text("You are offline. Changes will load when")
    ).to_be_visible()
    await session_page.page.goto(f"/#/worktree/{session['worktree_id']}")
    await expect(session_page.page.get_by_role("button", name="New session")).to_be_visible()
    # Navigating sends nothing, so no unsent message is reported.
    await expect(session_page.page.get_by_text("Nothing was sent")).to_have_count(0)
    await session_page.page.goto(f"/#/diff/{session['worktree_id']}")
    await proxy.restore()
    await expect(session_page.page.locator("#link")).to_have_text("connected")
    await expect(session_page.page.get_by_text("You are offline.")).to_have_count(0)
    await session_page.page.goto(f"/#/session/{session['id']}")
    await expect(session_page.answers.last).to_contain_text("before")
    await expect(conversation).not_to_contain_text("This is the conversation as of")


async def test_queued_messages_cover_nothing_when_a_keyboard_takes_half_of_a_phone(
    open_page: OpenPage, proxy: Proxy, session: Any
) -> None:
    place, screen = f"/session/{session['id']}", Screen(390, 430, touch=True)
    page = await open_page(place, base_url=proxy.base_url, screen=screen, has_worker=True)
    session_page = SessionPage(Pointer(page, touch=True))
    await expect(session_page.message_box).to_be_visible()
    await proxy.cut()
    await expect(page.locator("#offline")).to_be_visible()
    for number in range(3):
        await session_page.send(f"/demo say {number}")
    waiting = page.get_by_role("list", name="Queued messages")
    await expect(waiting.get_by_role("listitem")).to_have_count(3)
    log, queue, composer = [
        await part.evaluate("(part) => part.getBoundingClientRect().toJSON()")
        for part in (page.get_by_role("log"), waiting, page.locator(".composer"))
    ]
    assert log["bottom"] <= queue["top"]
    assert queue["bottom"] <= composer["top"]
    assert composer["bottom"] <= 430
    assert queue["top"] - log["top"] > 32  # more than its padding


async def test_a_view_opened_offline_loads_after_reconnecting(
    open_page: OpenPage, proxy: Proxy, worktree: Any
) -> None:
    # Without a service worker, as on an address without TLS: nothing is cached.
    page = await open_page(base_url=proxy.base_url)
    await proxy.cut()
    await expect(page.locator("#offline")).to_be_visible()
    await page.goto(f"/#/diff/{worktree['id']}")
    await expect(page.get_by_text("You are offline, and this part of the page")).to_be_visible()
    await proxy.restore()
    await expect(page.get_by_text("No unstaged changes.")).to_be_visible()
    await expect(page.locator(".diff-view")).to_have_css("display", "grid")


async def test_a_part_that_could_not_be_loaded_offline_offers_a_reload_once_online(
    open_page: OpenPage, proxy: Proxy, worktree: Any
) -> None:
    page = await open_page(f"/worktree/{worktree['id']}", base_url=proxy.base_url)
    unloaded = page.locator(".toast", has_text="This part of the page could not be loaded.")
    actions = page.get_by_role("button", name="Worktree actions")

    async def show_commits() -> None:
        await actions.click()
        await page.get_by_role("button", name="Commits").click()

    await expect(actions).to_be_visible()
    await proxy.cut()
    await expect(page.locator("#offline")).to_be_visible()
    await show_commits()
    await expect(unloaded).to_be_visible()
    await expect(unloaded.get_by_role("button", name="Reload")).to_have_count(0)
    await proxy.restore()
    await expect(page.locator("#link")).to_have_text("connected")
    await show_commits()
    await unloaded.get_by_role("button", name="Reload").click()
    await expect(unloaded).to_have_count(0)
    await show_commits()
    await expect(page.get_by_role("dialog", name="Commits")).to_be_visible()


async def test_every_view_opens_offline_with_the_service_worker(
    open_page: OpenPage, proxy: Proxy
) -> None:
    page = await open_page(base_url=proxy.base_url, has_worker=True)
    await wait_for_worker(page)
    await proxy.cut()
    await expect(page.locator("#offline")).to_be_visible()
    await page.goto("/#/help")
    await expect(page.locator("#content")).to_contain_text("Rename the session")


async def test_the_token_is_never_logged_to_the_console(
    session_page: SessionPage, proxy: Proxy, server: Serving, page_errors: PageErrors
) -> None:
    proxy.cut_before = "message-queued"
    await session_page.send("/demo say once")
    await expect(session_page.answers.filter(has_text="once")).to_have_count(1)
    await proxy.cut()
    await expect(session_page.page.locator("#offline")).to_be_visible()
    await expect(session_page.page.locator("#link")).to_contain_text("next try in 2")
    await proxy.restore()
    await expect(session_page.page.locator("#link")).to_have_text("connected")
    assert any("WebSocket connection to" in message for message in page_errors.messages)
    assert not any(server.token in message for message in page_errors.messages)


async def test_a_message_whose_response_was_lost_is_not_sent_twice(
    session_page: SessionPage, proxy: Proxy, client: Socket, session: Any
) -> None:
    proxy.cut_before = "message-queued"
    await session_page.send("/demo say only once")
    await expect(session_page.answers.filter(has_text="only once")).to_have_count(1)
    await expect(session_page.page.get_by_role("list", name="Queued messages")).to_be_empty()
    assert await read_user_texts(client, session) == ["/demo say before", "/demo say only once"]


async def test_a_message_written_offline_survives_a_reload_and_a_restart(
    session_page: SessionPage, proxy: Proxy, server: Serving, program: Program, session: Any
) -> None:
    server.process.kill()
    server.process.wait()
    await expect(session_page.page.locator("#offline")).to_be_visible()
    await session_page.send("/demo say after all")
    with program.serving("--demo") as again:
        proxy.target = again.base_url
        await session_page.page.reload()
        await expect(session_page.answers.filter(has_text="after all")).to_have_count(1)
        messages = program.call("get_messages", f"sessionId={session['id']}")["messages"]
        texts = [m["content"][0]["text"] for m in messages if m["role"] == "user"]
        assert texts == ["/demo say before", "/demo say after all"]


async def test_a_message_written_offline_can_be_edited_and_removed(
    session_page: SessionPage, proxy: Proxy, client: Socket, session: Any
) -> None:
    await proxy.cut()
    await expect(session_page.page.locator("#offline")).to_be_visible()
    await session_page.send("/demo say wrong")
    await session_page.send("/demo say never")
    waiting = session_page.page.get_by_role("list", name="Queued messages").get_by_role("listitem")
    await waiting.filter(has_text="never").get_by_role("button", name="Remove").click()
    await waiting.filter(has_text="wrong").get_by_role("button", name="Edit").click()
    await expect(waiting).to_have_count(0)
    await expect(session_page.message_box).to_have_value("/demo say wrong")
    await session_page.send("/demo say right")
    await proxy.restore()
    await expect(session_page.answers.filter(has_text="right")).to_have_count(1)
    assert await read_user_texts(client, session) == ["/demo say before", "/demo say right"]


async def test_a_message_that_is_being_sent_cannot_be_edited_or_removed(
    open_page: OpenPage, proxy: Proxy, session: Any
) -> None:
    page = await open_page(base_url=proxy.base_url, has_worker=True)
    is_sending = asyncio.Event()

    def drop_responses(route: WebSocketRoute) -> None:
        """Drop the responses to all messages that the page sends after the first."""
        server = route.connect_to_server()
        sent: list[str] = []

        def forward_to_page(frame: str | bytes) -> None:
            if json.loads(frame).get("id") not in sent[1:]:
                route.send(frame)

        def forward_to_server(frame: str | bytes) -> None:
            if json.loads(frame).get("command") == "send_chat_message":
                sent.append(json.loads(frame)["id"])
            if len(sent) == 2:
                is_sending.set()
            server.send(frame)

        route.on_message(forward_to_server)
        server.on_message(forward_to_page)

    await page.route_web_socket("**/ws?*", drop_responses)
    await page.goto(f"/#/session/{session['id']}")
    await page.reload()
    session_page = SessionPage(Pointer(page))
    await expect(session_page.page.locator("#link")).to_have_text("connected")
    await proxy.cut()
    await expect(page.locator("#offline")).to_be_visible()
    await session_page.send("/demo say first")
    await session_page.send("/demo say second")
    await page.evaluate(AGE_OUTBOX)
    await proxy.restore()
    await is_sending.wait()
    waiting = page.get_by_role("list", name="Queued messages").get_by_role("listitem")
    assert await waiting.filter(has_text="second").get_by_role("button").count() == 0
    await expect(waiting.filter(has_text="/demo say second")).to_be_visible()
    await expect(waiting.first).to_contain_text("Sending")


async def test_an_approval_made_offline_is_not_sent_later(
    session_page: SessionPage, proxy: Proxy, client: Socket, session: Any
) -> None:
    await session_page.send("/demo plan write late.txt: x")
    await expect(session_page.button("Build")).to_be_visible()
    await proxy.cut()
    await expect(session_page.page.locator("#offline")).to_be_visible()
    await session_page.press("Build")
    await expect(session_page.page.get_by_role("alert")).to_be_visible()
    await proxy.restore()
    await expect(session_page.page.locator("#link")).to_have_text("connected")
    await session_page.send("/demo say and now")
    await expect(session_page.answers.filter(has_text="and now")).to_have_count(1)
    now = await client.call("get_session", sessionId=session["id"])
    assert now["execution_mode"] == "plan"
