"""Actions about reading: finding words, the whole of a long output, panes by letter, the mouse."""

from model.api.sessions import get_tool_output
from model.domain.resources import ToolUseBlock
from tui.desk import Desk
from tui.screens.dialog import AskText


async def find(desk: Desk) -> None:
    """Ask for words, and go to the newest message that holds them."""
    transcript = desk.chat.transcript
    if transcript is None or desk.session is None:
        desk.say("Open a session first.")
        return
    sentence = "Words of this session; then n goes on to newer finds and N to older ones."
    dialog = AskText("Find", transcript.finder.text, sentence=sentence)
    text = await desk.ask(dialog)
    if text:
        transcript.focus()
        transcript.seek(text)
        await find_previous(desk)


async def find_next(desk: Desk) -> None:
    """The next find, towards the newest message."""
    transcript = desk.chat.transcript
    if transcript is not None and not transcript.find(1):
        desk.say(f"Nothing newer holds “{transcript.finder.text}”.")


async def find_previous(desk: Desk) -> None:
    """The find before, towards the oldest; older pages are read for it."""
    transcript = desk.chat.transcript
    if transcript is None or transcript.window is None:
        return
    history, text = transcript.window.rows.history, transcript.finder.text
    while not transcript.find(-1):
        loaded = len(history.messages)
        if history.older and transcript.finder.text == text:
            desk.chat.status.heard(f"looking through {history.older} older messages …")
            await desk.conversation.read_older()
        if transcript.window.rows.history is not history or transcript.finder.text != text:
            return  # Somebody looks elsewhere, or for something else, by now.
        if len(history.messages) == loaded:
            desk.say(f"Nothing older holds “{text}”.")
            return


async def whole_output(desk: Desk) -> None:
    """All that the tool under the cursor gave back."""
    from tui.screens.tool_output import PAGE_SIZE, Output, Page

    session, transcript = desk.session, desk.chat.transcript
    found = transcript.cursor.found(transcript.window) if transcript is not None else None
    block = found[1].block if found is not None else None
    if session is None or not isinstance(block, ToolUseBlock):
        desk.say("Put the cursor on a tool first: ctrl+up, then v.")
        return
    session_id, tool_use_id = session.id, block.id

    async def read(offset: int) -> Page:
        page = await desk.client.call(
            get_tool_output,
            session_id=session_id,
            tool_use_id=tool_use_id,
            offset=offset,
            limit=PAGE_SIZE,
        )
        return Page(page.content, page.next_offset, page.size)

    title = f"What {block.name} gave back"
    await desk.ask(Output(title, lambda: desk.palette, read))


async def jump(desk: Desk) -> None:
    """A letter on each pane; it takes the keys there."""
    from tui.screens.jump import Jump, panes_of

    panes = panes_of(desk)
    chosen = await desk.ask(Jump({k: p.region for k, p in panes.items()}))
    if chosen in panes:
        panes[chosen].focus()


async def mouse(desk: Desk) -> None:
    """Leave the mouse to the terminal, whose own selection works then; or take it back."""
    is_free = desk.host.toggle_mouse()
    desk.say(
        f"The mouse is the terminal's: it selects and copies by itself. "
        f"{desk.key_of('mouse')} takes it back."
        if is_free
        else "The mouse works in Spinney again."
    )
