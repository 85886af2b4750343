"""Comments on changes: written, kept, moved with their lines, sent as one message."""

from typing import Any

from playwright.async_api import Page, expect

from tests.page.diff.work_tree import (
    BOTH_ENDS,
    NUMBERS,
    WorkTree,
    act,
    button,
    choose,
    file,
    open_diff,
    refresh_status,
    row,
    wait_for_user_texts,
)
from tests.page.user_input import Keyboard, Pointer, UserInput
from tests.server.conftest import Socket


async def test_comments_on_selected_lines_are_sent_as_one_message(
    user: UserInput, two_hunks: WorkTree, session: Any, client: Socket
) -> None:
    page = user.page
    await open_diff(page, two_hunks)
    await expect(row(page, "line three")).to_be_visible()
    if isinstance(user, Keyboard):
        await user.tab_to(button(file(page, "list.txt"), "list.txt"))
        for _ in range(4):
            await page.keyboard.press("ArrowDown")
        await expect(row(page, "line three")).to_be_focused()
        await expect(row(page, "line three")).to_have_accessible_name("added, line 3: line three")
        await page.keyboard.press("Shift+ArrowDown")
        await page.keyboard.press("c")
    else:
        for text in ("line three", "line 4"):
            await user.press(row(page, text).locator(".no").last)
        await expect(page.get_by_role("group", name="Selected lines")).to_contain_text("2 lines")
        await user.press(button(page, "Comment"))
    await page.keyboard.type("Why in words?")
    await user.press(button(page, "Add"))
    await act(user, "Comment", "the hunk", page.locator(".diff-row.hunk").nth(1))
    await expect(page.locator(".comment-row textarea")).to_be_focused()
    await page.keyboard.type("No")
    await user.press(button(page, "Add"))
    await page.reload()
    await expect(page.locator(".comment-row")).to_have_count(2)
    review = page.get_by_role("region", name="Comments to send")
    await user.press(review.locator("summary").filter(has_text="2 comments"))
    second = review.get_by_role("group", name="Comment on list.txt:28", exact=True)
    await user.press(button(second, "Edit"))
    await user.write(page.locator(".comment-row textarea"), "No, never")
    await user.press(button(page, "Save"))
    await user.press(button(review, "Send review"))
    await expect(page.get_by_text("Sent to 'Fix the parser'.")).to_be_visible()
    await expect(page.locator(".comment")).to_have_count(0)
    quoted = "+line three\n line 4"
    assert await wait_for_user_texts(client, session) == [
        "Please look at these comments on the changes:\n\n"
        f"`list.txt:3-4`\n```diff\n{quoted}\n```\nWhy in words?\n\n"
        "`list.txt:28`\n```diff\n-line 28\n+line twenty-eight\n```\nNo, never"
    ]
    await page.reload()
    await expect(row(page, "line three")).to_be_visible()
    await expect(page.locator(".comment")).to_have_count(0)


async def test_comments_move_with_their_lines_and_go_to_a_new_session_if_there_is_none(
    page: Page, two_hunks: WorkTree, client: Socket
) -> None:
    await open_diff(page, two_hunks)
    await row(page, "line three").locator(".no").last.click()
    await button(page, "Comment").click()
    await page.keyboard.type("Why?")
    await page.keyboard.press("Control+Enter")
    two_hunks.write("list.txt", "one\ntwo\n" + BOTH_ENDS)
    await refresh_status(client, two_hunks)
    review = page.get_by_role("region", name="Comments to send")
    await expect(review).to_contain_text("list.txt:5")
    await choose(Pointer(page), "Stage all")
    await expect(page.locator(".file")).to_have_count(0)
    await expect(review).not_to_contain_text("The lines do not exist any more")
    two_hunks.git("reset", "--quiet")
    two_hunks.write("list.txt", NUMBERS.replace("line 1\n", "one\n"))
    await refresh_status(client, two_hunks)
    await expect(review).to_contain_text("The lines do not exist any more")
    await button(review, "Send review").click()
    await expect(page.get_by_text("Sent to '")).to_be_visible()
    await expect(review).to_be_hidden()
    [created] = await client.call("list_sessions", worktreeId=two_hunks.id)
    assert (
        "`list.txt:5` (these lines have changed since)"
        in (await wait_for_user_texts(client, created))[0]
    )


async def test_lines_around_hunks_are_commented_as_changed_ones_are(
    page: Page, two_hunks: WorkTree, session: Any, client: Socket
) -> None:
    await open_diff(page, two_hunks)
    await button(page, "Show 18 lines above line 25").click()
    for text in ("line 20", "line 21"):
        await row(page, text).locator(".no").last.click()
    await button(page, "Comment").click()
    await page.keyboard.type("Keep these")
    await page.keyboard.press("Control+Enter")
    placed = page.locator(".diff-row", has_text="line 21").locator("+ .comment-row")
    await expect(placed).to_contain_text("Keep these")
    await page.reload()  # which forgets what was shown on request, but not where a comment is
    await expect(placed).to_contain_text("Keep these")
    review = page.get_by_role("region", name="Comments to send")
    await button(review, "Send review").click()
    await expect(page.get_by_text("Sent to 'Fix the parser'.")).to_be_visible()
    assert await wait_for_user_texts(client, session) == [
        "Please look at these comments on the changes:\n\n"
        "`list.txt:20-21`\n```diff\n line 20\n line 21\n```\nKeep these"
    ]


async def test_what_is_typed_while_an_agent_writes_stays_a_comment_and_runs_no_key(
    page: Page, two_hunks: WorkTree, client: Socket
) -> None:
    """Its lines change, then its file has no changes any more, then both are back."""
    await open_diff(page, two_hunks)
    for key in ("]", "]", "ArrowDown"):
        await page.keyboard.press(key)
    await row(page, "line three").focus()
    await page.keyboard.press("c")
    box = page.get_by_role("textbox", name="Comment on list.txt:3", exact=True)
    await expect(box).to_be_focused()
    written = "I know"
    await page.keyboard.type(written)
    for _ in "know":
        await page.keyboard.press("ArrowLeft")
    versions = {
        BOTH_ENDS.replace("line three", "line 3, again"): row(page, "line 3, again"),
        NUMBERS: page.get_by_text("No unstaged changes."),
        BOTH_ENDS: row(page, "line three"),
    }
    for (text, shown), more in zip(versions.items(), ("do ", "not ", "always "), strict=True):
        two_hunks.write("list.txt", text)
        await refresh_status(client, two_hunks)
        await expect(shown).to_be_visible()
        await expect(box).to_be_focused()
        await page.keyboard.type(more)
    await expect(box).to_have_value("I do not always know")
    await expect(box).to_have_count(1)
    await page.keyboard.press("End")
    await page.keyboard.type(", was all we saw")  # letters that stage, push and accept
    await page.keyboard.press("Control+Enter")
    placed = page.locator(".diff-row", has_text="line three").locator("+ .comment-row")
    await expect(placed).to_contain_text("I do not always know, was all we saw")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    assert two_hunks.git("status", "--porcelain") == " M list.txt\n"
    assert two_hunks.git("ls-remote", "--heads", "origin").count("\n") == 1  # that of the project


async def test_letters_do_nothing_when_what_had_the_focus_is_gone(
    page: Page, two_hunks: WorkTree
) -> None:
    await open_diff(page, two_hunks)
    await expect(row(page, "line three")).to_be_visible()
    await page.evaluate("document.activeElement.blur()")
    await page.keyboard.type("away we go, RF")
    await button(file(page, "list.txt"), "list.txt").focus()
    await page.keyboard.press("c")  # which works again
    await expect(page.get_by_text("Select a line (arrow keys)")).to_be_visible()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    assert two_hunks.git("status", "--porcelain") == " M list.txt\n"


async def test_an_unfinished_comment_survives_a_reload(page: Page, two_hunks: WorkTree) -> None:
    await open_diff(page, two_hunks)
    await row(page, "line three").locator(".no").last.click()
    await button(page, "Comment").click()
    await page.keyboard.type("half a thou")
    await page.reload()
    await expect(page.locator(".comment-row textarea")).to_have_value("half a thou")
    await expect(button(page, "Send review")).to_be_hidden()
    await button(page, "Cancel").click()
    await expect(page.locator(".comment-row")).to_have_count(0)
