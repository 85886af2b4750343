"""The life of a session in the page: by mouse at a desk, by touch on a phone, by keys alone."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.page.person import Conversation, Hands, open_tree

ENDLESS = "/demo stream 1000000 50"


@pytest.fixture
def person(hands: Hands) -> Conversation:
    return Conversation(hands)


async def enter(person: Conversation, session: Any) -> None:
    """Open the session from the tree."""
    page = person.page
    await open_tree(person.hands)
    await person.hands.press(page.locator(f'#tree a[href$="/session/{session["id"]}"]'))
    await expect(page.locator("#title")).to_have_text(session["name"])
    await expect(person.box).to_be_visible()


async def test_a_message_is_sent_and_its_answer_is_seen_while_it_is_written(
    person: Conversation, session: Any
) -> None:
    await enter(person, session)
    await person.say(ENDLESS)
    await expect(person.page.locator('.message[data-role="user"]')).to_contain_text(ENDLESS)
    await expect(person.answers.last).to_contain_text("20:")
    await expect(person.button("Stop")).to_be_visible()
    await expect(person.answers.last).to_contain_text("40:")
    await person.press("Stop")
    await person.idle()
    await expect(person.answers.last).to_contain_text("40:")


async def test_a_plan_is_proposed_approved_and_carried_out(
    person: Conversation, session: Any, worktree: Any
) -> None:
    await enter(person, session)
    await expect(person.page.get_by_role("combobox", name="Mode", exact=True)).to_have_value("plan")
    await person.say("/demo plan write apples.txt: many; say carried out")
    card = person.page.get_by_role("heading", name="Approve this plan?")
    await expect(card).to_be_visible()
    await expect(person.page.locator("#needs")).to_contain_text("need")
    await person.press("Build")
    await expect(card).to_have_count(0)
    await expect(person.answers.last).to_contain_text("carried out")
    await person.idle()
    await expect(person.page.get_by_role("combobox", name="Mode", exact=True)).to_have_value(
        "build"
    )
    assert (Path(worktree["path"]) / "apples.txt").read_text() == "many\n"
    edit = person.answers.last.locator("details.tool").first
    await person.hands.press(edit.locator("summary"))
    await expect(edit.locator("ins")).to_contain_text("many")


async def test_a_question_is_answered(person: Conversation, session: Any) -> None:
    await enter(person, session)
    await person.say("/demo ask Tea or coffee? | Tea | Coffee")
    await expect(person.button("Answer")).to_be_disabled()
    await person.press("Coffee")
    await person.press("Answer")
    await expect(person.answers.last).to_contain_text("You answered: Coffee")
    await person.idle()


async def test_a_question_is_dismissed(person: Conversation, session: Any) -> None:
    await enter(person, session)
    await person.say("/demo ask Tea or coffee? | Tea | Coffee")
    await expect(person.button("Answer")).to_be_visible()
    await person.press("Stop")
    await expect(person.button("Answer")).to_have_count(0)
    await person.idle()
    await person.say("/demo say something else then")
    await expect(person.answers.last).to_contain_text("something else then")


async def test_a_permission_is_given_and_another_one_denied_with_a_reason(
    person: Conversation, session: Any, worktree: Any
) -> None:
    made = Path(worktree["path"]) / "allowed.txt"
    await enter(person, session)
    await person.hands.choose(person.page.get_by_role("combobox", name="Mode", exact=True), "build")
    await person.say("/demo permission touch allowed.txt")
    await expect(person.page.get_by_role("heading", name="Allow bash?")).to_be_visible()
    assert not made.exists()
    await person.press("Allow")
    await person.idle()
    assert made.exists()
    await person.say("/demo permission rm allowed.txt")
    await person.hands.write(person.page.get_by_role("textbox", name="Reason"), "I need it")
    await person.press("Deny")
    await person.idle()
    await expect(person.answers.last).to_contain_text("✗ denied")
    await expect(person.answers.last.get_by_text("→ I need it")).to_be_visible()
    assert made.exists()


async def test_what_a_command_prints_is_seen_while_it_runs(
    person: Conversation, session: Any, worktree: Any
) -> None:
    await enter(person, session)
    await person.hands.choose(person.page.get_by_role("combobox", name="Mode", exact=True), "yolo")
    await person.say("/demo run echo warp; while [ ! -e go ]; do sleep 0.1; done; echo weft")
    live = person.answers.last.locator(".live")
    await expect(live).to_have_text("warp")
    await person.page.reload()  # who comes later sees it too
    await expect(live).to_have_text("warp")
    (Path(worktree["path"]) / "go").touch()
    await person.idle()
    await expect(live).to_have_count(0)


async def test_what_is_said_meanwhile_waits_and_can_be_taken_back_or_runs_next(
    person: Conversation, session: Any
) -> None:
    await enter(person, session)
    await person.say(ENDLESS)
    await expect(person.button("Stop")).to_be_visible()
    await person.say("/demo say first of all", button="Queue")
    await person.say("/demo say never mind", button="Queue")
    waiting = person.page.get_by_role("list", name="Queued messages").get_by_role("listitem")
    await expect(waiting).to_have_count(2)
    second = waiting.filter(has_text="never mind")
    await person.hands.press(second.get_by_role("button", name="Edit"))
    await expect(person.box).to_have_value("/demo say never mind")
    await expect(waiting).to_have_count(1)
    await person.press("Stop")
    await expect(person.button("Stop")).to_be_hidden()
    await person.say("/demo say now this")
    await expect(person.answers.filter(has_text="first of all")).to_have_count(1)
    await expect(waiting).to_have_count(0)
    await person.idle()
    said = await person.answers.all_inner_texts()
    assert ["now this" in said[-2], "first of all" in said[-1]] == [True, True]


async def test_the_message_box_takes_enter_as_the_device_would(
    page: Page, phone: Page, session: Any
) -> None:
    for at, sends in ((page, True), (phone, False)):
        await at.goto(f"/#/session/{session['id']}")
        box = at.get_by_role("textbox", name="Message", exact=True)
        await box.fill("/demo say one line")
        await box.press("Enter")
        await expect(box).to_have_value("" if sends else "/demo say one line\n")
