"""The page with screen readers and by keyboard: axe, live regions, the first tab stop."""

import json
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.async_api import Page, expect

from tests.contract.conftest import receive_payload
from tests.page.browser import DESKTOP, PHONE, VIEWS, Screen
from tests.page.conftest import OpenPage
from tests.page.user_input import Pointer, SessionPage
from tests.server.conftest import Socket

AXE = next(Path(axe_playwright_python.__file__).parent.glob("**/axe.min.js")).read_text()


async def run_axe(page: Page) -> list[str]:
    """The violations that axe finds, one line each.

    It runs in an isolated world, so the page keeps its content security policy.
    """
    devtools = await page.context.new_cdp_session(page)
    tree = await devtools.send("Page.getFrameTree")
    world = await devtools.send(
        "Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]}
    )
    response = await devtools.send(
        "Runtime.evaluate",
        {
            "contextId": world["executionContextId"],
            "expression": f"{AXE}; axe.run(document, {{resultTypes: ['violations']}})"
            ".then((result) => JSON.stringify(result.violations))",
            "awaitPromise": True,
            "returnByValue": True,
        },
    )
    assert "exceptionDetails" not in response, response["exceptionDetails"]
    violations = json.loads(response["result"]["value"])
    return [
        f"{each['id']} ({each['impact']}): {node['html'][:200]}"
        for each in violations
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.longer)])
async def test_axe_finds_no_violation_in_any_view(
    open_page: OpenPage, client: Socket, session: Any, project: Any, scheme: str
) -> None:
    message = "/demo markdown 4\n/demo plan write a.txt: b"
    await client.call("send_chat_message", sessionId=session["id"], message=message)
    while (await receive_payload(client, "session-waiting"))["session_id"] != session["id"]:
        pass
    root = (await client.call("get_worktree", worktreeId=session["worktree_id"]))["path"]
    (Path(root) / "orchard.py").write_text("def count(trees):\n    return 0\n")
    ids = {
        "session": session["id"],
        "worktree": session["worktree_id"],
        "diff": session["worktree_id"],
        "project": project["id"],
        "conflicts": project["id"],
        "landing": project["id"],
        "compare": project["id"],
        "pull-request": session["worktree_id"],
    }
    page = await open_page(screen=Screen(1280, 800, scheme=scheme))
    violations = {}
    for view in VIEWS:
        await page.goto(f"/#/{view}/{ids.get(view, '')}".rstrip("/"))
        await expect(page.locator(f'body[data-view="{view}"] #content > *')).not_to_have_text(
            "loading…"
        )
        if view == "session":
            await expect(page.locator(".message")).to_have_count(2)
        await page.wait_for_load_state("networkidle")
        violations[view] = await run_axe(page)
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("dialog")).to_be_visible()
    violations["palette"] = await run_axe(page)
    assert {view: lines for view, lines in violations.items() if lines} == {}


async def test_axe_finds_no_violation_on_a_phone_with_an_open_drawer(
    open_page: OpenPage, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}", screen=PHONE)
    assert await run_axe(page) == []
    await page.get_by_role("button", name="Projects").tap()
    assert await run_axe(page) == []


async def test_blocks_are_announced_once_when_they_are_finished(
    open_page: OpenPage, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}", screen=DESKTOP)
    session_page = SessionPage(Pointer(page))
    announced = page.locator('.session > [aria-live="polite"]')
    await expect(page.get_by_role("log")).to_have_attribute("aria-live", "off")
    await session_page.send("/demo say First words.\n/demo wait 1\n/demo say Last words.")
    await expect(announced).to_contain_text("Finished.")
    words = await announced.locator("p").all_inner_texts()
    assert words[-1] == "Finished."
    assert " ".join(words).count("First words.") == 1
    await session_page.wait_until_idle()
    await page.reload()
    for word in ("Quick.", "Quicker."):
        await session_page.send(f"/demo say {word}")
        await expect(announced.locator("p").last).to_have_text("Finished.")
        await expect(announced.locator("p").nth(-2)).to_have_text(word)
        await session_page.wait_until_idle()


async def test_the_first_tab_stop_skips_to_the_content_and_is_visible(
    open_page: OpenPage, session: Any
) -> None:
    page = await open_page()
    await page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to content")
    await expect(skip).to_be_focused()
    await expect(skip).to_be_in_viewport()
    await page.keyboard.press("Enter")
    await expect(page.locator("#content")).to_be_focused()
