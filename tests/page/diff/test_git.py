"""Commit, push, pull, conflicts and pull requests from the page."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.model.secrets.fake_keys import FORMATS
from tests.page.diff.work_tree import (
    WorkTree,
    act,
    button,
    choose,
    file,
    open_diff,
    refresh_status,
    wait_for_user_texts,
)
from tests.page.user_input import Pointer, UserInput
from tests.server.conftest import Socket


async def test_changes_are_committed_and_pushed(
    user: UserInput, two_hunks: WorkTree, client: Socket
) -> None:
    page, tree = user.page, two_hunks
    await open_diff(page, tree)
    await act(user, "Stage", "list.txt")
    await expect(page.locator(".file")).to_have_count(0)
    tree.write("later.txt", "1\n")
    await refresh_status(client, tree)
    await expect(file(page, "later.txt")).to_be_visible()
    await user.press(button(page, "Commit"))
    form = page.locator("form.git-form")
    await expect(form.get_by_role("radio", name="Staged changes: 1 file")).to_be_checked()
    message = form.get_by_role("textbox", name="Commit message")
    await expect(message).to_have_value("Update list.txt")  # a proposal
    await user.write(message, " ")
    await user.press(form.get_by_role("button", name="Commit", exact=True))
    await expect(form.get_by_role("alert")).to_contain_text("Enter a commit message")
    await user.write(message, "Count in words")
    await page.reload()
    await user.press(button(page, "Commit"))
    await expect(message).to_have_value("Count in words")
    await user.press(form.get_by_role("button", name="Commit", exact=True))
    await expect(page.get_by_text("Committed as ")).to_be_visible()
    assert tree.git("log", "-1", "--format=%s").strip() == "Count in words"
    assert tree.git("status", "--porcelain").strip() == "?? later.txt"
    await user.press(button(page.get_by_role("dialog"), "Push"))
    await expect(page.get_by_text("Pushed.")).to_be_visible()
    branch = tree.git("branch", "--show-current").strip()
    assert tree.git("rev-parse", "HEAD") == tree.git("rev-parse", f"origin/{branch}")


async def test_a_letter_that_pushes_pulls_or_pays_asks_first(
    page: Page, two_hunks: WorkTree, session: Any
) -> None:
    await open_diff(page, two_hunks)
    await page.keyboard.press("]")
    questions = {
        "w": "Push the branch?",
        "l": "Pull 'main'?",
        "R": "Let an agent review the changes?",
    }
    for key, question in questions.items():
        dialog = page.get_by_role("dialog", name=question)
        for ending in ("hy is it", "Enter"):  # a word that began with the letter; a space, Enter
            await page.keyboard.press(key)
            await expect(button(dialog, "Cancel")).to_be_focused()
            for more in ending.partition(" ")[:2] if " " in ending else (ending,):
                await (page.keyboard.press if more == "Enter" else page.keyboard.type)(more)
            await expect(page.get_by_role("dialog")).to_have_count(0)
    assert two_hunks.git("ls-remote", "--heads", "origin").count("\n") == 1  # that of the project
    await page.keyboard.press("w")
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Pushed.")).to_be_visible()


async def test_secrets_are_shown_before_they_are_committed(user: UserInput, tree: WorkTree) -> None:
    page = user.page
    tree.write("one.env", f"TOKEN={FORMATS['github-personal']()}\n")
    tree.write("two.env", f"PAYMENTS={FORMATS['stripe']()}\n")
    await open_diff(page, tree)
    await user.press(button(page, "Commit"))
    form = page.locator("form.git-form")
    await user.press(form.get_by_role("button", name="Commit", exact=True))
    found = page.get_by_role("dialog", name="Possible secrets")
    await expect(found).to_contain_text("2 possible secrets would be committed:")
    rows = found.get_by_role("listitem")
    await expect(rows).to_have_text([re.compile("one.env:1"), re.compile("two.env:1")])
    await user.press(button(found, "Back, to take them out"))
    await expect(form.get_by_role("alert")).to_contain_text("The commit would contain")
    await user.press(form.get_by_role("button", name="Commit", exact=True))
    await user.press(found.get_by_role("button", name="Allow in the project").first)
    await expect(found).to_contain_text("1 possible secret would be committed:")
    await user.press(button(found, "Commit anyway"))
    await expect(page.get_by_text("Committed as ")).to_be_visible()
    assert tree.git("status", "--porcelain") == ""


async def test_a_running_commit_can_be_canceled(
    page: Page, two_hunks: WorkTree, repository: Path
) -> None:
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexec sleep 600\n")
    hook.chmod(0o755)
    await open_diff(page, two_hunks)
    await button(page, "Commit").click()
    form = page.locator("form.git-form")
    await form.get_by_role("textbox").fill("Never")
    await form.get_by_role("button", name="Commit", exact=True).click()
    await expect(form.get_by_role("status")).to_contain_text("Committing …")
    await form.get_by_role("textbox").press("Control+Enter")  # once more, which does nothing
    await expect(page.locator(".toast")).to_have_count(0)
    await form.get_by_role("button", name="Cancel").click()
    await expect(form.get_by_role("alert")).to_contain_text("cancel")
    await expect(form.get_by_role("textbox")).to_have_value("Never")
    assert "Never" not in two_hunks.git("log", "-1", "--format=%s")


@pytest.mark.parametrize("place", ["diff", "worktree"])
async def test_a_conflict_is_sent_to_a_session_and_the_merge_aborted(
    place: str, page: Page, tree: WorkTree, repository: Path, session: Any, client: Socket
) -> None:
    tree.commit("README.md", "# Ours\n")
    theirs = WorkTree("", repository)
    theirs.commit("README.md", "# Theirs\n")
    theirs.git("push", "--quiet", "origin", "HEAD")
    await page.goto(f"/#/{place}/{tree.id}")
    if place == "diff":
        await choose(Pointer(page), "Pull main")
    else:
        await button(page, "Pull main").click()
    stopped = page.get_by_role("group", name="Git operation in progress")
    await expect(stopped).to_contain_text("The merge stopped with 1 conflict")
    await expect(stopped.get_by_role("link", name="README.md")).to_be_visible()
    await expect(page.get_by_role("group", name="Output of git")).to_contain_text("CONFLICT")
    await expect(page.get_by_role("alert")).to_have_text("Pull stopped at 1 conflict.")
    await button(page.get_by_role("dialog"), "Close").click()
    row = page.locator("#tree .row").filter(has_text=tree.root.name)
    await expect(row).to_contain_text("1 conflict")
    if place == "diff":
        await expect(file(page, "README.md")).to_contain_text("conflict")
        await expect(button(page, "Discard README.md")).to_have_count(0)
    await button(page, "Let the session resolve them").click()
    await expect(page.get_by_text("Sent to 'Fix the parser'.")).to_be_visible()
    assert (await wait_for_user_texts(client, session))[0].endswith("Files:\n- README.md")
    await button(stopped, "Abort the merge").click()
    await button(page.get_by_role("dialog"), "Abort the merge").click()
    await expect(stopped).to_be_hidden()
    assert tree.read("README.md") == "# Ours\n"


async def test_a_rejected_pull_request_keeps_its_form(
    page: Page, tree: WorkTree, repository: Path
) -> None:
    subprocess.run(["git", "remote", "remove", "origin"], cwd=repository, check=True)
    await page.goto(f"/#/worktree/{tree.id}")
    await button(page, "Pull request").click()
    form = page.locator("form.git-form")
    await form.get_by_role("textbox", name="Title").fill("Count in words")
    await form.get_by_role("checkbox", name="Draft").check()
    await button(form, "Push and open").click()
    await expect(form.get_by_role("alert")).to_contain_text("The repository has no remote.")
    await page.reload()
    await button(page, "Pull request").click()
    await expect(form.get_by_role("textbox", name="Title")).to_have_value("Count in words")
    await expect(form.get_by_role("checkbox", name="Draft")).to_be_checked()


async def test_git_commands_are_found_in_the_palette(page: Page, two_hunks: WorkTree) -> None:
    await page.goto(f"/#/worktree/{two_hunks.id}")
    await expect(button(page, "Push")).to_be_visible()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("pull request")
    await page.keyboard.press("Enter")
    form = page.locator("form.git-form")
    await expect(form.get_by_role("textbox", name="Title")).to_be_focused()
