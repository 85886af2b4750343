"""The usage view: limits, budgets, a plot, and sums that follow the turns that end."""

import re
from typing import Any

import pytest
from playwright.async_api import expect

from tests.page.browser import DESKTOP, PHONE
from tests.page.conftest import OpenPage
from tests.server.conftest import Socket


@pytest.mark.own_program  # What was used is counted over all projects.
async def test_usage_shows_what_turns_cost_and_follows_them(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    page = await open_page("/usage")
    await expect(page.get_by_text("Nothing was used yet.")).to_be_visible()
    message = "/demo used 83 20\n/demo say one two"
    await client.call("send_chat_message", sessionId=session["id"], message=message)
    await expect(page.locator(".usage-total")).to_contain_text("1 turn ·")
    await expect(page.get_by_role("progressbar", name="Demo agent, 5 hours")).to_be_visible()
    await expect(page.locator(".usage-meter .percent")).to_have_text("83 %")
    await page.get_by_label("By").select_option("session")
    row = page.locator(".usage-table tbody tr")
    await expect(row).to_contain_text(session["name"])
    await expect(row).to_contain_text("$0.01")
    await page.get_by_text("All", exact=True).click()
    await expect(
        page.get_by_role("img", name=re.compile("Cost of the last 30 days"))
    ).to_be_visible()
    for screen in (DESKTOP, PHONE):
        await page.set_viewport_size({"width": screen.width, "height": screen.height})
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await row.get_by_role("link").click()
    await expect(page).to_have_url(re.compile(f"session/{session['id']}"))


async def test_budgets_of_a_session_and_of_its_project_are_set(
    open_page: OpenPage, client: Socket, project: Any, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}")
    await page.get_by_role("button", name="Session actions").click()
    await page.get_by_role("button", name="Set the budget of the session").click()
    dialog = page.get_by_role("dialog", name="Budget of the session, in dollars")
    await dialog.get_by_role("textbox").fill("lots")
    await dialog.get_by_role("button", name="Set").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("Not a number of dollars: lots")
    await dialog.get_by_role("textbox").fill("$2.50")
    await dialog.get_by_role("button", name="Set").click()
    await expect(dialog).to_be_hidden()
    await page.goto(f"/#/project/{project['id']}")
    await page.get_by_role("button", name="Settings").click()
    settings = page.get_by_role("dialog", name=re.compile("Settings of"))
    await expect(settings).to_contain_text("Used today:")
    await settings.get_by_label("Budget per day, in dollars").fill("7")
    await settings.get_by_role("button", name="Save").click()
    await expect(settings).to_be_hidden()
    budgets = await client.call("list_budgets", sessionId=session["id"])
    found = {each["scope"]: each["limit_usd"] for each in budgets}
    assert (found["session"], found["project"]) == (2.5, 7)
