"""The message box: drafts, completion, the settings under it, the queue, and what it refuses."""

import re
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import FilePayload, Page, expect

from tests.page.browser import PHONE, Faults, Screen, signed_in
from tests.page.conftest import OpenPage
from tests.page.person import Conversation, Pointer
from tests.program import Serving
from tests.server.conftest import Socket


@pytest_asyncio.fixture(loop_scope="session")
async def at(open_page: OpenPage, session: Any, screen: Screen) -> Conversation:
    """Somebody at the session, by mouse and by touch."""
    page = await open_page(f"/session/{session['id']}", screen=screen)
    return Conversation(Pointer(page, touch=screen.touch))


async def texts(other: Socket, session: Any) -> list[str]:
    """What people said in the session, or have waiting there."""
    page = await other.call("get_messages", sessionId=session["id"])
    waiting = await other.call("list_queued_messages", sessionId=session["id"])
    said = [m for m in page["messages"] if m["role"] == "user"] + waiting
    return [m["content"][0]["text"] for m in said]


async def test_what_was_written_is_there_after_a_reload_in_its_session_alone(
    at: Conversation, other: Socket, session: Any
) -> None:
    elsewhere = await other.call("create_session", worktreeId=session["worktree_id"])
    await at.box.fill("half a thought")
    await at.page.goto(f"/#/session/{elsewhere['id']}")
    await expect(at.page.locator("#title")).to_have_text(elsewhere["name"])
    await expect(at.box).to_have_value("")
    await at.page.goto(f"/#/session/{session['id']}")
    await expect(at.box).to_have_value("half a thought")
    await at.page.reload()
    await expect(at.box).to_have_value("half a thought")


async def test_what_is_written_in_one_tab_stays_while_another_leaves_the_session(
    at: Conversation, served: Serving, session: Any
) -> None:
    tab = await at.page.context.new_page()
    await signed_in(tab, served.token, f"/session/{session['id']}")
    other_tab = Conversation(Pointer(tab))
    await expect(other_tab.box).to_have_value("")
    await at.box.fill("half a thought")
    await at.page.goto("/#/help")
    await tab.goto("/#/help")
    await at.page.goto(f"/#/session/{session['id']}")
    await expect(at.box).to_have_value("half a thought")
    await tab.goto(f"/#/session/{session['id']}")
    await at.box.fill("half a thought, longer")
    await expect(other_tab.box).to_have_value("half a thought, longer")
    await at.box.fill("/demo say sent")
    await at.press("Send")
    await expect(other_tab.answers.last).to_contain_text("sent")
    await expect(other_tab.box).to_have_value("")


async def test_a_second_press_sends_nothing(at: Conversation, other: Socket, session: Any) -> None:
    await at.box.fill("/demo say once")
    await at.page.evaluate(
        "() => { const form = document.querySelector('.composer');"
        " form.requestSubmit(); form.requestSubmit(); form.requestSubmit(); }"
    )
    await expect(at.answers.last).to_contain_text("once")
    await at.idle()
    assert await texts(other, session) == ["/demo say once"]


async def test_a_file_is_completed(at: Conversation) -> None:
    await at.box.press_sequentially("read @orch")
    choice = at.page.get_by_role("option", name="@orchard.py")
    await expect(choice).to_be_visible()
    await at.hands.press(choice)
    await expect(at.box).to_have_value("read @orchard.py ")
    await expect(at.box).to_be_focused()
    await expect(choice).to_have_count(0)


async def test_commands_are_completed_by_keys(at: Conversation) -> None:
    await at.box.press_sequentially("/")
    options = at.page.locator(".completion li")
    await expect(options.filter(has_text="/rename")).to_be_visible()
    await expect(options.filter(has_text="/demo")).to_be_visible()
    await at.box.press_sequentially("re")
    await at.box.press("ArrowDown")
    await at.box.press("ArrowUp")
    await at.box.press("Enter")
    await expect(at.box).to_have_value("/rename ")
    await at.box.fill("")
    await at.box.press_sequentially("/he")
    await expect(options.first).to_be_visible()
    await at.box.press("Escape")
    await expect(options.first).to_be_hidden()
    await expect(at.box).to_have_value("/he")


async def test_a_command_of_spinney_is_done_and_not_sent(
    at: Conversation, other: Socket, session: Any
) -> None:
    await at.box.fill("/mode")
    await at.press("Send")
    await expect(at.page.get_by_role("combobox", name="Mode", exact=True)).to_have_value("build")
    await at.box.fill("/mode yolo")
    await at.press("Send")
    await expect(at.page.get_by_role("alert")).to_contain_text("takes no arguments")
    await expect(at.box).to_have_value("/mode yolo")
    assert await texts(other, session) == []
    await at.box.fill("/clear")
    await at.press("Send")
    await expect(at.page).not_to_have_url(re.compile(session["id"]))
    await expect(at.page.get_by_role("combobox", name="Mode", exact=True)).to_have_value("build")


async def test_model_thinking_and_agent_are_chosen_under_the_box(
    at: Conversation, other: Socket, session: Any
) -> None:
    def box(name: str) -> Any:
        return at.page.get_by_role("combobox", name=name, exact=True)

    rest = at.button("Agent, model, thinking")  # folded away on a phone
    if isinstance(at.hands, Pointer) and at.hands.touch:
        await at.hands.press(rest)
    await expect(box("Thinking")).to_be_visible()
    await at.hands.choose(box("Thinking"), "off")
    await expect(box("Agent")).to_be_enabled()
    # Whoever goes to the list of models has the program asked for it, where there is one.
    models = await other.call("list_models", backend="backend_a")
    offered = [model["name"] for model in models if model["is_offered"]]
    await at.hands.choose(box("Agent"), "backend_a")
    await expect(box("Model").locator("option")).to_have_count(len(offered) + len(["Other…"]))
    await at.hands.choose(box("Model"), offered[1])
    await expect(box("Model")).to_have_value(offered[1])
    await at.hands.choose(box("Agent"), "demo")
    await expect(box("Agent")).to_have_value("demo")
    await at.say("/demo say hello")
    await expect(at.answers.last).to_contain_text("hello")
    await at.idle()
    await box("Agent").select_option("backend_a")
    dialog = at.page.get_by_role("dialog", name="Change the agent?")
    await expect(dialog).to_contain_text("summary")
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(box("Agent")).to_have_value("demo")
    now = await other.call("get_session", sessionId=session["id"])
    assert (now["thinking_level"], now["backend"]) == ("off", "demo")


async def test_an_image_goes_along_by_its_path(
    at: Conversation, other: Socket, session: Any, worktree: Any
) -> None:
    (Path(worktree["path"]) / "plot.png").write_bytes(b"\x89PNG")
    await at.press("Add an image")
    await at.press("By path on the machine that runs Spinney")
    box = at.page.get_by_role("textbox", name="Path of the image")
    await box.fill("notes.txt")
    await at.press("Add")
    await expect(at.page.get_by_role("dialog")).to_contain_text("Mention other files with @.")
    await box.fill("plot.png")
    await at.press("Add")
    await expect(at.page.get_by_role("list", name="Images")).to_contain_text("plot.png")
    await at.page.reload()
    await expect(at.page.get_by_role("list", name="Images")).to_contain_text("plot.png")
    await at.say("/demo say seen")
    await expect(at.page.locator('.message[data-role="user"]')).to_contain_text("plot.png")
    await expect(at.page.get_by_role("list", name="Images")).to_have_count(0)


PASTE = """(box, [name, type, bytes]) => {
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File([Uint8Array.from(bytes)], name, { type }));
  const paste = { clipboardData, bubbles: true, cancelable: true };
  box.dispatchEvent(new ClipboardEvent("paste", paste));
}"""


async def test_a_picture_of_this_device_goes_along(
    at: Conversation, other: Socket, session: Any, faults: Faults
) -> None:
    faults.allow("400")
    png = b"\x89PNG\r\n\x1a\npixels"
    attached = at.page.get_by_role("list", name="Images").get_by_role("listitem")
    await at.press("Add an image")
    async with at.page.expect_file_chooser() as chosen:
        await at.press("From this device")
    picture = {"name": "shot.png", "mimeType": "image/png", "buffer": png}
    await (await chosen.value).set_files([FilePayload(**picture)])
    await expect(attached).to_have_count(1)
    await at.box.evaluate(PASTE, ["pasted.png", "image/png", list(png)])
    await expect(attached).to_have_count(2)
    await at.box.evaluate(PASTE, ["page.svg", "image/svg+xml", list(b"<svg/>")])
    told = at.page.get_by_role("alert").filter(has_text="Could not add 'page.svg'.")
    await expect(told).to_contain_text("Use PNG, JPEG, GIF or WebP.")
    await at.say("/demo say seen")
    await expect(at.answers.last).to_contain_text("seen")
    await at.idle()
    page = await other.call("get_messages", sessionId=session["id"])
    sent = [b["path"] for b in page["messages"][0]["content"] if b["type"] == "image"]
    assert [Path(path).read_bytes() for path in sent] == [png, png]


@pytest.mark.longer
async def test_what_is_refused_comes_back_into_the_box(
    at: Conversation, other: Socket, session: Any
) -> None:
    await other.call("archive_session", sessionId=session["id"])
    await expect(at.page.get_by_text("This session is archived.")).to_be_visible()
    await at.box.fill("/demo say too late")
    await at.press("Send")
    await expect(at.page.get_by_role("alert")).to_contain_text("archived")
    await expect(at.box).to_have_value("/demo say too late")
    await at.press("Restore")
    await at.say("/demo say too late")
    await expect(at.answers.last).to_contain_text("too late")


async def test_a_long_paste_is_sent_whole(at: Conversation, other: Socket, session: Any) -> None:
    long = "\n".join(f"line {number} of a long paste" for number in range(20_000))
    await at.box.evaluate(
        """(box, text) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", text);
          const paste = { clipboardData, bubbles: true, cancelable: true };
          box.dispatchEvent(new ClipboardEvent("paste", paste));
        }""",
        long,
    )
    await at.press("Send")
    await expect(at.answers).to_have_count(1)
    assert await texts(other, session) == [long]


async def test_nothing_is_pushed_out_of_a_narrow_screen(open_page: OpenPage, session: Any) -> None:
    for width in (320, 390, 800, 2560):
        screen = Screen(width, 700, touch=width < 500)
        page = await open_page(f"/session/{session['id']}", screen=screen)
        await page.get_by_role("textbox", name="Message", exact=True).fill("x\n" * 40)
        assert await widest(page) <= width
        assert await page.get_by_role("button", name="Send").evaluate(
            "(e) => e.getBoundingClientRect().right <= innerWidth"
        )


async def widest(page: Page) -> int:
    return int(await page.evaluate("document.documentElement.scrollWidth"))


async def test_enter_of_a_completion_on_a_phone_takes_it(open_page: OpenPage, session: Any) -> None:
    page = await open_page(f"/session/{session['id']}", screen=PHONE)
    at = Conversation(Pointer(page, touch=True))
    await at.box.press_sequentially("see @READ")
    await expect(page.get_by_role("option", name="@README.md")).to_be_visible()
    await at.box.press("Enter")
    await expect(at.box).to_have_value("see @README.md ")
