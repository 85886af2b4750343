"""What a damaged database leaves, on the page: each part in its place, and what is wrong told."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.page.conftest import OpenPage
from tests.page.stage import Stage
from tests.server.conftest import Socket


@pytest.fixture
def served(stage: Stage) -> Stage:
    """The server in this process."""
    return stage


def damage(database: Path) -> None:
    """Cut off what the database holds of a message."""
    with closing(sqlite3.connect(database)) as file, file:
        file.execute("UPDATE blocks SET body = substr(body, 1, 50) WHERE body LIKE '%All is%'")


async def test_a_damaged_part_says_so_in_its_place_and_the_start_page_what_is_wrong(
    stage: Stage, other: Socket, open_page: OpenPage, session: Any
) -> None:
    said = {"sessionId": session["id"], "message": "Count the apples. All is well."}
    await other.call("send_chat_message", **said)
    # Beside the loop: Spinney may be in the middle of writing, and goes on there.
    await asyncio.to_thread(damage, stage.workspace.directories.database)
    stage.workspace.problems.append("The database was damaged. It is kept as spinney.db.broken-1.")
    page = await open_page()
    problems = page.locator(".problems")
    await expect(problems).to_contain_text("kept as spinney.db.broken-1")
    await page.evaluate(f"() => {{ location.hash = '#/session/{session['id']}' }}")
    message = page.locator(".transcript")
    await expect(message).to_contain_text("This part is damaged in the database.")
    await expect(message).to_contain_text("Count the apples.")
    await expect(message).not_to_contain_text("All is well")


async def test_a_settings_file_that_is_edited_wrongly_is_told_at_once_and_forgotten_when_mended(
    stage: Stage, other: Socket, open_page: OpenPage
) -> None:
    page, file = await open_page("/preferences"), stage.workspace.directories.preferences
    good = file.read_text()
    for _ in range(2):
        file.write_text(good[: len(good) // 2])
        await expect(page.locator("#toasts")).to_contain_text("is not valid JSON")
        assert len(await other.call("get_problems")) == 1
        await page.locator("#toasts").get_by_role("button", name="Close").click()
        file.write_text(good)
        while await other.call("get_problems"):
            await asyncio.sleep(0.05)
