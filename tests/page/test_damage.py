"""The page with a damaged database or settings file."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.page.conftest import OpenPage
from tests.page.in_process import InProcessServer
from tests.server.conftest import Socket


@pytest.fixture
def server(in_process_server: InProcessServer) -> InProcessServer:
    return in_process_server


def damage(database: Path) -> None:
    """Truncate the stored blocks of a message."""
    with closing(sqlite3.connect(database)) as file, file:
        file.execute("UPDATE blocks SET body = substr(body, 1, 50) WHERE body LIKE '%All is%'")


async def test_a_damaged_block_is_marked_and_the_start_page_shows_the_problem(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    message = "Count the apples. All is well."
    await client.call("send_chat_message", sessionId=session["id"], message=message)
    # In a thread: Spinney may be writing, and needs the event loop to finish.
    await asyncio.to_thread(damage, in_process_server.workspace.directories.database)
    in_process_server.workspace.problems.append(
        "The database was damaged. It is kept as spinney.db.broken-1."
    )
    page = await open_page()
    problems = page.locator(".problems")
    await expect(problems).to_contain_text("kept as spinney.db.broken-1")
    await page.evaluate(f"() => {{ location.hash = '#/session/{session['id']}' }}")
    transcript = page.locator(".transcript")
    await expect(transcript).to_contain_text("This part is damaged in the database.")
    await expect(transcript).to_contain_text("Count the apples.")
    await expect(transcript).not_to_contain_text("All is well")


async def test_an_invalid_settings_file_is_reported_at_once_until_it_is_fixed(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage
) -> None:
    page, file = (
        await open_page("/preferences"),
        in_process_server.workspace.directories.preferences,
    )
    good = file.read_text()
    for _ in range(2):
        file.write_text(good[: len(good) // 2])
        await expect(page.locator("#toasts")).to_contain_text("is not valid JSON")
        assert len(await client.call("get_problems")) == 1
        await page.locator("#toasts").get_by_role("button", name="Close").click()
        file.write_text(good)
        while await client.call("get_problems"):
            await asyncio.sleep(0.05)
