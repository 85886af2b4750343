"""Actions for reading: find, the full output of a tool, jumping to panes, the mouse."""

from model.api.sessions import get_tool_output
from model.domain.messages import ToolUseBlock
from tui.desk import Desk
from tui.screens.dialog import AskText


async def find(desk: Desk) -> None:
    """Ask for a text, and go to the newest message that contains it."""
    transcript = desk.chat.transcript
    if transcript is None or desk.session is None:
        desk.say("Open a session first.")
        return
    sentence = "Searches this session. n goes to the next newer match, N to the next older one."
    dialog = AskText("Find", transcript.finder.query, sentence=sentence)
    text = await desk.ask(dialog)
    if text:
        transcript.focus()
        transcript.set_query(text)
        await find_previous(desk)


async def find_next(desk: Desk) -> None:
    """Go to the next newer match."""
    transcript = desk.chat.transcript
    if transcript is not None and not transcript.find(1):
        desk.say(f"No newer match for '{transcript.finder.query}'.")


async def find_previous(desk: Desk) -> None:
    """Go to the next older match, reading older pages as needed."""
    transcript = desk.chat.transcript
    if transcript is None or transcript.viewport is None:
        return
    history, text = transcript.viewport.rows.history, transcript.finder.query
    while not transcript.find(-1):
        loaded = len(history.messages)
        if history.older_count and transcript.finder.query == text:
            desk.chat.status.note_output(f"searching {history.older_count} older messages …")
            await desk.conversation.read_older()
        if transcript.viewport.rows.history is not history or transcript.finder.query != text:
            return  # The user switched sessions or started another search meanwhile.
        if len(history.messages) == loaded:
            desk.say(f"No older match for '{text}'.")
            return


async def whole_output(desk: Desk) -> None:
    """Show the full output of the tool under the cursor."""
    from tui.screens.tool_output import PAGE_SIZE, Output, Page

    session, transcript = desk.session, desk.chat.transcript
    found = transcript.cursor.find_part(transcript.viewport) if transcript is not None else None
    block = found[1].block if found is not None else None
    if session is None or not isinstance(block, ToolUseBlock):
        desk.say("Move the cursor to a tool first: ctrl+up, then v.")
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

    title = f"Output of {block.name}"
    await desk.ask(Output(title, lambda: desk.palette, read))


async def jump(desk: Desk) -> None:
    """Show a letter on each pane, and focus the one that is typed."""
    from tui.screens.jump import Jump, panes_of

    panes = panes_of(desk)
    chosen = await desk.ask(Jump({k: p.region for k, p in panes.items()}))
    if chosen in panes:
        panes[chosen].focus()


async def mouse(desk: Desk) -> None:
    """Release the mouse to the terminal, whose own text selection then works, or capture it."""
    is_released = desk.host.toggle_mouse()
    desk.say(
        f"Mouse released: select and copy text with the terminal. "
        f"{desk.key_of('mouse')} captures it again."
        if is_released
        else "Mouse captured."
    )
