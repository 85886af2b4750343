"""Reviews in the changes: verdicts about hunks, files viewed, an agent's findings, comparisons."""

import re
from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect

from tests.page.conftest import OpenPage, create_worktree
from tests.page.diff.work_tree import (
    BOTH_ENDS,
    WorkTree,
    act,
    button,
    choose,
    choose_side,
    file,
    open_diff,
    row,
    wait_for_user_texts,
)
from tests.page.hostile import SCRIPTS
from tests.page.user_input import UserInput
from tests.server.conftest import Socket


async def test_hunks_are_rejected_with_a_reason_taken_back_and_sent(
    user: UserInput, client: Socket, two_hunks: WorkTree, session: Any
) -> None:
    page, tree = user.page, two_hunks
    await open_diff(page, tree)
    hunks = page.locator(".diff-row.hunk")
    review = page.get_by_role("region", name="Review")
    await act(user, "Accept", "the hunk", hunks.nth(1))
    await expect(hunks).to_have_count(1)
    assert "+line twenty-eight" in tree.git("diff", "--cached")

    for _ in range(2):
        await act(user, "Reject", "the hunk", hunks.first)
        dialog = page.get_by_role("dialog", name="Reject a hunk of list.txt")
        await user.write(dialog.get_by_role("textbox"), "Keep the number.")
        await user.press(button(dialog, "Reject"))
        await expect(review).to_contain_text("2 of 3 hunks · 1 rejected to send")
        assert "line 3\n" in tree.read("list.txt")
        if not _:
            await user.press(button(review, "Undo verdict"))
            await expect(row(page, "line three")).to_be_visible()
            assert tree.read("list.txt") == BOTH_ENDS
    await user.press(button(review, "Send 1 rejected…"))
    await user.press(button(page.get_by_role("dialog"), "Send"))
    await expect(review).to_have_text(re.compile("^1 of 2 hunks(?! · )"))
    [text] = await wait_for_user_texts(client, session)
    assert "Keep the number." in text
    await choose_side(user, "Staged")
    await expect(row(page, "line twenty-eight")).to_be_visible()


async def test_a_viewed_file_is_viewed_on_every_screen_until_it_changes(
    page: Page, open_page: OpenPage, two_hunks: WorkTree
) -> None:
    tree = two_hunks
    await open_diff(page, tree)
    await page.get_by_role("checkbox", name="Viewed list.txt").check()
    await expect(row(page, "line three")).to_be_hidden()
    other = await open_page()
    await open_diff(other, tree)
    viewed = other.get_by_role("checkbox", name="Viewed list.txt")
    await expect(viewed).to_be_checked()
    tree.write("list.txt", BOTH_ENDS.replace("line 15\n", "fifteen\n"))
    await choose_refresh(other)
    await expect(viewed).not_to_be_checked()
    await expect(row(other, "fifteen")).to_be_visible()


async def choose_refresh(page: Page) -> None:
    await button(page, "More actions").click()
    await button(page.get_by_role("dialog", name="Changes"), "Refresh").click()


async def test_an_agents_findings_are_edited_dismissed_and_fixed(
    user: UserInput, client: Socket, tree: WorkTree, session: Any
) -> None:
    page = user.page
    await page.evaluate("() => { window.ran = () => console.error('foreign text ran'); }")
    tree.write("new.txt", f"woven\nTODO: cut {SCRIPTS[0]}\n")
    await open_diff(page, tree)
    await expect(row(page, "woven")).to_be_visible()
    await choose(user, "Review by an agent")
    review = page.get_by_role("region", name="Review")
    await expect(review).to_contain_text("2 findings.")
    await user.press(review.get_by_role("button", name=re.compile("^2 findings")))
    await expect(review.get_by_role("listitem")).to_have_count(2)
    await user.press(review.get_by_role("button", name=re.compile("^2 findings")))
    await expect(review.get_by_role("listitem")).to_have_count(0)
    card = page.locator(".finding-row").filter(has_text="major")
    await expect(card).to_contain_text("not done yet")
    await user.press(button(card, "Edit the major finding at new.txt:2"))
    dialog = page.get_by_role("dialog", name=re.compile("Edit the finding"))
    box = dialog.get_by_role("textbox", name="What is wrong")
    await box.fill(f"Cut it. {SCRIPTS[0]}")
    await user.press(button(dialog, "Save"))
    await expect(card).to_contain_text(f"Cut it. {SCRIPTS[0]}")
    await user.press(button(card, "Fix the major finding at new.txt:2"))
    await user.press(button(page.get_by_role("dialog"), "Send"))
    await expect(card).to_contain_text("sent")
    [text] = await wait_for_user_texts(client, session)
    assert "`new.txt:2` major" in text and "Cut it." in text
    await expect(review).to_contain_text("1 finding.")
    other = page.locator(".finding-row").filter(has_not_text="major")
    await user.press(other.get_by_role("button", name=re.compile("^Dismiss")))
    await expect(page.locator(".finding-row")).to_have_count(1)
    tree.write("new.txt", "woven\nDone.\n")
    await choose(user, "Refresh")
    await expect(file(page, "new.txt")).to_contain_text("outdated")


async def test_two_worktrees_are_compared_side_by_side(
    client: Socket, open_page: OpenPage, tree: WorkTree, project: Any
) -> None:
    other = await create_worktree(client, projectId=project["id"], customName="plums")
    (Path(other["path"]) / "README.md").write_text("plums\n")
    tree.write("README.md", "pears\n")
    page = await open_page(f"/compare/{project['id']}?right={tree.id}")
    await page.get_by_role("combobox", name="From").select_option(other["id"])
    await expect(page.get_by_role("status").filter(has_text="1 file +1 −1")).to_be_visible()
    changes = page.get_by_role("group", name="Changes in README.md")
    await expect(changes).to_contain_text("plums")
    await expect(changes).to_contain_text("pears")
    await button(page, "Swap both sides").click()
    await expect(page.get_by_role("status").filter(has_text="to 'plums'")).to_be_visible()


async def test_a_long_comparison_is_loaded_to_its_end(
    open_page: OpenPage, tree: WorkTree, project: Any
) -> None:
    tree.write("long.txt", "".join(f"line {n}\n" for n in range(1_500)))
    page = await open_page(f"/compare/{project['id']}?right={tree.id}")
    changes = page.get_by_role("group", name="Changes in long.txt")
    more = button(page, "Show 501 more of 501 rows")
    await expect(changes.locator(".diff-row")).to_have_count(1_000)
    await more.click()
    await expect(changes.locator(".diff-row").last).to_contain_text("line 1499")
    await expect(more).to_be_hidden()


async def test_release_notes_are_written_and_copied(
    client: Socket, open_page: OpenPage, project: Any
) -> None:
    page = await open_page(f"/project/{project['id']}")
    await button(page, "More actions").click()
    await button(page.get_by_role("dialog"), "Release notes…").click()
    dialog = page.get_by_role("dialog", name=re.compile("Release notes of"))
    await button(dialog, "Write").click()
    await expect(dialog.get_by_role("textbox", name="Release notes")).to_have_value(re.compile("."))
    await button(dialog, "Copy").click()
    await expect(dialog.get_by_text("copied")).to_be_visible()
