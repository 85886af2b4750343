"""Actions about reading: finding words, the whole of a long output, panes by letter, the mouse."""

from typing import TYPE_CHECKING

from model.commands.sessions import get_tool_output
from model.domain.resources import ToolUseBlock
from tui.screens.dialog import AskText

if TYPE_CHECKING:
    from tui.shell.main_screen import MainScreen

_MOUSE = "\x1b[?1000{0}\x1b[?1003{0}\x1b[?1015{0}\x1b[?1006{0}"
"""Switches the mouse's reports on (`h`) or off (`l`)."""


async def find(screen: "MainScreen") -> None:
    """Ask for words, and go to the newest message that holds them."""
    transcript = screen.chat.transcript
    if transcript is None or screen.session is None:
        screen.say("Open a session first.")
        return
    sentence = "Words of this session; then n goes on to newer finds and N to older ones."
    dialog = AskText("Find", transcript.finder.text, sentence=sentence)
    text = await screen.app.push_screen_wait(dialog)
    if text:
        transcript.focus()
        transcript.seek(text)
        await find_previous(screen)


async def find_next(screen: "MainScreen") -> None:
    """The next find, towards the newest message."""
    transcript = screen.chat.transcript
    if transcript is not None and not transcript.find(1):
        screen.say(f"Nothing newer holds “{transcript.finder.text}”.")


async def find_previous(screen: "MainScreen") -> None:
    """The find before, towards the oldest; older pages are read for it."""
    transcript = screen.chat.transcript
    if transcript is None or transcript.window is None or screen.link is None:
        return
    history, text = transcript.window.rows.history, transcript.finder.text
    while not transcript.find(-1):
        loaded = len(history.messages)
        if history.older and transcript.finder.text == text:
            screen.chat.status.heard(f"looking through {history.older} older messages …")
            await screen.link.older()
        if transcript.window.rows.history is not history or transcript.finder.text != text:
            return  # Somebody looks elsewhere, or for something else, by now.
        if len(history.messages) == loaded:
            screen.say(f"Nothing older holds “{text}”.")
            return


async def whole_output(screen: "MainScreen") -> None:
    """All that the tool under the cursor gave back."""
    from tui.screens.tool_output import PAGE_SIZE, Output, Page

    session, transcript = screen.session, screen.chat.transcript
    found = transcript.cursor.found(transcript.window) if transcript is not None else None
    block = found[1].block if found is not None else None
    if session is None or screen.link is None or not isinstance(block, ToolUseBlock):
        screen.say("Put the cursor on a tool first: ctrl+up, then v.")
        return
    session_id, tool_use_id = session.id, block.id

    async def read(offset: int) -> Page:
        page = await screen.client.call(
            get_tool_output,
            session_id=session_id,
            tool_use_id=tool_use_id,
            offset=offset,
            limit=PAGE_SIZE,
        )
        return Page(page.content, page.next_offset, page.size)

    title = f"What {block.name} gave back"
    link = screen.link
    await screen.app.push_screen_wait(Output(title, lambda: link.palette, read))


async def jump(screen: "MainScreen") -> None:
    """A letter on each pane; it takes the keys there."""
    from tui.screens.jump import Jump, panes_of

    panes = panes_of(screen)
    chosen = await screen.app.push_screen_wait(Jump({k: p.region for k, p in panes.items()}))
    if chosen in panes:
        panes[chosen].focus()


async def mouse(screen: "MainScreen") -> None:
    """Leave the mouse to the terminal, whose own selection works then; or take it back."""
    screen.toggle_class("mouse-free")
    is_free = screen.has_class("mouse-free")
    driver = screen.app._driver
    if driver is not None:
        driver.write(_MOUSE.format("l" if is_free else "h"))
        driver.flush()
    screen.say(
        f"The mouse is the terminal's: it selects and copies by itself. "
        f"{screen.key_of('mouse')} takes it back."
        if is_free
        else "The mouse works in Spinney again."
    )
