"""Guests: a link is made on the page, opened on another device, used within its role, and ended."""

from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.contract.conftest import receive_payload
from tests.page.browser import PHONE, PageErrors, Screen, wait_until_connected
from tests.page.conftest import OpenPage
from tests.server.conftest import Socket

WIDE = Screen(1440, 900)


@pytest.fixture(
    params=[
        pytest.param(WIDE, id="wide", marks=pytest.mark.longer),
        pytest.param(PHONE, id="phone"),
    ]
)
def guest_screen(request: pytest.FixtureRequest) -> Screen:
    screen: Screen = request.param
    return screen


async def ask_permission(client: Socket, session: Any) -> None:
    """Let the demo agent wait for a permission."""
    ids = {"sessionId": session["id"]}
    await client.call("update_session", **ids, executionMode="build")
    await client.call("send_chat_message", **ids, message="/demo permission touch made.txt")
    while (await receive_payload(client, "session-waiting"))["session_id"] != session["id"]:
        pass


async def has_no_horizontal_scroll(page: Page) -> bool:
    return bool(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


async def test_an_approver_answers_and_the_end_is_said(
    open_page: OpenPage,
    client: Socket,
    session: Any,
    guest_screen: Screen,
    page_errors: PageErrors,
) -> None:
    page_errors.allow("401")
    made = await client.call(
        "create_guest_link", sessionId=session["id"], role="approver", name="Ann", hours=2
    )
    await ask_permission(client, session)
    guest = await open_page(guest_link=made["url"], screen=guest_screen)
    await expect(guest.locator("#guest")).to_contain_text("You are a guest of the session")
    await expect(guest.get_by_role("heading", name="Run this command?")).to_be_visible()
    assert "guest=" not in guest.url
    for name in ("Allow for this session", "Send", "Changes"):
        await expect(guest.get_by_role("button", name=name, exact=True)).to_have_count(0)
    await expect(guest.get_by_role("textbox", name="Message")).to_have_count(0)
    await expect(guest.get_by_role("link", name="Preferences")).to_have_count(0)
    assert await has_no_horizontal_scroll(guest)
    await guest.goto(f"{guest.url.partition('#')[0]}#/preferences")
    await expect(guest.get_by_role("heading", name="Run this command?")).to_be_visible()
    await guest.get_by_role("button", name="Allow", exact=True).click()
    await client.event("message-completed")
    await guest.reload()
    await expect(guest.locator("#guest")).to_contain_text("answer what the agent asks")
    await wait_until_connected(guest)
    await client.call("revoke_guest_link", linkId=made["link"]["id"])
    await expect(guest.get_by_role("heading", name="This guest access has ended")).to_be_visible()
    await expect(guest.locator("#sign-in")).to_be_hidden()


async def test_a_guest_sees_what_happens_before_the_first_connection(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    made = await client.call("create_guest_link", sessionId=session["id"], role="approver")
    guest = await open_page(guest_link=made["url"], screen=PHONE)

    async def answer_late(route: Route) -> None:
        response = await route.fetch()
        await ask_permission(client, session)
        await route.fulfill(response=response)

    await guest.route("**/api/init", answer_late, times=1)
    await guest.reload()
    await expect(guest.get_by_role("heading", name="Run this command?")).to_be_visible()


async def test_a_viewer_reads_and_has_nothing_to_press(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    made = await client.call("create_guest_link", projectId=await project_of(client, session))
    await ask_permission(client, session)
    guest = await open_page(guest_link=made["url"], screen=PHONE)
    await expect(guest.get_by_text("Only the owner, approvers and drivers")).to_be_visible()
    await expect(guest.get_by_role("button", name="Allow", exact=True)).to_have_count(0)
    await expect(guest.get_by_role("link", name="New task")).to_have_count(0)
    assert await has_no_horizontal_scroll(guest)


async def project_of(client: Socket, session: Any) -> str:
    worktree = await client.call("get_worktree", worktreeId=session["worktree_id"])
    return str(worktree["project_id"])


async def test_the_owner_shares_sees_what_was_done_and_ends_it(
    open_page: OpenPage, client: Socket, session: Any, page_errors: PageErrors
) -> None:
    page_errors.allow("401")
    owner = await open_page(f"/session/{session['id']}")
    await owner.get_by_role("button", name="Session actions").click()
    await owner.get_by_role("button", name="Share").click()
    await owner.get_by_role("textbox", name="For whom").fill("Bo <b>")
    await owner.get_by_label("Role").select_option("driver")
    await owner.get_by_role("button", name="Make a link").click()
    await expect(owner.get_by_role("img", name="QR code of the guest link")).to_be_visible()
    url = await owner.locator(".link-text code").inner_text()
    guest = await open_page(guest_link=url, screen=PHONE)
    await guest.get_by_role("textbox", name="Message").fill("/demo say hello there")
    await guest.get_by_role("button", name="Send", exact=True).click()
    await expect(guest.get_by_text("hello there").last).to_be_visible()
    await owner.get_by_role("link", name="All guests").click()
    await expect(owner.locator(".guest-log")).to_contain_text("Bo <b> sent “/demo say hello there”")
    await expect(owner.locator(".rows-list")).to_contain_text("1 of 1 device ·")
    await owner.get_by_role("button", name="End access").click()
    await owner.get_by_role("button", name="End it").click()
    await expect(owner.get_by_role("heading", name="No guest links.")).to_be_visible()
    await expect(guest.get_by_role("heading", name="This guest access has ended")).to_be_visible()
