"""Comments on changes: made, kept, moved with their lines, sent as one message."""

from typing import Any

from playwright.async_api import Page, expect

from tests.page.diff.tree import BOTH_ENDS, NUMBERS, Tree, button, file, row, sent_to, show, tell
from tests.page.person import Hands, Keys
from tests.server.conftest import Socket


async def test_lines_are_marked_commented_on_and_sent_as_one_message(
    hands: Hands, two_hunks: Tree, session: Any, other: Socket
) -> None:
    page = hands.page
    await show(page, two_hunks)
    await expect(row(page, "line three")).to_be_visible()
    if isinstance(hands, Keys):
        await hands.reach(button(file(page, "list.txt"), "list.txt"))
        for _ in range(4):
            await page.keyboard.press("ArrowDown")
        await expect(row(page, "line three")).to_be_focused()
        await expect(row(page, "line three")).to_have_accessible_name("added, line 3: line three")
        await page.keyboard.press("Shift+ArrowDown")
        await page.keyboard.press("c")
    else:
        for text in ("line three", "line 4"):
            await hands.press(row(page, text).locator(".no").last)
        await expect(page.get_by_role("group", name="Selected lines")).to_contain_text("2 lines")
        await hands.press(button(page, "Comment"))
    await page.keyboard.type("Why in words?")
    await hands.press(button(page, "Save"))
    await hands.press(page.locator(".diff-row.hunk").nth(1).get_by_role("button", name="Comment"))
    await page.keyboard.type("No")
    await hands.press(button(page, "Save"))
    await page.reload()
    await expect(page.locator(".comment-row")).to_have_count(2)
    review = page.get_by_role("region", name="Comments to send")
    second = review.get_by_role("group", name="Comment on list.txt:28", exact=True)
    await hands.press(button(second, "Edit"))
    await hands.write(page.locator(".comment-row textarea"), "No, never")
    await hands.press(button(page, "Save"))
    await hands.press(button(review, "Send"))
    await expect(page.get_by_text("Sent to 'Fix the parser'.")).to_be_visible()
    await expect(page.locator(".comment")).to_have_count(0)
    quoted = "+line three\n line 4"
    assert await sent_to(other, session) == [
        "Please look at these comments on the changes:\n\n"
        f"`list.txt:3-4`\n```diff\n{quoted}\n```\nWhy in words?\n\n"
        "`list.txt:28`\n```diff\n-line 28\n+line twenty-eight\n```\nNo, never"
    ]
    await page.reload()
    await expect(row(page, "line three")).to_be_visible()
    await expect(page.locator(".comment")).to_have_count(0)


async def test_comments_go_to_a_new_session_where_there_is_none_and_move_with_their_lines(
    page: Page, two_hunks: Tree, other: Socket
) -> None:
    await show(page, two_hunks)
    await row(page, "line three").locator(".no").last.click()
    await button(page, "Comment").click()
    await page.keyboard.type("Why?")
    await page.keyboard.press("Control+Enter")
    two_hunks.write("list.txt", "one\ntwo\n" + BOTH_ENDS)
    await tell(other, two_hunks)
    review = page.get_by_role("region", name="Comments to send")
    await expect(review).to_contain_text("list.txt:5")
    await button(page, "Stage all").click()
    await expect(page.locator(".file")).to_have_count(0)
    await expect(review).not_to_contain_text("The lines do not exist any more")
    two_hunks.git("reset", "--quiet")
    two_hunks.write("list.txt", NUMBERS.replace("line 1\n", "one\n"))
    await tell(other, two_hunks)
    await expect(review).to_contain_text("The lines do not exist any more")
    await button(review, "Send").click()
    await expect(page.get_by_text("Sent to '")).to_be_visible()
    await expect(review).to_be_hidden()
    [made] = await other.call("list_sessions", worktreeId=two_hunks.id)
    assert "`list.txt:5` (these lines have changed since)" in (await sent_to(other, made))[0]


async def test_a_comment_that_is_begun_outlives_a_reload(page: Page, two_hunks: Tree) -> None:
    await show(page, two_hunks)
    await row(page, "line three").locator(".no").last.click()
    await button(page, "Comment").click()
    await page.keyboard.type("half a thou")
    await page.reload()
    await expect(page.locator(".comment-row textarea")).to_have_value("half a thou")
    await expect(button(page, "Send")).to_be_disabled()
    await button(page, "Cancel").click()
    await expect(page.locator(".comment-row")).to_have_count(0)
