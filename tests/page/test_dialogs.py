"""Dialogs: enter never deletes, and typed text stays until it is accepted."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.server.conftest import Socket


async def press(*buttons: Locator) -> None:
    """Press a button, or those that lead to it."""
    for button in buttons:
        await button.click()


async def check_cancel_and_reopen(page: Page, *buttons: Locator) -> Locator:
    """Assert that enter cancels the dialog which the buttons open; reopen and return it."""
    await press(*buttons)
    dialog = page.get_by_role("dialog")
    cancel = dialog.get_by_role("button", name="Cancel")
    await expect(cancel).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(dialog).to_have_count(0)
    await press(*buttons)
    return dialog


def remove_worktree(page: Page) -> tuple[Locator, Locator]:
    """The menu of a worktree, and its entry to remove it."""
    menu = page.get_by_role("dialog")
    return (
        page.get_by_role("button", name="Worktree actions"),
        menu.get_by_role("button", name="Remove", exact=True),
    )


@pytest.mark.short
async def test_enter_in_a_deleting_dialog_deletes_nothing(
    page: Page, client: Socket, session: Any, worktree: Any
) -> None:
    await client.call("send_chat_message", sessionId=session["id"], message="/demo say hello")
    (Path(worktree["path"]) / "lost.txt").write_text("nobody else has this\n")
    await page.goto(f"/#/worktree/{worktree['id']}")
    dialog = await check_cancel_and_reopen(page, *remove_worktree(page))
    await expect(dialog).to_contain_text("It has 1 uncommitted file (lost.txt)")
    await expect(dialog).to_contain_text("It has 1 session")
    await dialog.get_by_role("button", name="Cancel").click()
    await page.goto(f"/#/project/{worktree['project_id']}")
    for _ in range(2):  # enter cancels
        await page.get_by_role("button", name="More actions").click()
        await page.get_by_role("button", name="Remove from Spinney").click()
        dialog = page.get_by_role("dialog", name="Remove orchard from Spinney?")
        await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(dialog).to_have_count(0)
    await client.call("archive_session", sessionId=session["id"])
    await page.goto("/#/archive")
    row = page.locator(".archived").filter(has_text=session["name"])
    dialog = await check_cancel_and_reopen(page, row.get_by_role("button", name="Delete"))
    await expect(dialog).to_contain_text("with its 2 messages can be restored from the archive")
    await dialog.get_by_role("button", name="Delete").click()
    row = page.locator(".archived").filter(has_text="Deleted session of ")
    await expect(row).to_contain_text(session["name"])
    await row.get_by_role("button", name="Restore").click()
    await expect(page.locator("#title")).to_have_text(session["name"])
    await page.goto(f"/#/worktree/{worktree['id']}")
    await press(*remove_worktree(page))
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    deleted = page.get_by_role("status").filter(has_text="Deleted ")
    await expect(deleted).to_be_visible()
    assert not Path(worktree["path"]).exists()
    await deleted.get_by_role("button", name="Archive").click()
    row = page.locator(".archived").filter(has_text="Deleted · ")
    await expect(row).to_contain_text(worktree["name"])
    await row.get_by_role("button", name="Restore").click()
    await expect(page.locator("#title")).to_have_text(worktree["name"])
    assert (Path(worktree["path"]) / "lost.txt").exists()


async def test_removing_follows_the_preference_and_stops_running_sessions(
    page: Page, client: Socket, session: Any, worktree: Any
) -> None:
    await client.call("update_preferences", changes={"removal_behavior": "archive"})
    endless = "/demo stream 1000000 50"
    await client.call("send_chat_message", sessionId=session["id"], message=endless)
    await page.goto(f"/#/worktree/{worktree['id']}")
    await expect(page.locator('main [data-mark="running"]')).to_be_visible()
    await press(*remove_worktree(page))
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("The worktree will be archived.")
    await expect(dialog).to_contain_text(f"Will be stopped first: {session['name']}")
    await dialog.get_by_role("button", name="Archive").click()
    toast = page.get_by_role("status").filter(has_text="Its files are kept.")
    await toast.get_by_role("button", name="Undo").click()
    await expect(page.locator(f'#tree a[href$="{session["id"]}"]')).to_be_visible()
    assert Path(worktree["path"]).exists()
    await client.call("update_preferences", changes={"removal_behavior": "delete"})


async def test_a_rejected_value_stays_in_its_dialog(
    page: Page, repository: Path, tmp_path: Path
) -> None:
    await page.goto("/#/help")
    await page.get_by_role("button", name="Add a project").click()
    dialog = page.get_by_role("dialog")
    box = dialog.get_by_role("textbox", name="Path of the repository")
    await box.fill(str(tmp_path / "nowhere"))
    await box.press("Enter")
    await expect(dialog.get_by_role("alert")).to_contain_text("nowhere")
    await expect(box).to_have_value(str(tmp_path / "nowhere"))
    await expect(box).to_be_focused()
    await expect(page.locator(".toast")).to_have_count(0)
    await box.fill(str(repository))
    await box.press("Enter")
    await expect(dialog).to_have_count(0)
    await expect(page.locator("#title")).to_have_text(repository.name)


async def test_a_project_has_settings_of_its_own(
    page: Page, client: Socket, project: Any, tmp_path: Path
) -> None:
    await page.goto(f"/#/project/{project['id']}")
    dialog = page.get_by_role("dialog", name=f"Settings of {project['name']}")
    agent = dialog.get_by_role("combobox", name="Agent")
    directory = dialog.get_by_role("textbox", name="Worktree directory")
    instructions = dialog.get_by_role("textbox", name="Instructions for all agents")
    files, default = (
        dialog.get_by_label("files"),
        dialog.get_by_label("Default (from preferences)").last,
    )
    await client.call("update_preferences", changes={"known_mcp_servers": ["files", "web"]})

    async def open_settings() -> None:
        await page.get_by_role("button", name="Settings", exact=True).click()
        await expect(dialog).to_be_visible()

    async def save() -> dict[str, Any]:
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog).to_have_count(0)
        names = ["default_backend", "worktrees_dir", "custom_system_prompt", "enabled_mcp_servers"]
        (now,) = await client.call("list_projects")
        return {name: now[name] for name in names}

    try:
        await open_settings()
        await expect(directory).to_have_attribute("placeholder", "In ~/spinney")
        await agent.select_option("Codex")
        await directory.fill("nowhere/at/all")
        await instructions.fill("Count twice.")
        await files.check()
        await expect(default).not_to_be_checked()
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("must be an absolute path")
        await directory.fill(str(tmp_path / "trees"))
        # Changes by another client since the dialog opened are kept.
        theirs = {"customSystemPrompt": "", "defaultProvider": "theirs"}
        await client.call("update_project_settings", projectId=project["id"], **theirs)
        assert await save() == {
            "default_backend": "backend_b",
            "worktrees_dir": str(tmp_path / "trees"),
            "custom_system_prompt": "Count twice.",
            "enabled_mcp_servers": ["files"],
        }
        assert (await client.call("list_projects"))[0]["default_provider"] == "theirs"

        await open_settings()
        await expect(agent).to_have_value("backend_b")
        await agent.select_option("Default (from preferences)")
        await directory.fill("")
        await instructions.fill("")
        await default.check()
        await expect(files).not_to_be_checked()
        assert set((await save()).values()) == {None}
    finally:
        await client.call("update_preferences", changes={"known_mcp_servers": []})


async def test_escape_closes_the_palette_even_with_text_in_it(page: Page) -> None:
    await page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="All commands")
    await palette.get_by_role("combobox").press_sequentially("pref")
    await expect(palette.get_by_role("option").first).to_contain_text("Preferences")
    await page.keyboard.press("Escape")
    await expect(palette).to_have_count(0)


async def test_a_count_of_one_is_singular(page: Page, client: Socket, session: Any) -> None:
    await client.call("send_chat_message", sessionId=session["id"], message="/demo say nothing")
    await client.call("create_session", worktreeId=session["worktree_id"], name="quincunxes")
    await client.call("send_chat_message", sessionId=session["id"], message="one quincunx")
    await page.goto("/#/search?q=quincunx")
    await expect(page.locator("main .hint[role=status]")).to_have_text("1 message")
