"""The layout and navigation of the session view: toasts, history, scrolling, printing."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import FloatRect, Locator, Page, expect

from tests.contract.conftest import receive_payload
from tests.page.browser import Screen
from tests.page.conftest import OpenPage, create_worktree
from tests.page.user_input import Pointer, SessionPage, open_tree
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
"""The controls around the conversation that something else covers in their middle."""


@pytest.fixture(
    params=[
        pytest.param(PHONE, id="phone"),
        pytest.param(DESK, id="desk", marks=pytest.mark.longer),
    ]
)
def screen(request: pytest.FixtureRequest) -> Screen:
    screen: Screen = request.param
    return screen


async def open_from_tree(page: Page, session: Any) -> SessionPage:
    """Open a session from the tree of projects."""
    is_touch = await page.evaluate("() => matchMedia('(pointer: coarse)').matches")
    user = Pointer(page, touch=is_touch)
    await open_tree(user)
    await user.press(page.locator(f'#tree a[href$="/session/{session["id"]}"]'))
    await expect(page.locator("#title")).to_have_text(session["name"])
    return SessionPage(user)


async def test_answers_stream_into_a_session_opened_from_another_and_cover_nothing(
    open_page: OpenPage, client: Socket, session: Any, screen: Screen
) -> None:
    second = await client.call("create_session", worktreeId=session["worktree_id"], name="Second")
    page = await open_page(screen=screen)
    for number, each in enumerate((session, second, session)):
        session_page = await open_from_tree(page, each)
        await session_page.send(f"/demo say turn {number}. {LONG}")
        await expect(session_page.answers.last).to_contain_text(f"turn {number}.")
        await expect(session_page.answers.last).to_contain_text(LONG.strip()[-40:])
        await session_page.wait_until_idle()
    announced = page.locator(".session > [aria-live=polite]")
    await expect(announced).to_contain_text("Finished.")
    size = await announced.evaluate("(element) => [element.clientWidth, element.clientHeight]")
    assert max(size) <= 1
    assert await page.evaluate(COVERED) == []


BELOW = "(element) => element.scrollHeight - element.scrollTop - element.clientHeight"
"""Pixels of the conversation below the visible part."""

KEEP_TOASTS = """() => {
  const known = window.setTimeout;
  window.setTimeout = (act, time, ...rest) => time < 6000 ? known(act, time, ...rest) : 0;
}"""
"""Keeps toasts from closing after some time."""


async def wait_for_frames(page: Page) -> None:
    """Wait for two frames, after which the effects of resizing and scrolling are done."""
    await page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


async def get_bounding_box(element: Locator) -> FloatRect:
    box = await element.bounding_box()
    assert box is not None
    return box


async def test_a_phone_shows_the_changes_and_keeps_the_end_visible(
    open_page: OpenPage, client: Socket, project: Any
) -> None:
    name = "give-me-the-tour-and-tell-me-all-about-the-orchard"
    worktree = await create_worktree(client, projectId=project["id"], customName=name)
    (Path(worktree["path"]) / "orchard.py").write_text("trees = 0\n")
    names = ["Prune", *(f"Session number {number}" for number in range(7))]
    ids = [
        (await client.call("create_session", worktreeId=worktree["id"], name=each))["id"]
        for each in names
    ]
    page = await open_page(f"/session/{ids[0]}", screen=PHONE)
    session_page = SessionPage(Pointer(page, touch=True))
    transcript = page.get_by_role("log", name="Conversation")
    await session_page.send("/demo say the very first\n/demo markdown 3\n/demo say the very last")
    await expect(session_page.answers.last).to_contain_text("the very last")
    await session_page.wait_until_idle()

    # The changes and their counts stay beside a truncated name; the sessions that do not fit are in
    # a menu; everything is a touch target.
    await client.call("fetch_worktrees_status", projectId=project["id"])
    changes = page.get_by_role("link", name="Changes +1 −2")
    await expect(changes).to_be_in_viewport(ratio=1)
    await expect(page.locator("#subtitle")).to_have_text("orchard ▸ " + name)
    tabs = page.get_by_role("navigation", name="Worktree").get_by_role("link")
    await expect(tabs.filter(has_text="Prune")).to_have_attribute("aria-current", "page")
    others = page.get_by_role("button", name="All sessions of this worktree")
    for control in [changes, others, *await tabs.all()]:
        await expect(control).to_be_in_viewport(ratio=1)
        assert (await get_bounding_box(control))["height"] >= 44
    await others.tap()
    menu = page.get_by_role("dialog", name="Sessions of this worktree")
    await expect(menu.get_by_role("button", name="Session number 6")).to_be_visible()
    await menu.get_by_role("button", name="Cancel").tap()

    # When the keyboard takes half of the screen, the end stays visible.
    assert await transcript.evaluate(BELOW) < 2
    await page.set_viewport_size({"width": 390, "height": 430})
    await wait_for_frames(page)
    assert await transcript.evaluate(BELOW) < 2
    await page.set_viewport_size({"width": 390, "height": 844})

    # There are buttons to the end and to the beginning, which cover only text.
    end = session_page.button("Go to the end")
    await expect(end).to_be_hidden()
    await Pointer(page, touch=True).scroll(transcript, -200)
    await expect(end).to_be_visible()
    await session_page.message_box.fill("/")
    await session_page.message_box.focus()
    await expect(page.get_by_role("listbox")).to_be_visible()
    button, listed = (
        await get_bounding_box(end),
        await get_bounding_box(page.get_by_role("listbox")),
    )
    hit = "([x, y]) => document.elementFromPoint(x, y).closest('.scroll-buttons') !== null"
    within = [button["x"] + 5, button["y"] + button["height"] / 2]
    assert listed["y"] > within[1] or not await page.evaluate(hit, within)
    assert button["y"] + button["height"] <= (await get_bounding_box(session_page.message_box))["y"]
    await session_page.message_box.fill("")
    await session_page.press("Go to the first message")
    await expect(transcript.get_by_text("the very first").first).to_be_in_viewport()
    await expect(session_page.button("Go to the first message")).to_be_hidden()

    # Sending a message scrolls to it.
    await session_page.send("/demo say at last")
    await expect(session_page.answers.last).to_contain_text("at last")
    await wait_for_frames(page)
    assert await transcript.evaluate(BELOW) < 2
    await expect(end).to_be_hidden()


async def test_forward_reopens_the_dialog_or_drawer_that_back_closed(
    phone: Page, session: Any
) -> None:
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


async def test_back_closes_a_dialog_or_drawer_before_it_leaves_the_view(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    page = await open_page("/archive", screen=PHONE)
    session_page = await open_from_tree(page, session)
    place, dialog = page.url, page.locator("dialog")
    drawer = page.locator("body.drawer")
    menu = page.get_by_role("button", name="Projects")

    await session_page.press("Session actions")
    await expect(dialog).to_be_visible()
    await page.go_back()
    await expect(dialog).to_have_count(0)
    assert page.url == place

    # A tap beside the drawer closes it and does not reach what is below.
    await menu.tap()
    await expect(drawer).to_be_attached()
    await page.touchscreen.tap(380, 700)
    await expect(drawer).to_have_count(0)
    await expect(session_page.message_box).not_to_be_focused()
    await menu.tap()
    await expect(drawer).to_be_attached()
    await page.go_back()
    await expect(drawer).to_have_count(0)
    assert page.url == place

    # A dialog that was closed otherwise adds no step to the history.
    await session_page.press("Session actions")
    await session_page.press("Cancel")
    await expect(dialog).to_have_count(0)
    await page.keyboard.press("Control+k")
    await expect(dialog).to_be_visible()
    await page.evaluate("() => { location.hash = '#/search'; }")
    await expect(page.locator("#title")).to_have_text("Search")
    await expect(dialog).to_have_count(0)
    await page.go_back()
    await expect(page.locator("#title")).to_have_text(session["name"])
    await menu.tap()
    await page.get_by_role("link", name="Help", exact=True).tap()
    await expect(page.locator("#title")).to_have_text("Help")
    await page.go_back()
    await expect(page.locator("#title")).to_have_text(session["name"])
    await page.go_back()
    await expect(page.locator("#title")).to_have_text("Archive")


async def test_toasts_cover_no_control_and_close_when_they_are_outdated(
    open_page: OpenPage, client: Socket, session: Any, project: Any, screen: Screen
) -> None:
    second = await client.call("create_session", worktreeId=session["worktree_id"], name="Second")
    page = await open_page(f"/session/{session['id']}", screen=screen)
    await page.evaluate(KEEP_TOASTS)
    toast = page.locator(".toast span")
    to_second = {"sessionId": second["id"]}

    await client.call("send_chat_message", **to_second, message="/demo say done")
    await expect(toast).to_have_text("'Second' has finished")
    assert await page.evaluate(COVERED) == []
    await client.call("send_chat_message", **to_second, message="/demo ask Tea? | Yes")
    await expect(toast).to_have_text("'Second' has a question")
    await page.set_viewport_size({"width": screen.width, "height": 430})
    box = page.get_by_role("textbox", name="Message", exact=True)
    await box.fill("a line\n" * 9)
    await wait_for_frames(page)
    shown = await get_bounding_box(page.locator("#toasts"))
    assert shown["y"] + shown["height"] <= (await get_bounding_box(page.locator(".composer")))["y"]
    assert await page.evaluate(COVERED) == []
    await box.fill("")
    await page.set_viewport_size({"width": screen.width, "height": screen.height})
    await open_from_tree(page, second)
    await expect(toast).to_have_count(0)
    await page.get_by_role("button", name="Yes").click()
    await SessionPage(Pointer(page)).wait_until_idle()

    # The needs-you view shows questions itself; only finished sessions get a toast.
    await page.goto("/#/needs")
    await client.call("send_chat_message", **to_second, message="/demo ask Coffee? | Yes")
    await expect(page.locator(".waiting-item").filter(has_text="Coffee?")).to_be_visible()
    await expect(toast).to_have_count(0)
    await page.goto("/#/search")
    await client.call("send_chat_message", sessionId=session["id"], message="/demo say ready")
    await expect(toast).to_have_text("'Fix the parser' has finished")
    assert await page.evaluate(COVERED) == []

    await page.goto(f"/#/new?project={project['id']}")
    await page.get_by_role("textbox", name="First message").fill("/demo say made")
    await page.get_by_role("button", name="Start", exact=True).click()
    await expect(SessionPage(Pointer(page)).answers.last).to_contain_text("made")
    await expect(toast.filter(has_text="Creating ")).to_have_count(0)


async def test_marks_choices_and_highlights_are_aligned_with_their_text(
    open_page: OpenPage, client: Socket, session: Any, screen: Screen
) -> None:
    name = "Tell me about the orchard and all that grows in it from March to September"
    await client.call("update_session", sessionId=session["id"], name=name)
    question = f"Tea at {screen.width}?"
    for message in ("/demo say sought", f"/demo ask {question} | Yes"):
        await client.call("send_chat_message", sessionId=session["id"], message=message)
    while (await receive_payload(client, "session-waiting"))["session_id"] != session["id"]:
        pass
    page = await open_page("/needs", screen=screen)
    card = page.locator(".waiting-item").filter(has_text=question)
    mark, words = (
        await get_bounding_box(card.locator(".mark")),
        await get_bounding_box(card.get_by_text(name)),
    )
    assert words["x"] >= mark["x"] + mark["width"]
    assert words["y"] <= mark["y"] + mark["height"] / 2 <= words["y"] + words["height"]

    messages = (await client.call("get_messages", sessionId=session["id"]))["messages"]
    await page.goto(f"/#/session/{session['id']}?message={messages[0]['id']}")
    highlighted = page.locator(".message.highlighted")
    await expect(highlighted).to_be_in_viewport()
    offset = "(one) => parseFloat(getComputedStyle(one).outlineOffset)"
    is_outlined = "(one) => getComputedStyle(one).outlineStyle !== 'none'"
    framed, after = (
        await get_bounding_box(highlighted),
        await get_bounding_box(page.locator(".message").nth(1)),
    )
    beyond = await highlighted.evaluate(offset) if await highlighted.evaluate(is_outlined) else 0
    assert framed["y"] + framed["height"] + beyond <= after["y"] + 1

    worktree = await client.call("get_worktree", worktreeId=session["worktree_id"])
    for file in ("staged.txt", "other.txt"):
        (Path(worktree["path"]) / file).write_text("apples\n")
    await client.call("stage_changes", worktreeId=worktree["id"], path="staged.txt")
    await page.goto(f"/#/diff/{worktree['id']}?form=commit")
    for choice in ("All changes: 2 files", "Staged changes: 1 file"):
        radio = await get_bounding_box(page.get_by_role("radio", name=choice))
        line = await get_bounding_box(page.get_by_text(choice, exact=True))
        assert radio["width"] <= 24
        assert radio["x"] - line["x"] < 8
        assert line["height"] < 2 * radio["height"] + 28


async def test_the_changes_are_beside_the_conversation_on_a_wide_screen(
    open_page: OpenPage, client: Socket, session: Any, worktree: Any
) -> None:
    page = await open_page(f"/session/{session['id']}", screen=DESK)
    session_page = SessionPage(Pointer(page))
    pane = page.get_by_role("complementary", name="Changes")
    await expect(pane).to_contain_text("No unstaged changes.")
    await session_page.choose_mode("yolo")
    await session_page.send("/demo write apples.txt: many\n/demo stream 1000000 50")
    await expect(pane.locator(".diff-row.added")).to_contain_text("many")
    await session_page.press("Stop")

    # The letters that are keys of the changes are typed here.
    await session_page.message_box.press_sequentially("xas")
    await expect(session_page.message_box).to_have_value("xas")
    assert (Path(worktree["path"]) / "apples.txt").read_text() == "many\n"
    await expect(pane.get_by_role("button", name=re.compile("^Working 1"))).to_be_visible()

    toggle = session_page.button("Changes beside the conversation")
    await toggle.click()
    await expect(pane).to_be_hidden()
    await page.reload()
    await expect(toggle).to_have_attribute("aria-pressed", "false")
    await toggle.click()
    await expect(pane.locator(".diff-row.added")).to_contain_text("many")
    await page.set_viewport_size({"width": 1300, "height": 900})
    await expect(pane).to_be_hidden()
    await expect(toggle).to_be_hidden()


async def test_printing_shows_the_whole_conversation_in_light_colors_without_controls(
    open_page: OpenPage, client: Socket, session: Any
) -> None:
    page = await open_page(f"/session/{session['id']}")
    session_page = SessionPage(Pointer(page))
    await session_page.send("/demo say the very first\n/demo markdown 9\n/demo say the very last")
    await expect(session_page.answers.last).to_contain_text("the very last")
    await session_page.wait_until_idle()
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
    await expect(session_page.message_box).to_be_visible()
