"""All sessions in one view: waiting ones first, filtered, several selected."""

import asyncio
import json
from typing import Any

import pytest_asyncio
from playwright.async_api import Locator, Page, WebSocketRoute, expect

from tests.page.browser import Screen
from tests.page.conftest import OpenPage
from tests.page.user_input import Pointer
from tests.server.conftest import Socket

NAMES = ("apple", "pear", "quince")


@pytest_asyncio.fixture(loop_scope="session")
async def sessions(client: Socket, worktree: Any) -> list[Any]:
    return [
        await client.call("create_session", worktreeId=worktree["id"], name=name) for name in NAMES
    ]


@pytest_asyncio.fixture(loop_scope="session")
async def canvas(open_page: OpenPage, sessions: list[Any], screen: Screen) -> Page:
    page = await open_page("/canvas", screen=screen)
    await expect(cells(page)).to_have_count(len(sessions))
    return page


def cells(page: Page) -> Locator:
    return page.locator(".cells > li")


async def press(page: Page, screen: Screen, control: Locator) -> None:
    await Pointer(page, touch=screen.touch).press(control)


async def select(page: Page, screen: Screen, *names: str) -> None:
    for name in names:
        await press(page, screen, page.get_by_role("checkbox", name=f"Select {name}"))


async def test_waiting_sessions_come_first_and_show_their_question(
    canvas: Page, client: Socket, sessions: list[Any], screen: Screen
) -> None:
    message = "/demo ask Red or green? | Red | Green"
    await client.call("send_chat_message", sessionId=sessions[0]["id"], message=message)
    first = cells(canvas).first
    await expect(first).to_contain_text("apple")
    await expect(first).to_contain_text("Red or green?")
    await press(canvas, screen, first.locator("summary"))
    await press(canvas, screen, first.get_by_role("button", name="Green", exact=True))
    await expect(cells(canvas).filter(has_text="apple")).to_contain_text("You answered: Green")


async def test_a_typed_answer_survives_a_redraw_of_its_session(
    canvas: Page, client: Socket, sessions: list[Any], screen: Screen
) -> None:
    given = {"sessionId": sessions[0]["id"]}
    await client.call("send_chat_message", message="/demo ask Red or green? | Red | Green", **given)
    cell = cells(canvas).filter(has_text="apple")
    await press(canvas, screen, cell.locator("summary"))
    answer = cell.get_by_role("textbox", name="Red or green?")
    await answer.fill("Yellow")
    await client.call("update_session", name="apple tree", **given)
    await expect(cell).to_contain_text("apple tree")
    await expect(answer).to_have_value("Yellow")
    await press(canvas, screen, cell.get_by_role("button", name="Answer", exact=True))
    await expect(cell).to_contain_text("You answered: Yellow")


async def test_a_message_that_arrives_during_get_messages_is_shown(
    open_page: OpenPage, client: Socket, sessions: list[Any]
) -> None:
    delayed: list[str | bytes] = []
    is_delayed = asyncio.Event()

    def delay_messages(route: WebSocketRoute) -> None:
        """Deliver the first response to get_messages only after the next message-completed."""
        server = route.connect_to_server()
        request_ids: list[str] = []

        def forward_to_server(frame: str | bytes) -> None:
            if json.loads(frame).get("command") == "get_messages" and not is_delayed.is_set():
                request_ids.append(json.loads(frame)["id"])
            server.send(frame)

        def forward_to_page(frame: str | bytes) -> None:
            if json.loads(frame).get("id") in request_ids:
                delayed.append(frame)
                is_delayed.set()
                request_ids.clear()
                return
            route.send(frame)
            if delayed and json.loads(frame).get("event") == "message-completed":
                route.send(delayed.pop())

        route.on_message(forward_to_server)
        server.on_message(forward_to_page)

    page = await open_page()
    await page.route_web_socket("**/ws?*", delay_messages)
    await page.reload()
    await page.goto("/#/canvas")
    given = {"sessionId": sessions[0]["id"]}
    await client.call("send_chat_message", message="/demo ask Red or green? | Red | Green", **given)
    await is_delayed.wait()
    await client.event("session-waiting")
    await client.call("answer_question", answer="Green", **given)
    await expect(cells(page).filter(has_text="apple")).to_contain_text("You answered: Green")


async def test_sessions_are_filtered_and_shown_as_a_list_or_a_grid(
    canvas: Page, client: Socket, screen: Screen
) -> None:
    box = canvas.get_by_role("searchbox", name="Filter sessions")
    await box.fill("quince")
    await expect(cells(canvas)).to_have_count(1)
    await box.fill("nothing like it")
    await expect(canvas.get_by_text("No matching sessions.")).to_be_visible()
    await box.fill("")
    await press(canvas, screen, canvas.get_by_role("button", name="As a grid"))
    await expect(canvas.locator(".cells.grid")).to_be_visible()
    assert (await client.call("get_preferences"))["canvas_layout"] == "grid"
    await press(canvas, screen, canvas.get_by_role("button", name="As a list"))
    await expect(canvas.locator(".cells.grid")).to_have_count(0)


async def test_several_sessions_are_messaged_stopped_and_archived_at_once(
    canvas: Page, client: Socket, sessions: list[Any], screen: Screen
) -> None:
    def button(name: str) -> Locator:
        return canvas.get_by_role("button", name=name, exact=True)

    await select(canvas, screen, "apple", "quince")
    await expect(canvas.get_by_text("2 selected")).to_be_visible()
    await press(canvas, screen, button("Message…"))
    await canvas.get_by_role("textbox", name="Message to 2 sessions").fill(
        "/demo stream 1000000 20"
    )
    await press(canvas, screen, button("Send"))
    running = canvas.locator('.cells [data-mark="running"]')
    await expect(running).to_have_count(2)
    await press(canvas, screen, button("Stop"))
    await expect(running).to_have_count(0)
    await press(canvas, screen, button("Archive"))
    await press(canvas, screen, canvas.get_by_role("dialog").get_by_role("button", name="Archive"))
    await expect(cells(canvas)).to_have_count(1)
    await expect(cells(canvas)).to_contain_text("pear")
    left = await client.call("list_sessions", worktreeId=sessions[0]["worktree_id"])
    assert [session["name"] for session in left] == ["pear"]
