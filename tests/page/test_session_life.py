"""Whole conversations in the page: by mouse, by touch on a phone, by keyboard."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.page.user_input import SessionPage, UserInput, open_tree

ENDLESS = "/demo stream 1000000 50"


@pytest.fixture
def session_page(user: UserInput) -> SessionPage:
    return SessionPage(user)


async def open_session(session_page: SessionPage, session: Any) -> None:
    """Open the session from the tree."""
    page = session_page.page
    await open_tree(session_page.user)
    await session_page.user.press(page.locator(f'#tree a[href$="/session/{session["id"]}"]'))
    await expect(page.locator("#title")).to_have_text(session["name"])
    await expect(session_page.message_box).to_be_visible()


async def test_a_message_is_sent_and_its_answer_streams_in(
    session_page: SessionPage, session: Any
) -> None:
    await open_session(session_page, session)
    await session_page.send(ENDLESS)
    await expect(session_page.page.locator('.message[data-role="user"]')).to_contain_text(ENDLESS)
    await expect(session_page.answers.last).to_contain_text("20:")
    await expect(session_page.button("Stop")).to_be_visible()
    await expect(session_page.answers.last).to_contain_text("40:")
    await session_page.press("Stop")
    await session_page.wait_until_idle()
    await expect(session_page.answers.last).to_contain_text("40:")


async def test_a_plan_is_proposed_approved_and_carried_out(
    session_page: SessionPage, session: Any, worktree: Any
) -> None:
    await open_session(session_page, session)
    await session_page.expect_mode("plan")
    await session_page.send("/demo plan write apples.txt: many; say carried out")
    card = session_page.page.get_by_role("heading", name="Approve this plan?")
    await expect(card).to_be_visible()
    await expect(session_page.page.locator("#needs")).to_contain_text("need")
    await session_page.press("Build")
    await expect(card).to_have_count(0)
    await expect(session_page.answers.last).to_contain_text("carried out")
    await session_page.wait_until_idle()
    await session_page.expect_mode("build")
    assert (Path(worktree["path"]) / "apples.txt").read_text() == "many\n"
    edit = session_page.answers.last.locator("details.tool").first
    await session_page.user.press(edit.locator("summary"))
    await expect(edit.locator(".diff-row.added")).to_contain_text("many")


async def test_a_question_is_answered(session_page: SessionPage, session: Any) -> None:
    await open_session(session_page, session)
    await session_page.send("/demo ask Tea or coffee? | Tea | Coffee")
    await expect(session_page.button("Answer")).to_be_disabled()
    await session_page.press("Coffee")
    await expect(session_page.answers.last).to_contain_text("You answered: Coffee")
    await session_page.wait_until_idle()


async def test_a_question_is_dismissed(session_page: SessionPage, session: Any) -> None:
    await open_session(session_page, session)
    await session_page.send("/demo ask Tea or coffee? | Tea | Coffee")
    await expect(session_page.button("Answer")).to_be_visible()
    await session_page.press("Stop")
    await expect(session_page.button("Answer")).to_have_count(0)
    await session_page.wait_until_idle()
    await session_page.send("/demo say something else then")
    await expect(session_page.answers.last).to_contain_text("something else then")


async def test_a_permission_is_given_and_another_one_denied_with_a_reason(
    session_page: SessionPage, session: Any, worktree: Any
) -> None:
    file = Path(worktree["path"]) / "allowed.txt"
    await open_session(session_page, session)
    await session_page.choose_mode("build")
    await session_page.send("/demo permission touch allowed.txt")
    await expect(session_page.page.get_by_role("heading", name="Run this command?")).to_be_visible()
    assert not file.exists()
    await session_page.press("Allow")
    await session_page.wait_until_idle()
    assert file.exists()
    await session_page.send("/demo permission rm allowed.txt")
    await session_page.user.write(
        session_page.page.get_by_role("textbox", name="Reason"), "I need it"
    )
    await session_page.press("Deny")
    await session_page.wait_until_idle()
    await expect(session_page.answers.last).to_contain_text("✗ denied")
    await expect(session_page.answers.last.get_by_text("→ I need it")).to_be_visible()
    assert file.exists()


async def test_the_output_of_a_command_is_shown_while_it_runs(
    session_page: SessionPage, session: Any, worktree: Any
) -> None:
    await open_session(session_page, session)
    await session_page.choose_mode("yolo")
    await session_page.send("/demo run echo warp; while [ ! -e go ]; do sleep 0.1; done; echo weft")
    live = session_page.answers.last.locator(".live")
    await expect(live).to_have_text("warp")
    await session_page.page.reload()  # a page opened later shows it, too
    await expect(live).to_have_text("warp")
    (Path(worktree["path"]) / "go").touch()
    await session_page.wait_until_idle()
    await expect(live).to_have_count(0)


async def test_queued_messages_can_be_taken_back_or_run_next(
    session_page: SessionPage, session: Any
) -> None:
    await open_session(session_page, session)
    await session_page.send("/demo stream 1000000 2")
    await expect(session_page.button("Stop")).to_be_visible()
    await expect(session_page.page.locator("#subtitle")).to_contain_text("writing")
    await session_page.send("/demo say first of all", button="Queue")
    await session_page.send("/demo say never mind", button="Queue")
    waiting = session_page.page.get_by_role("list", name="Queued messages").get_by_role("listitem")
    await expect(waiting).to_have_count(2)
    second = waiting.filter(has_text="never mind")
    await session_page.user.press(second.get_by_role("button", name="Edit"))
    await expect(session_page.message_box).to_have_value("/demo say never mind")
    await expect(waiting).to_have_count(1)
    await session_page.press("Stop")
    await expect(session_page.button("Stop")).to_be_hidden()
    await session_page.send("/demo say now this")
    await expect(session_page.answers.filter(has_text="first of all")).to_have_count(1)
    await expect(waiting).to_have_count(0)
    await session_page.wait_until_idle()
    texts = await session_page.answers.all_inner_texts()
    assert ["now this" in texts[-2], "first of all" in texts[-1]] == [True, True]


async def test_enter_sends_on_a_desktop_and_adds_a_line_on_a_phone(
    page: Page, phone: Page, session: Any
) -> None:
    for each, sends in ((page, True), (phone, False)):
        await each.goto(f"/#/session/{session['id']}")
        box = each.get_by_role("textbox", name="Message", exact=True)
        await box.fill("/demo say one line")
        await box.press("Enter")
        await expect(box).to_have_value("" if sends else "/demo say one line\n")
