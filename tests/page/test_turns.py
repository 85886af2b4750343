"""Turns on the page: what they changed, undo with a choice, redo, fork, edit and resend."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from model.backends import agent_events
from model.domain.usage import Usage
from tests.page.browser import PHONE
from tests.page.conftest import OpenPage
from tests.page.in_process import InProcessServer, begin_turn
from tests.patience import PATIENCE
from tests.server.conftest import Socket

WIDTHS = (
    "() => [...document.querySelectorAll('dialog select, dialog button, dialog label.check')]"
    ".every(it => it.getBoundingClientRect().height >= 40)"
)


@pytest.fixture
def server(in_process_server: InProcessServer) -> InProcessServer:
    return in_process_server


async def play_turn(
    server: InProcessServer, client: Socket, session: Any, text: str, **files: str
) -> None:
    """A turn whose shell command writes files, as `name=content`."""
    puppet = await begin_turn(server, client, session, text)
    root = find_root(server, session)
    puppet.say(
        agent_events.ToolUse(text, "bash", {"command": "make"}),
        agent_events.ToolResult(text, "made"),
    )
    for name, content in files.items():
        (root / name).write_text(content)
    puppet.say(
        agent_events.ConversationIdentified("talk"),
        agent_events.TurnMarked(text),
        agent_events.TextFinal(text, f"Done: {text}."),
        agent_events.TurnFinished("end_turn", Usage()),
    )
    async with asyncio.timeout(2 * PATIENCE):
        await client.until(
            lambda turns: turns and turns[-1]["prompt"] == text and turns[-1]["ended_at"],
            "list_turns",
            sessionId=session["id"],
        )


def find_root(server: InProcessServer, session: Any) -> Path:
    return Path(server.workspace.store.state.worktrees[session["worktree_id"]].path)


async def test_a_turn_is_undone_with_a_choice_and_brought_back(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    root = find_root(in_process_server, session)
    await play_turn(in_process_server, client, session, "one", alpha="one\n")
    await play_turn(in_process_server, client, session, "two", alpha="two\n", beta="new\n")
    (root / "alpha").write_text("three\n")
    address = f"/session/{session['id']}"
    page, other = await open_page(address), await open_page(address, screen=PHONE)
    card = page.locator(".change-card")
    await expect(card).to_contain_text("2 files changed")
    await card.get_by_role("button", name="Diff").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.locator(".diff-row").filter(has_text="two")).to_be_visible()
    await page.keyboard.press("Escape")

    await page.locator(".composer textarea").fill("typed meanwhile")
    await card.get_by_role("button", name="Undo").click()
    await expect(dialog.get_by_label("Files and conversation")).to_be_checked()
    await expect(dialog).to_contain_text("Deleted")
    await dialog.get_by_role("button", name="Undo").click()
    await expect(dialog).to_be_visible()  # the conflict needs a choice
    assert (root / "alpha").read_text() == "three\n"
    await dialog.get_by_label("alpha").select_option("before")
    await dialog.get_by_role("button", name="Undo").click()
    await expect(card).to_contain_text("Turn undone")
    assert (root / "alpha").read_text() == "one\n"
    assert not (root / "beta").exists()
    await expect(page.locator(".composer textarea")).to_have_value("two\ntyped meanwhile")
    await expect(other.locator(".change-card")).to_contain_text("Turn undone")
    await expect(other.locator("button.rewound")).to_have_text("2 messages rewound · show")
    await page.locator(".toast").get_by_role("button", name="Redo").click()
    await expect(card).to_contain_text("2 files changed")
    assert (root / "alpha").read_text() == "three\n"

    await expect(other.locator(".change-card")).to_contain_text("2 files changed")
    await undo_files_on_a_phone(other)
    await expect(card).to_contain_text("Files undone")
    assert not (root / "beta").exists()
    await page.reload()
    (root / "beta").write_text("typed since\n")
    await card.get_by_role("button", name="Redo").click()
    await expect(dialog).to_contain_text("Redo: turn 2")
    await dialog.get_by_label("beta").select_option("Take it as before the undo")
    await dialog.get_by_role("button", name="Redo").click()
    await expect(other.locator(".change-card")).to_contain_text("2 files changed")
    assert (root / "beta").read_text() == "new\n"


async def test_the_palette_takes_the_newest_undo_back(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    root = find_root(in_process_server, session)
    await play_turn(in_process_server, client, session, "one", alpha="one\n")
    await play_turn(in_process_server, client, session, "two", beta="two\n")
    for turn in await client.call("list_turns", sessionId=session["id"]):
        await client.call("undo_turn", turnId=turn["turn_id"], what="files")
    page = await open_page(f"/session/{session['id']}")
    await expect(page.locator(".change-card")).to_contain_text("Files undone")
    await page.keyboard.press("Control+k")
    await page.get_by_role("dialog").get_by_role("combobox").fill("take back the last")
    await page.keyboard.press("Enter")
    await expect(page.locator(".change-card")).to_contain_text("1 file changed")
    assert [(root / name).exists() for name in ("alpha", "beta")] == [False, True]


async def undo_files_on_a_phone(page: Page) -> None:
    """Undo the newest turn's files by touch, and keep the one with a conflict."""
    await page.locator(".change-card").get_by_role("button", name="Undo").tap()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_text("Files only").tap()
    await dialog.get_by_label("alpha").select_option("keep")
    assert await page.evaluate(WIDTHS)
    assert await page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    await dialog.get_by_role("button", name="Undo").tap()


async def test_a_message_is_edited_and_sent_again_and_its_turn_forked(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    await play_turn(in_process_server, client, session, "one", alpha="one\n")
    await play_turn(in_process_server, client, session, "two")
    page = await open_page(f"/session/{session['id']}")
    menu = page.locator(".message[data-role=user]").first.get_by_role("button")
    await menu.focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Edit and resend").press("Enter")
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("1 later turn will be taken back as well.")
    await expect(dialog.get_by_label("Files only")).to_have_count(0)
    await dialog.get_by_role("button", name="Undo and edit").press("Enter")
    await expect(page.locator(".composer textarea")).to_have_value("one")
    await expect(page.locator("button.rewound")).to_have_text("4 messages rewound · show")
    await page.locator(".change-card").get_by_role("button", name="Redo").click()
    await expect(page.locator("button.rewound")).to_have_count(0)
    await expect(page.locator(".change-card")).to_have_count(0)
    await menu.click()
    await page.get_by_role("button", name="Fork from here").click()
    await expect(page).not_to_have_url(f"**/session/{session['id']}*")
    await expect(page.locator(".transcript")).to_contain_text("Done: one.")
    await expect(page.locator(".transcript")).not_to_contain_text("Done: two.")


async def test_a_line_of_the_diff_says_why_it_is_there(
    in_process_server: InProcessServer, client: Socket, open_page: OpenPage, session: Any
) -> None:
    await play_turn(in_process_server, client, session, "add alpha", alpha="first\nsecond\n")
    worktree = session["worktree_id"]
    page = await open_page(f"/diff/{worktree}", screen=PHONE)
    line = page.locator(".diff-row").filter(has_text="second")
    await line.tap()
    await page.get_by_role("button", name="Why").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Demo agent wrote it")
    await expect(dialog).to_contain_text("add alpha")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await line.focus()
    await page.keyboard.press("i")
    await dialog.get_by_role("link", name="Go to the message").click()
    await expect(page).to_have_url(re.compile(f"/session/{session['id']}"))
