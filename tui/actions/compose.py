"""Actions on the message box and on queued messages."""

import asyncio
import os
import tempfile
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING

from model.api import sessions as commands
from model.base.errors import SpinneyError
from model.base.text import make_visible
from model.domain.messages import ImageBlock
from tui.composer.draft import Draft
from tui.composer.slash_commands import escape_text
from tui.desk import Desk
from tui.screens.earlier_messages import EarlierMessages
from tui.terminal.clipboard_image import read_clipboard_image
from tui.terminal.external_programs import run_in_terminal
from tui.terminal.open_commands import find_text_editor, line_arguments

if TYPE_CHECKING:
    from model.domain.messages import Message

_MAX_BYTES = 8_000_000
"""Most bytes that are read back from an editor."""


async def take_back(desk: Desk) -> None:
    """Move the newest queued message back into the message box."""
    waiting = desk.state.queued.get(desk.chat.session_id or "", ())
    await _edit(desk, waiting[-1] if waiting else None)


async def send_queued(desk: Desk) -> None:
    """Send the messages that are still queued after a stop or a failure."""
    if desk.session is not None and desk.chat.queue.is_stopped:
        await desk.client.call(commands.send_queued_messages, session_id=desk.session.id)
    else:
        desk.say("There are no queued messages to send.")


async def send_now(desk: Desk) -> None:
    """Send the message in the box, or a queued one, so that it is read during the running turn."""
    chat = desk.chat
    queue, box = chat.queue, chat.composer
    if not queue.has_focus and (box.text.strip() or box.draft.image_paths()):
        box.submit(steers=True)
        return
    message = queue.message_to_steer
    if message is None or message.steered:
        desk.say("Write a message first, or queue one.")
    elif queue.is_stopped:
        desk.say("No turn is running. Enter sends the queued messages.")
    else:
        await desk.client.call(
            commands.steer_queued_message, session_id=message.session_id, message_id=message.id
        )


async def send_to_turn(desk: Desk, text: str) -> None:
    """Send a text so that it is read during the running turn."""
    if desk.session is None:
        desk.say("Open a session first.")
        return
    await desk.client.call(
        commands.send_chat_message, session_id=desk.session.id, message=text, steer=True
    )


async def edit_queued(desk: Desk) -> None:
    """Move the selected queued message back into the message box."""
    await _edit(desk, desk.chat.queue.selected_message)


async def remove_queued(desk: Desk) -> None:
    """Remove the selected message from the queue; it stays in the message box's history."""
    message = desk.chat.queue.selected_message
    if message is None:
        desk.say("There are no queued messages.")
    else:
        await _dequeue(desk, message)


async def search_history(desk: Desk) -> None:
    """Choose one of the earlier messages of the project, and put it into the message box."""
    chat = desk.chat
    if not chat.key:
        desk.say("Open a session first.")
        return
    key, messages = chat.key, chat.composer.earlier_messages
    if not messages:
        desk.say("You have written no messages in this project yet.")
        return
    chosen = await desk.ask(EarlierMessages(messages))
    if chosen is not None and chat.key == key:
        chat.composer.recall(chosen.value)
    desk.focus_chat()


async def paste_image(desk: Desk) -> None:
    """Attach the image in the clipboard; without one, paste the text that was copied here."""
    chat, session = desk.chat, desk.session
    if not chat.key:
        desk.say("Open a session first.")
        return
    key, image = chat.key, await read_clipboard_image(os.environ)
    if image is None:
        if desk.app.clipboard:
            chat.composer.insert_paste(desk.app.clipboard)
        else:
            desk.say("The clipboard has no image. Paste text with your terminal's own key.")
        return
    if session is None:
        desk.say("Send a first message without it: images are kept with a session.")
        return
    added = await desk.client.call(
        commands.add_image, session_id=session.id, data=b64encode(image).decode()
    )
    if chat.key == key:
        chat.composer.attach_image(added.path)


async def _edit(desk: Desk, message: "Message | None") -> None:
    if message is None:
        desk.say("There are no queued messages.")
        return
    await _dequeue(desk, message)
    images = [block.path for block in message.content if isinstance(block, ImageBlock)]
    desk.chat.return_message(message.session_id, escape_text(message.text), images)
    desk.focus_chat()


async def _dequeue(desk: Desk, message: "Message") -> None:
    # A message written on another client is not in this message box's history yet.
    desk.chat.remember(escape_text(message.text))
    await desk.client.call(
        commands.remove_queued_message, session_id=message.session_id, message_id=message.id
    )


async def external_editor(desk: Desk) -> None:
    """Edit the message in an external editor, and read back what it saves."""
    if not desk.chat.key:
        desk.say("Open a session first.")
        return
    box, key = desk.chat.composer, desk.chat.key
    draft = box.draft
    command = find_text_editor(os.environ)
    path = await asyncio.to_thread(_write_draft, draft.expanded_text())
    try:
        last = draft.text.count("\n") + 1 if not draft.pastes else 0
        arguments = (*command, *line_arguments(command[0], path, last))
        code = await run_in_terminal(desk.app, arguments, path.parent, os.environ)
        text = await asyncio.to_thread(_read, path)
    except SpinneyError:
        await asyncio.to_thread(_remove, path)
        raise
    if code:
        # The file may be incomplete: keep it, and leave the message box alone.
        raise SpinneyError(
            f"{command[0]} failed with exit code {code}, so the message is unchanged. "
            f"The file it saved is {path}."
        )
    await asyncio.to_thread(_remove, path)
    if desk.chat.key == key and text != draft.expanded_text():
        box.replace_draft(Draft.from_text(text).with_images(draft))
    desk.focus_chat()


def _write_draft(text: str) -> Path:
    """Write the draft to a file in a private folder, which also protects the editor's own files."""
    path = Path(tempfile.mkdtemp(prefix="spinney-")) / "message.md"
    path.write_text(text, encoding="utf-8")
    return path


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SpinneyError(
            f"Could not read the file that the editor saved: {reason}. The message is unchanged."
        ) from error
    if len(data) > _MAX_BYTES:
        raise SpinneyError(f"The file that the editor saved is too long for a message: {path}.")
    # Editors add a newline at the end of the file; the message box has none.
    return make_visible(data.decode(errors="replace")).removesuffix("\n")


def _remove(path: Path) -> None:
    for file in path.parent.iterdir():
        file.unlink(missing_ok=True)
    path.parent.rmdir()
