"""The message box: drafts, completion, session settings, attachments, and rejected messages."""

import asyncio
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image
from playwright.async_api import FilePayload, Locator, Page, expect

from tests.page.browser import PHONE, PageErrors, Screen, sign_in
from tests.page.conftest import OpenPage
from tests.page.user_input import Pointer, SessionPage
from tests.patience import PATIENCE
from tests.program import Serving
from tests.server.conftest import Socket


@pytest_asyncio.fixture(loop_scope="session")
async def session_page(open_page: OpenPage, session: Any, screen: Screen) -> SessionPage:
    """The session's page, operated by mouse or by touch."""
    page = await open_page(f"/session/{session['id']}", screen=screen)
    return SessionPage(Pointer(page, touch=screen.touch))


async def read_user_texts(client: Socket, session: Any) -> list[str]:
    """The texts of the session's user messages, sent or queued."""
    page = await client.call("get_messages", sessionId=session["id"])
    queued = await client.call("list_queued_messages", sessionId=session["id"])
    messages = [m for m in page["messages"] if m["role"] == "user"] + queued
    return [m["content"][0]["text"] for m in messages]


async def test_a_draft_survives_a_reload_in_its_own_session_only(
    session_page: SessionPage, client: Socket, session: Any
) -> None:
    elsewhere = await client.call("create_session", worktreeId=session["worktree_id"])
    await session_page.message_box.fill("half a thought")
    await session_page.page.goto(f"/#/session/{elsewhere['id']}")
    await expect(session_page.page.locator("#title")).to_have_text(elsewhere["name"])
    await expect(session_page.message_box).to_have_value("")
    await session_page.page.goto(f"/#/session/{session['id']}")
    await expect(session_page.message_box).to_have_value("half a thought")
    await session_page.page.reload()
    await expect(session_page.message_box).to_have_value("half a thought")


async def test_a_draft_survives_when_another_tab_leaves_the_session(
    session_page: SessionPage, server: Serving, session: Any
) -> None:
    tab = await session_page.page.context.new_page()
    await sign_in(tab, server.token, f"/session/{session['id']}")
    other_tab = SessionPage(Pointer(tab))
    await expect(other_tab.message_box).to_have_value("")
    await session_page.message_box.fill("half a thought")
    await session_page.page.goto("/#/help")
    await tab.goto("/#/help")
    await session_page.page.goto(f"/#/session/{session['id']}")
    await expect(session_page.message_box).to_have_value("half a thought")
    await tab.goto(f"/#/session/{session['id']}")
    await session_page.message_box.fill("half a thought, longer")
    await expect(other_tab.message_box).to_have_value("half a thought, longer")
    await session_page.message_box.fill("/demo say sent")
    await session_page.press("Send")
    await expect(other_tab.answers.last).to_contain_text("sent")
    await expect(other_tab.message_box).to_have_value("")


async def test_a_second_submit_sends_nothing(
    session_page: SessionPage, client: Socket, session: Any
) -> None:
    await session_page.message_box.fill("/demo say once")
    await session_page.page.evaluate(
        "() => { const form = document.querySelector('.composer');"
        " form.requestSubmit(); form.requestSubmit(); form.requestSubmit(); }"
    )
    await expect(session_page.answers.last).to_contain_text("once")
    await session_page.wait_until_idle()
    assert await read_user_texts(client, session) == ["/demo say once"]


async def test_a_file_is_completed(session_page: SessionPage) -> None:
    await session_page.message_box.press_sequentially("read @orch")
    choice = session_page.page.get_by_role("option", name="@orchard.py")
    await expect(choice).to_be_visible()
    await session_page.user.press(choice)
    await expect(session_page.message_box).to_have_value("read @orchard.py ")
    await expect(session_page.message_box).to_be_focused()
    await expect(choice).to_have_count(0)


async def test_commands_are_completed_with_the_keyboard(session_page: SessionPage) -> None:
    await session_page.message_box.press_sequentially("/")
    options = session_page.page.locator(".completion li")
    await expect(options.filter(has_text="/rename")).to_be_visible()
    await expect(options.filter(has_text="/demo")).to_be_visible()
    await session_page.message_box.press_sequentially("ren")
    await session_page.message_box.press("ArrowDown")
    await session_page.message_box.press("ArrowUp")
    await session_page.message_box.press("Enter")
    await expect(session_page.message_box).to_have_value("/rename ")
    await session_page.message_box.fill("")
    await session_page.message_box.press_sequentially("/he")
    await expect(options.first).to_be_visible()
    await session_page.message_box.press("Escape")
    await expect(options.first).to_be_hidden()
    await expect(session_page.message_box).to_have_value("/he")


async def test_a_spinney_command_is_executed_and_not_sent(
    session_page: SessionPage, client: Socket, session: Any
) -> None:
    await session_page.message_box.fill("/mode")
    await session_page.press("Send")
    await session_page.expect_mode("build")
    await session_page.message_box.fill("/mode yolo")
    await session_page.press("Send")
    await expect(session_page.page.get_by_role("alert")).to_contain_text("takes no arguments")
    await expect(session_page.message_box).to_have_value("/mode yolo")
    assert await read_user_texts(client, session) == []
    await session_page.message_box.fill("/clear")
    await session_page.press("Send")
    await expect(session_page.page).not_to_have_url(re.compile(session["id"]))
    await session_page.expect_mode("build")


async def test_model_thinking_and_agent_are_chosen_below_the_message_box(
    session_page: SessionPage, client: Socket, session: Any
) -> None:
    def box(name: str) -> Any:
        return session_page.page.get_by_role("combobox", name=name, exact=True)

    chip = session_page.page.get_by_role("button", name="Session settings")
    await expect(session_page.mode).to_be_visible()
    has_sheet = await chip.is_visible()  # on a phone
    if has_sheet:
        await session_page.user.press(chip)
    await expect(box("Thinking")).to_be_visible()
    await session_page.user.choose(box("Thinking"), "off")
    await expect(box("Agent")).to_be_enabled()
    # Opening the list of models asks an installed program for its models.
    models = await client.call("list_models", backend="backend_a")
    offered = [model["name"] for model in models if model["is_offered"]]
    await session_page.user.choose(box("Agent"), "backend_a")
    await expect(box("Model").locator("option")).to_have_count(len(offered) + len(["Other…"]))
    await session_page.user.choose(box("Model"), offered[1])
    await expect(box("Model")).to_have_value(offered[1])
    await session_page.user.choose(box("Agent"), "demo")
    await expect(box("Agent")).to_have_value("demo")
    if has_sheet:
        await session_page.press("Done")
    await session_page.send("/demo say hello")
    await expect(session_page.answers.last).to_contain_text("hello")
    await session_page.wait_until_idle()
    if has_sheet:
        await session_page.user.press(chip)
    await box("Agent").select_option("backend_a")
    dialog = session_page.page.get_by_role("dialog", name="Change the agent?")
    await expect(dialog).to_contain_text("summary")
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(box("Agent")).to_have_value("demo")
    now = await client.call("get_session", sessionId=session["id"])
    assert (now["thinking_level"], now["backend"]) == ("off", "demo")


def attachments(session_page: SessionPage) -> Locator:
    """What is attached to the message that is being written."""
    return session_page.page.get_by_role("list", name="Attachments").get_by_role("listitem")


async def test_files_are_attached_by_their_paths(
    session_page: SessionPage, client: Socket, session: Any, worktree: Any
) -> None:
    (Path(worktree["path"]) / "plot.png").write_bytes(b"\x89PNG")
    for name in ("plot.png", "notes.txt"):
        await session_page.press("Attach")
        await session_page.press("By path on the machine that runs Spinney")
        await session_page.page.get_by_role("textbox", name="Path of the file").fill(name)
        await session_page.user.press(
            session_page.page.get_by_role("dialog").get_by_role("button", name="Attach")
        )
    await expect(attachments(session_page)).to_have_text(["plot.png", "notes.txt"])
    await session_page.page.reload()
    await expect(attachments(session_page)).to_have_text(["plot.png", "notes.txt"])
    await session_page.press("Remove notes.txt")
    await session_page.send("/demo say seen")
    await expect(session_page.page.locator('.message[data-role="user"]')).to_contain_text(
        "plot.png"
    )
    await expect(attachments(session_page)).to_have_count(0)


KEPT = """() => new Promise((resolve) => {
  indexedDB.open("spinney", 1).onsuccess = ({ target: { result: database } }) => {
    const request = database.transaction("attachments").objectStore("attachments").count();
    request.onsuccess = () => resolve(request.result);
  };
})"""
"""How many files the browser keeps that are not uploaded yet."""


async def wait_until_kept(page: Page, count: int) -> None:
    """Wait until the browser keeps this number of attached files, over a reload."""
    async with asyncio.timeout(PATIENCE):
        while await page.evaluate(KEPT) != count:
            await asyncio.sleep(0.05)


PASTE = """(box, [name, type, bytes]) => {
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File([Uint8Array.from(bytes)], name, { type }));
  const paste = { clipboardData, bubbles: true, cancelable: true };
  box.dispatchEvent(new ClipboardEvent("paste", paste));
}"""


async def test_images_and_files_are_attached_from_this_device(
    session_page: SessionPage, client: Socket, session: Any, page_errors: PageErrors
) -> None:
    encoded = BytesIO()
    Image.new("RGB", (8, 4), "green").save(encoded, "PNG")
    png = encoded.getvalue()
    await session_page.press("Attach")
    async with session_page.page.expect_file_chooser() as chosen:
        await session_page.press("Pictures")
    picture = {"name": "shot.png", "mimeType": "image/png", "buffer": png}
    await (await chosen.value).set_files([FilePayload(**picture)])
    await expect(attachments(session_page)).to_have_text(["shot.png"])
    await session_page.message_box.evaluate(PASTE, ["data.csv", "text/csv", list(b"a,b")])
    await expect(attachments(session_page)).to_have_text(["shot.png", "data.csv"])
    page_errors.allow("400")
    await session_page.message_box.evaluate(PASTE, ["cut.png", "image/png", list(png[:20])])
    error = session_page.page.get_by_role("alert").filter(has_text="Could not attach 'cut.png'.")
    await expect(error).to_be_visible()
    await session_page.message_box.fill("/demo say seen")
    await session_page.press("Send")
    await expect(session_page.page.locator("#toasts")).to_contain_text("or remove it")
    await expect(session_page.message_box).to_have_value("/demo say seen")
    await session_page.press("Remove cut.png")
    await expect(attachments(session_page).locator("progress")).to_have_count(0)
    await session_page.press("Send")
    await expect(session_page.answers.last).to_contain_text("seen")
    await session_page.wait_until_idle()
    sent = session_page.page.locator(".message[data-role='user']").last
    await expect(sent.get_by_role("img", name="Picture")).to_have_js_property("naturalWidth", 8)
    await expect(sent.locator(".file")).to_have_text("data.csv")
    page = await client.call("get_messages", sessionId=session["id"])
    [message, _] = page["messages"]
    [image] = [b["path"] for b in message["content"] if b["type"] == "image"]
    assert Image.open(image).size == (8, 4)
    assert [Path(path).read_bytes() for path in message["files"]] == [b"a,b"]


@pytest.mark.longer
async def test_a_rejected_message_returns_to_the_message_box(
    session_page: SessionPage, client: Socket, session: Any
) -> None:
    await client.call("archive_session", sessionId=session["id"])
    await expect(session_page.page.get_by_text("This session is archived.")).to_be_visible()
    await session_page.message_box.fill("/demo say too late")
    await session_page.press("Send")
    await expect(session_page.page.get_by_role("alert")).to_contain_text("archived")
    await expect(session_page.message_box).to_have_value("/demo say too late")
    await session_page.press("Restore")
    await session_page.send("/demo say too late")
    await expect(session_page.answers.last).to_contain_text("too late")


async def test_a_long_paste_is_sent_whole(
    session_page: SessionPage, client: Socket, session: Any
) -> None:
    long = "\n".join(f"line {number} of a long paste" for number in range(20_000))
    await session_page.message_box.evaluate(
        """(box, text) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", text);
          const paste = { clipboardData, bubbles: true, cancelable: true };
          box.dispatchEvent(new ClipboardEvent("paste", paste));
        }""",
        long,
    )
    await session_page.press("Send")
    await expect(session_page.answers).to_have_count(1)
    assert await read_user_texts(client, session) == [long]


async def test_the_message_box_fits_every_screen_width(open_page: OpenPage, session: Any) -> None:
    for width in (320, 390, 800, 2560):
        screen = Screen(width, 700, touch=width < 500)
        page = await open_page(f"/session/{session['id']}", screen=screen)
        await page.get_by_role("textbox", name="Message", exact=True).fill("x\n" * 40)
        assert await measure_width(page) <= width
        assert await page.get_by_role("button", name="Send").evaluate(
            "(e) => e.getBoundingClientRect().right <= innerWidth"
        )


async def measure_width(page: Page) -> int:
    return int(await page.evaluate("document.documentElement.scrollWidth"))


async def test_enter_accepts_a_completion_on_a_phone(open_page: OpenPage, session: Any) -> None:
    page = await open_page(f"/session/{session['id']}", screen=PHONE)
    session_page = SessionPage(Pointer(page, touch=True))
    await session_page.message_box.press_sequentially("see @READ")
    await expect(page.get_by_role("option", name="@README.md")).to_be_visible()
    await session_page.message_box.press("Enter")
    await expect(session_page.message_box).to_have_value("see @README.md ")


async def test_a_message_is_read_during_the_running_turn(
    session_page: SessionPage, client: Socket, session: Any
) -> None:
    page = session_page.page
    await client.call(
        "send_chat_message", sessionId=session["id"], message="/demo stream 40 20\n/demo say end"
    )
    await expect(session_page.answers.last).to_contain_text("1:")
    await session_page.message_box.fill("Use the short form, please")
    await session_page.press("Send now")
    await expect(page.locator(".queue")).to_contain_text("Sent; the agent has not read it yet")
    await expect(session_page.message_box).to_have_value("")
    await expect(page.get_by_text("Read during the turn")).to_be_visible()
    await session_page.wait_until_idle()
    await expect(session_page.answers.last).to_contain_text("end")
    found = await client.call("get_messages", sessionId=session["id"])
    assert [message["role"] for message in found["messages"]] == ["user", "assistant"] * 2


async def test_a_queued_message_is_sent_into_the_running_turn(
    session_page: SessionPage, client: Socket, session: Any
) -> None:
    page = session_page.page
    await client.call(
        "send_chat_message", sessionId=session["id"], message="/demo stream 40 20\n/demo say end"
    )
    await client.call("send_chat_message", sessionId=session["id"], message="be short")
    row = page.locator(".queue li")
    await expect(row).to_contain_text("Queued until this answer is complete")
    await session_page.user.press(row.get_by_role("button", name="Send now", exact=True))
    await expect(page.get_by_text("Read during the turn")).to_be_visible()
    await session_page.wait_until_idle()
