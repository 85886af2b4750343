"""Projects in the browser: added by directory or cloned, in folders, ordered, with scripts."""

import asyncio
import base64
import json
import os
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, Page, expect

from tests.page.conftest import OpenPage
from tests.server.conftest import Socket

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def names(page: Page) -> Locator:
    return page.locator("#tree .row:is([data-kind=project], [data-kind=folder]) .name")


async def open_menu(page: Page, name: str) -> None:
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("dialog").get_by_role("button", name=name).click()


async def test_a_project_is_found_by_its_directories(page: Page, repository: Path) -> None:
    await page.get_by_role("navigation").get_by_role("button", name="Add a project").click()
    dialog = page.get_by_role("dialog", name="Add a project")
    box = dialog.get_by_role("textbox", name="Path of the repository")
    await box.fill(f"{repository.parent}{os.sep}")
    await dialog.get_by_role("button", name="orchard repository").click()
    await expect(box).to_have_value(str(repository))
    await dialog.get_by_role("button", name="Add", exact=True).click()
    await expect(page.locator("#title")).to_have_text("orchard")


async def test_a_project_is_cloned_into_the_suggested_directory(
    page: Page, repository: Path
) -> None:
    await page.locator("main").get_by_role("button", name="Clone a repository").click()
    dialog = page.get_by_role("dialog", name="Add a project")
    url = dialog.get_by_role("textbox", name="Address of the repository")
    await url.fill(f"file://{repository}")
    await dialog.get_by_role("button", name="Clone").click()
    await expect(page.locator("#title")).to_have_text("orchard")
    await expect(page.locator("main")).to_contain_text("/home/orchard")


async def test_a_clone_shows_that_it_runs_until_it_is_canceled(page: Page, tmp_path: Path) -> None:
    async def answer_never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1024):
            pass
        writer.close()

    server = await asyncio.start_server(answer_never, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    await page.locator("main").get_by_role("button", name="Clone a repository").click()
    dialog = page.get_by_role("dialog", name="Add a project")
    url = dialog.get_by_role("textbox", name="Address of the repository")
    await url.fill(f"http://127.0.0.1:{port}/apples.git")
    await dialog.get_by_role("textbox", name="Directory", exact=True).fill(str(tmp_path / "apples"))
    await dialog.get_by_role("button", name="Clone").click()
    await expect(dialog.get_by_role("progressbar")).to_be_visible()
    await expect(dialog.get_by_role("status")).to_contain_text("Cloning")
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(dialog.get_by_role("progressbar")).to_be_hidden()
    await expect(dialog.get_by_role("alert").last).to_contain_text("cancel")
    assert not (tmp_path / "apples").exists()
    server.close()


async def test_a_project_is_cloned_and_an_error_keeps_what_was_typed(
    page: Page, repository: Path, tmp_path: Path
) -> None:
    await page.locator("main").get_by_role("button", name="Clone a repository").click()
    dialog = page.get_by_role("dialog", name="Add a project")
    url = dialog.get_by_role("textbox", name="Address of the repository")
    directory = dialog.get_by_role("textbox", name="Directory", exact=True)
    await url.fill(f"file://{tmp_path}/nothing.git")
    await expect(directory).to_have_value("~/nothing")
    await directory.fill(str(tmp_path / "copy"))
    await dialog.get_by_role("button", name="Clone").click()
    await expect(dialog.get_by_role("alert").last).not_to_be_empty()
    await expect(directory).to_have_value(str(tmp_path / "copy"))
    await url.fill(f"file://{repository}")
    await dialog.get_by_role("button", name="Clone").click()
    await expect(page.locator("#title")).to_have_text("copy")
    assert (tmp_path / "copy" / "orchard.py").exists()


async def test_folders_and_order(page: Page, client: Socket, project: Any) -> None:
    folder = await client.call("create_folder", name="fruit")
    await expect(names(page)).to_have_text(["orchard", "fruit"])
    await page.goto(f"/#/project/{project['id']}")
    await open_menu(page, "Move down")
    await expect(names(page)).to_have_text(["fruit", "orchard"])
    await open_menu(page, "Move to a folder…")
    await page.get_by_role("dialog").get_by_role("button", name="fruit").click()
    await page.goto(f"/#/folder/{folder['id']}")
    await expect(page.locator("main").get_by_role("link", name="orchard")).to_be_visible()
    await open_menu(page, "Rename")
    await page.get_by_role("textbox", name="Name of the folder").fill("trees")
    await page.keyboard.press("Enter")
    await expect(page.locator("#title")).to_have_text("trees")
    # By drag: out of the folder, above it.
    rows = page.locator("#tree .row")
    await (
        rows.filter(has_text="orchard")
        .locator("a")
        .drag_to(rows.filter(has_text="trees"), target_position={"x": 90, "y": 2})
    )
    await expect(names(page)).to_have_text(["orchard", "trees"])
    await open_menu(page, "Delete the folder")
    await expect(names(page)).to_have_text(["orchard"])


async def test_a_project_that_is_added_again_offers_the_sessions_it_had(
    open_page: OpenPage, client: Socket, project: Any, worktree: Any, session: Any
) -> None:
    page = await open_page(f"/project/{project['id']}")
    await open_menu(page, "Remove from Spinney")
    question = page.get_by_role("dialog", name="Remove orchard from Spinney?")
    await expect(question).to_contain_text("Its worktrees and sessions")
    await question.get_by_role("button", name="Remove").click()
    await expect(names(page)).to_have_count(0)
    await page.get_by_role("navigation").get_by_role("button", name="Add a project").click()
    dialog = page.get_by_role("dialog", name="Add a project")
    await dialog.get_by_role("textbox", name="Path of the repository").fill(project["path"])
    await dialog.get_by_role("button", name="Add", exact=True).click()
    offer = page.get_by_role("dialog", name="orchard was in Spinney before")
    await expect(offer).to_contain_text("Its worktrees and 1 session can be restored.")
    await offer.get_by_role("button", name="Restore").click()
    await expect(page.locator("#title")).to_have_text("orchard")
    await expect(page.locator("#tree").get_by_role("link", name=worktree["name"])).to_be_visible()
    back = await client.call("get_session", sessionId=session["id"])
    assert (back["name"], back["worktree_id"]) == ("Fix the parser", worktree["id"])


async def test_a_picture_is_set_and_removed(
    open_page: OpenPage, client: Socket, project: Any
) -> None:
    page = await open_page(f"/project/{project['id']}")
    async with page.expect_file_chooser() as chooser:
        await open_menu(page, "Picture…")
        await page.get_by_role("button", name="Choose a file…").click()
    picture = {"name": "pixel.png", "mimeType": "image/png", "buffer": PIXEL}
    await (await chooser.value).set_files([picture])
    await expect(page.locator("#tree .picture")).to_have_js_property("naturalWidth", 1)
    await open_menu(page, "Picture…")
    await page.get_by_role("button", name="Remove the picture").click()
    await expect(page.locator(".picture")).to_have_count(0)


async def test_scripts_are_written_and_trusted(
    open_page: OpenPage, client: Socket, project: Any, repository: Path
) -> None:
    page = await open_page(f"/project/{project['id']}")
    await open_menu(page, "Scripts…")
    await page.get_by_role("textbox", name="Run").fill("echo ripe")
    await page.get_by_role("button", name="Save and trust").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    saved = json.loads((repository / "spinney.json").read_text())
    assert saved["scripts"]["run"] == "echo ripe"
    (script,) = await client.call("get_project_scripts", projectId=project["id"])
    assert script["trusted"]


async def test_a_pull_request_is_linked_and_unlinked(
    open_page: OpenPage, client: Socket, worktree: Any
) -> None:
    page = await open_page(f"/worktree/{worktree['id']}")

    async def perform(words: str) -> None:
        await page.keyboard.press("Control+k")
        await page.get_by_role("dialog", name="All commands").get_by_role("combobox").fill(words)
        await page.keyboard.press("Enter")

    await perform("link a pull request")
    box = page.get_by_role("textbox", name="Pull request of the worktree")
    await box.fill("seven")
    await box.press("Enter")
    await expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("Enter a number")
    await box.fill("https://github.com/apples/orchard/pull/7")
    await box.press("Enter")
    await expect(page.locator("main .pr").first).to_contain_text("PR 7")
    await perform("unlink")
    await expect(page.locator("main .pr")).to_have_count(0)
