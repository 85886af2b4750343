"""Files that change while the user reads and comments on their changes."""

import json
from typing import Any

from playwright.async_api import Page, WebSocketRoute, expect

from tests.page.conftest import OpenPage
from tests.page.diff.work_tree import BOTH_ENDS, WorkTree, button, open_diff, refresh_status, row
from tests.server.conftest import Socket


async def test_an_unfinished_comment_keeps_the_focus_while_the_file_changes(
    page: Page, two_hunks: WorkTree, client: Socket
) -> None:
    await open_diff(page, two_hunks)
    await row(page, "line twenty-eight").locator(".no").last.click()
    await button(page, "Comment").click()
    await page.keyboard.type("Why in wo")
    await page.keyboard.press("ArrowLeft")
    box = page.locator(".comment-row textarea")
    two_hunks.write("list.txt", "first of all\n" + BOTH_ENDS)
    await refresh_status(client, two_hunks)
    await expect(row(page, "first of all")).to_be_attached()
    await expect(box).to_be_focused()
    await page.keyboard.type("rr")
    await expect(box).to_have_value("Why in wrro")
    await expect(page.get_by_role("group", name="Comment on list.txt:29").first).to_be_visible()


async def test_a_focused_line_does_not_move_when_lines_are_added_above_it(
    page: Page, tree: WorkTree, client: Socket
) -> None:
    lines = [f"number {n}\n" for n in range(300)]
    tree.write("numbers.txt", "".join(lines))
    await open_diff(page, tree)
    line = row(page, "number 200")
    await line.evaluate("(element) => element.scrollIntoView({ block: 'start' })")
    await expect(line).to_be_in_viewport()
    await line.evaluate("(element) => element.focus({ preventScroll: true })")
    top = "(element) => Math.round(element.getBoundingClientRect().top)"
    before = await line.evaluate(top)
    tree.write("numbers.txt", "".join(["came first\n"] * 40 + lines))
    await refresh_status(client, tree)
    await expect(row(page, "came first")).to_be_attached()
    await expect(line).to_be_focused()
    assert abs(await line.evaluate(top) - before) <= 2


async def test_a_file_that_changed_since_it_was_shown_is_redrawn_instead_of_staged(
    open_page: OpenPage, two_hunks: WorkTree
) -> None:
    page = await open_page()
    hidden = ("git:status-update", "message-block", "message-completed")

    def drop_events(route: WebSocketRoute) -> None:
        """Drop the events that would update the page."""
        server = route.connect_to_server()
        route.on_message(server.send)
        server.on_message(
            lambda frame: None if json.loads(frame).get("event") in hidden else route.send(frame)
        )

    await page.route_web_socket("**/ws?*", drop_events)
    await page.reload()
    await open_diff(page, two_hunks)
    await expect(row(page, "line three")).to_be_visible()
    two_hunks.write("list.txt", BOTH_ENDS.replace("line 1\n", "line one\n"))
    await button(page, "Stage list.txt").click()
    await expect(page.get_by_role("alert")).to_contain_text("has changed since it was shown")
    await expect(row(page, "line one")).to_be_visible()
    assert two_hunks.git("diff", "--cached") == ""
    await button(page, "Stage list.txt").click()
    await expect(page.get_by_text("No unstaged changes.")).to_be_visible()
    assert "+line one" in two_hunks.git("diff", "--cached")


async def test_edits_of_an_agent_are_shown_while_it_works(
    page: Page, two_hunks: WorkTree, session: Any, client: Socket
) -> None:
    await open_diff(page, two_hunks)
    await expect(row(page, "line three")).to_be_visible()
    await client.call("update_session", sessionId=session["id"], executionMode="yolo")
    words = "/demo write notes.txt: an apple a day\n/demo stream 1000000 50"
    await client.call("send_chat_message", sessionId=session["id"], message=words)
    await expect(row(page, "an apple a day")).to_be_visible()
    await expect(page.locator("#content")).to_contain_text("2 files")
    await client.call("stop_generation", sessionId=session["id"])


async def test_a_selection_moves_with_its_lines_until_they_are_gone(
    page: Page, two_hunks: WorkTree, client: Socket
) -> None:
    await open_diff(page, two_hunks)
    await row(page, "line twenty-eight").locator(".no").last.click()
    await expect(page.locator(".marked")).to_have_text("28+line twenty-eight")
    two_hunks.write("list.txt", "first of all\n" + BOTH_ENDS)
    await refresh_status(client, two_hunks)
    await expect(row(page, "first of all")).to_be_attached()
    await expect(page.locator(".marked")).to_have_text("29+line twenty-eight")
    two_hunks.write("list.txt", BOTH_ENDS.replace("line twenty-eight", "line 28"))
    await refresh_status(client, two_hunks)
    await expect(row(page, "line twenty-eight")).to_have_count(0)
    await expect(page.locator(".marked")).to_have_count(0)
    await expect(page.get_by_role("group", name="Selected lines")).to_be_hidden()
