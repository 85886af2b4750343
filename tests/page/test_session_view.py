"""A session as it stands before a person: reached from another one, read, written in, left."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import FloatRect, Locator, Page, expect

from tests.contract.conftest import payload_of
from tests.page.browser import Screen
from tests.page.conftest import OpenPage, made_worktree
from tests.page.person import Conversation, Pointer, open_tree
from tests.server.conftest import Socket

PHONE = Screen(390, 844, touch=True)
DESK = Screen(1440, 900)

LONG = "A paragraph that is longer than any screen is wide goes on and on. " * 9

COVERED = """() => {
  const found = [];
  for (const control of document.querySelectorAll("a, button, textarea, select, summary")) {
    if (!control.checkVisibility({ visibilityProperty: true })) continue;
    if (control.closest("#tree, .transcript")) continue; // they scroll
    const { left, right, top, bottom } = control.getBoundingClientRect();
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const hit = document.elementFromPoint(x, y);
    if (hit && !control.contains(hit)) found.push([control.outerHTML, hit.outerHTML]);
  }
  return found;
}"""
"""The controls around the conversation that a press in their middle does not reach."""


@pytest.fixture(
    params=[
        pytest.param(PHONE, id="phone"),
        pytest.param(DESK, id="desk", marks=pytest.mark.longer),
    ]
)
def screen(request: pytest.FixtureRequest) -> Screen:
    found: Screen = request.param
    return found


async def enter_by_tree(page: Page, session: Any) -> Conversation:
    """Go to a session the way people do: by the list at the left."""
    at = Pointer(page, touch=await page.evaluate("() => matchMedia('(pointer: coarse)').matches"))
    await open_tree(at)
    await at.press(page.locator(f'#tree a[href$="/session/{session["id"]}"]'))
    await expect(page.locator("#title")).to_have_text(session["name"])
    return Conversation(at)


async def test_answers_stream_in_wherever_one_came_from_and_cover_nothing(
    open_page: OpenPage, other: Socket, session: Any, screen: Screen
) -> None:
    second = await other.call("create_session", worktreeId=session["worktree_id"], name="Second")
    page = await open_page(screen=screen)
    for number, each in enumerate((session, second, session)):
        person = await enter_by_tree(page, each)
        await person.say(f"/demo say turn {number}. {LONG}")
        await expect(person.answers.last).to_contain_text(f"turn {number}.")
        await expect(person.answers.last).to_contain_text(LONG.strip()[-40:])
        await person.idle()
    spoken = page.locator(".session > [aria-live=polite]")
    await expect(spoken).to_contain_text("Finished.")
    size = await spoken.evaluate("(element) => [element.clientWidth, element.clientHeight]")
    assert max(size) <= 1
    assert await page.evaluate(COVERED) == []


BELOW = "(element) => element.scrollHeight - element.scrollTop - element.clientHeight"
"""How many pixels of a conversation lie below what is shown."""

LASTING = """() => {
  const known = window.setTimeout;
  window.setTimeout = (act, time, ...rest) => time < 6000 ? known(act, time, ...rest) : 0;
}"""
"""Messages at the edge of the page do not go away by time."""


async def frame(page: Page) -> None:
    """Wait until the page has painted twice, so that what sizes and scrolls bring about is done."""
    await page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


async def box_of(element: Locator) -> FloatRect:
    found = await element.bounding_box()
    assert found is not None
    return found


async def test_a_phone_shows_the_changes_and_keeps_the_end_in_sight(
    open_page: OpenPage, other: Socket, project: Any
) -> None:
    name = "give-me-the-tour-and-tell-me-all-about-the-orchard"
    worktree = await made_worktree(other, projectId=project["id"], customName=name)
    (Path(worktree["path"]) / "orchard.py").write_text("trees = 0\n")
    names = ["Prune", *(f"Session number {number}" for number in range(7))]
    ids = [
        (await other.call("create_session", worktreeId=worktree["id"], name=each))["id"]
        for each in names
    ]
    page = await open_page(f"/session/{ids[0]}", screen=PHONE)
    person = Conversation(Pointer(page, touch=True))
    transcript = page.get_by_role("log", name="Conversation")
    await person.say("/demo say the very first\n/demo markdown 3\n/demo say the very last")
    await expect(person.answers.last).to_contain_text("the very last")
    await person.idle()

    # Changes and its counts stand beside a name that gives way, and all is as high as a finger.
    await other.call("fetch_worktrees_status", projectId=project["id"])
    changes = page.get_by_role("link", name="Changes +1 −2")
    await expect(changes).to_be_in_viewport(ratio=1)
    links = page.get_by_role("navigation", name="Worktree").get_by_role("link")
    shown = ["orchard ▸ " + name, "Changes\n+1\n−2", "8 sessions"]
    await expect(links).to_have_text(shown, use_inner_text=True)
    for link in await links.all():
        assert (await box_of(link))["height"] >= 44

    # The keyboard takes half of the screen: who read the end still does.
    assert await transcript.evaluate(BELOW) < 2
    await page.set_viewport_size({"width": 390, "height": 430})
    await frame(page)
    assert await transcript.evaluate(BELOW) < 2
    await page.set_viewport_size({"width": 390, "height": 844})

    # Wherever one reads there is a way to the end and to the beginning, over nothing but text.
    end = person.button("↓ Go to the end")
    await expect(end).to_be_hidden()
    await Pointer(page, touch=True).scroll(transcript, -200)
    await expect(end).to_be_visible()
    await person.box.fill("/")
    await person.box.focus()
    await expect(page.get_by_role("listbox")).to_be_visible()
    button, listed = await box_of(end), await box_of(page.get_by_role("listbox"))
    hit = "([x, y]) => document.elementFromPoint(x, y).closest('.scroll-buttons') !== null"
    within = [button["x"] + 5, button["y"] + button["height"] / 2]
    assert listed["y"] > within[1] or not await page.evaluate(hit, within)
    assert button["y"] + button["height"] <= (await box_of(person.box))["y"]
    await person.box.fill("")
    await person.press("Go to the first message")
    await expect(transcript.get_by_text("the very first").first).to_be_in_viewport()
    await expect(person.button("Go to the first message")).to_be_hidden()

    # Who sends sees what they sent.
    await person.say("/demo say at last")
    await expect(person.answers.last).to_contain_text("at last")
    await frame(page)
    assert await transcript.evaluate(BELOW) < 2
    await expect(end).to_be_hidden()


async def test_forward_opens_again_what_back_has_closed(phone: Page, session: Any) -> None:
    await phone.goto(f"/#/session/{session['id']}")
    more = phone.get_by_role("button", name="Session actions")
    await more.tap()
    dialog, drawer = phone.locator("dialog"), phone.locator("body.drawer")
    await expect(dialog).to_be_visible()
    await phone.go_back()
    await expect(dialog).to_have_count(0)
    await phone.go_forward()
    await dialog.get_by_role("button", name="Cancel").tap()
    await expect(dialog).to_have_count(0)
    await phone.get_by_role("button", name="Projects").tap()
    await expect(drawer).to_be_attached()
    await phone.go_back()
    await expect(drawer).to_have_count(0)
    await phone.go_forward()
    await expect(drawer).to_be_attached()


async def test_back_closes_what_lies_over_the_page_before_it_leaves(
    open_page: OpenPage, other: Socket, session: Any
) -> None:
    page = await open_page("/archive", screen=PHONE)
    person = await enter_by_tree(page, session)
    place, dialog = page.url, page.locator("dialog")
    drawer = page.locator("body.drawer")
    menu = page.get_by_role("button", name="Projects")

    await person.press("Session actions")
    await expect(dialog).to_be_visible()
    await page.go_back()
    await expect(dialog).to_have_count(0)
    assert page.url == place

    # What lies under the drawer is dark and takes no press; one beside the drawer closes it.
    await menu.tap()
    await expect(drawer).to_be_attached()
    await page.touchscreen.tap(380, 700)
    await expect(drawer).to_have_count(0)
    await expect(person.box).not_to_be_focused()
    await menu.tap()
    await expect(drawer).to_be_attached()
    await page.go_back()
    await expect(drawer).to_have_count(0)
    assert page.url == place

    # What was closed otherwise is no step back, and the next place leads back to this one.
    await person.press("Session actions")
    await person.press("Cancel")
    await page.keyboard.press("Control+k")
    await expect(dialog).to_be_visible()
    await page.evaluate("() => { location.hash = '#/search'; }")
    await expect(page.locator("#title")).to_have_text("Search")
    await expect(dialog).to_have_count(0)
    await page.go_back()
    await expect(page.locator("#title")).to_have_text(session["name"])
    await menu.tap()
    await page.get_by_role("link", name="Help").tap()
    await expect(page.locator("#title")).to_have_text("Help")
    await page.go_back()
    await expect(page.locator("#title")).to_have_text(session["name"])
    await page.go_back()
    await expect(page.locator("#title")).to_have_text("Archive")


async def test_words_at_the_edge_cover_no_control_and_go_when_they_are_no_longer_true(
    open_page: OpenPage, other: Socket, session: Any, project: Any, screen: Screen
) -> None:
    second = await other.call("create_session", worktreeId=session["worktree_id"], name="Second")
    page = await open_page(f"/session/{session['id']}", screen=screen)
    await page.evaluate(LASTING)
    toast = page.locator(".toast span")
    tell = {"sessionId": second["id"]}

    await other.call("send_chat_message", **tell, message="/demo say done")
    await expect(toast).to_have_text("'Second' has finished")
    assert await page.evaluate(COVERED) == []
    await other.call("send_chat_message", **tell, message="/demo ask Tea? | Yes")
    await expect(toast).to_have_text("'Second' has a question")
    await page.set_viewport_size({"width": screen.width, "height": 430})
    box = page.get_by_role("textbox", name="Message", exact=True)
    await box.fill("a line\n" * 9)
    await frame(page)
    shown = await box_of(page.locator("#toasts"))
    assert shown["y"] + shown["height"] <= (await box_of(page.locator(".composer")))["y"]
    assert await page.evaluate(COVERED) == []
    await box.fill("")
    await page.set_viewport_size({"width": screen.width, "height": screen.height})
    await enter_by_tree(page, second)
    await expect(toast).to_have_count(0)
    await page.get_by_role("button", name="Yes").click()
    await page.get_by_role("button", name="Answer").click()
    await Conversation(Pointer(page)).idle()

    # Needs you shows what is asked; only what has finished is a word besides.
    await page.goto("/#/needs")
    await other.call("send_chat_message", **tell, message="/demo ask Coffee? | Yes")
    await expect(page.locator(".waiting-item").filter(has_text="Coffee?")).to_be_visible()
    await expect(toast).to_have_count(0)
    await page.goto("/#/archive")
    await other.call("send_chat_message", sessionId=session["id"], message="/demo say ready")
    await expect(toast).to_have_text("'Fix the parser' has finished")
    assert await page.evaluate(COVERED) == []

    await page.goto(f"/#/new?project={project['id']}")
    await page.get_by_role("textbox", name="First message").fill("/demo say made")
    await page.get_by_role("button", name="Create").click()
    await expect(Conversation(Pointer(page)).answers.last).to_contain_text("made")
    await expect(toast.filter(has_text="Creating ")).to_have_count(0)


async def test_marks_choices_and_frames_stand_with_what_they_belong_to(
    open_page: OpenPage, other: Socket, session: Any, screen: Screen
) -> None:
    name = "Tell me about the orchard and all that grows in it from March to September"
    await other.call("update_session", sessionId=session["id"], name=name)
    question = f"Tea at {screen.width}?"
    for message in ("/demo say sought", f"/demo ask {question} | Yes"):
        await other.call("send_chat_message", sessionId=session["id"], message=message)
    while (await payload_of(other, "session-waiting"))["session_id"] != session["id"]:
        pass
    page = await open_page("/needs", screen=screen)
    card = page.locator(".waiting-item").filter(has_text=question)
    mark, words = await box_of(card.locator(".mark")), await box_of(card.get_by_text(name))
    assert words["x"] >= mark["x"] + mark["width"]
    assert words["y"] <= mark["y"] + mark["height"] / 2 <= words["y"] + words["height"]

    messages = (await other.call("get_messages", sessionId=session["id"]))["messages"]
    await page.goto(f"/#/session/{session['id']}?message={messages[0]['id']}")
    sought = page.locator(".message.highlighted")
    await expect(sought).to_be_in_viewport()
    reach = "(one) => parseFloat(getComputedStyle(one).outlineOffset)"
    outlined = "(one) => getComputedStyle(one).outlineStyle !== 'none'"
    framed, after = await box_of(sought), await box_of(page.locator(".message").nth(1))
    beyond = await sought.evaluate(reach) if await sought.evaluate(outlined) else 0
    assert framed["y"] + framed["height"] + beyond <= after["y"] + 1

    worktree = await other.call("get_worktree", worktreeId=session["worktree_id"])
    for file in ("staged.txt", "other.txt"):
        (Path(worktree["path"]) / file).write_text("apples\n")
    await other.call("stage_changes", worktreeId=worktree["id"], path="staged.txt")
    await page.goto(f"/#/diff/{worktree['id']}?form=commit")
    for choice in ("All changes: 2 files", "Staged changes: 1 file"):
        radio = await box_of(page.get_by_role("radio", name=choice))
        line = await box_of(page.get_by_text(choice, exact=True))
        assert radio["width"] <= 24
        assert radio["x"] - line["x"] < 8
        assert line["height"] < 2 * radio["height"] + 28


async def test_on_paper_there_is_the_whole_conversation_in_light_colors_and_nothing_to_press(
    open_page: OpenPage, other: Socket, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}")
    person = Conversation(Pointer(page))
    await person.say("/demo say the very first\n/demo markdown 9\n/demo say the very last")
    await expect(person.answers.last).to_contain_text("the very last")
    await person.idle()
    await page.emulate_media(media="print")
    await page.evaluate("() => { dispatchEvent(new Event('beforeprint')); }")
    transcript = page.get_by_role("log", name="Conversation")
    hidden = "(element) => element.scrollHeight - element.clientHeight"
    assert await transcript.evaluate(hidden) == 0
    assert await transcript.evaluate("(element) => element.clientHeight > innerHeight")
    dark = await page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert all(int(part) > 200 for part in dark.removeprefix("rgb(").removesuffix(")").split(","))
    for control in ("#tree", "#menu", ".top", ".composer", ".scroll-buttons", ".copy"):
        await expect(page.locator(control).first).to_be_hidden()
    await expect(transcript.get_by_text("the very first").first).to_be_visible()
    await expect(page.get_by_role("heading", name=session["name"])).to_be_visible()
    await page.evaluate("() => { dispatchEvent(new Event('afterprint')); }")
    await page.emulate_media(media="screen")
    await expect(person.box).to_be_visible()
