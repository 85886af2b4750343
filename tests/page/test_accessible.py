"""Nothing stands in the way of people who hear the page, or who work it by keys."""

import json
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.async_api import Page, expect

from tests.contract.conftest import payload_of
from tests.page.browser import DESKTOP, PHONE, PLACES, Screen
from tests.page.conftest import OpenPage
from tests.page.person import Conversation, Pointer
from tests.server.conftest import Socket

AXE = next(Path(axe_playwright_python.__file__).parent.glob("**/axe.min.js")).read_text()


async def found_by_axe(page: Page) -> list[str]:
    """What axe finds, a line each. It runs beside the page's own world, so the policy stays."""
    client = await page.context.new_cdp_session(page)
    tree = await client.send("Page.getFrameTree")
    world = await client.send(
        "Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]}
    )
    told = await client.send(
        "Runtime.evaluate",
        {
            "contextId": world["executionContextId"],
            "expression": f"{AXE}; axe.run(document, {{resultTypes: ['violations']}})"
            ".then((result) => JSON.stringify(result.violations))",
            "awaitPromise": True,
            "returnByValue": True,
        },
    )
    assert "exceptionDetails" not in told, told["exceptionDetails"]
    violations = json.loads(told["result"]["value"])
    return [
        f"{each['id']} ({each['impact']}): {node['html'][:200]}"
        for each in violations
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.longer)])
async def test_axe_finds_nothing_in_any_place(
    open_page: OpenPage, other: Socket, session: Any, project: Any, scheme: str
) -> None:
    given = {"sessionId": session["id"], "message": "/demo markdown 4\n/demo plan write a.txt: b"}
    await other.call("send_chat_message", **given)
    while (await payload_of(other, "session-waiting"))["session_id"] != session["id"]:
        pass
    changed = (await other.call("get_worktree", worktreeId=session["worktree_id"]))["path"]
    (Path(changed) / "orchard.py").write_text("def count(trees):\n    return 0\n")
    ids = {
        "session": session["id"],
        "worktree": session["worktree_id"],
        "diff": session["worktree_id"],
        "project": project["id"],
    }
    page = await open_page(screen=Screen(1280, 800, scheme=scheme))
    found = {}
    for place in PLACES:
        await page.goto(f"/#/{place}/{ids.get(place, '')}".rstrip("/"))
        await expect(page.locator(f'body[data-view="{place}"] #content > *')).not_to_have_text(
            "loading…"
        )
        if place == "session":
            await expect(page.locator(".message")).to_have_count(2)
        await page.wait_for_load_state("networkidle")
        found[place] = await found_by_axe(page)
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("dialog")).to_be_visible()
    found["palette"] = await found_by_axe(page)
    assert {place: told for place, told in found.items() if told} == {}


async def test_axe_finds_nothing_on_a_phone_with_its_drawer_open(
    open_page: OpenPage, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}", screen=PHONE)
    assert await found_by_axe(page) == []
    await page.get_by_role("button", name="Projects").tap()
    assert await found_by_axe(page) == []


async def test_finished_blocks_are_spoken_once_and_none_before(
    open_page: OpenPage, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}", screen=DESKTOP)
    at = Conversation(Pointer(page))
    spoken = page.locator('.session > [aria-live="polite"]')
    await expect(page.get_by_role("log")).to_have_attribute("aria-live", "off")
    await at.say("/demo say First words.\n/demo wait 1\n/demo say Last words.")
    await expect(spoken).to_contain_text("Finished.")
    words = await spoken.locator("p").all_inner_texts()
    assert words[-1] == "Finished."
    assert " ".join(words).count("First words.") == 1
    await at.idle()
    await page.reload()
    for word in ("Quick.", "Quicker."):
        await at.say(f"/demo say {word}")
        await expect(spoken.locator("p").last).to_have_text("Finished.")
        await expect(spoken.locator("p").nth(-2)).to_have_text(word)
        await at.idle()


async def test_the_way_by_keys_begins_with_the_content_and_is_seen(
    open_page: OpenPage, session: Any
) -> None:
    page = await open_page()
    await page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to content")
    await expect(skip).to_be_focused()
    await expect(skip).to_be_in_viewport()
    await page.keyboard.press("Enter")
    await expect(page.locator("#content")).to_be_focused()
