"""Actions about what is being written, and what was written and waits."""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from model.api import sessions as commands
from model.base.errors import SpinneyError
from model.base.text import make_visible
from model.domain.resources import ImageBlock
from tui.composer.draft import Draft
from tui.desk import Desk
from tui.terminal.external_programs import in_terminal
from tui.terminal.open_commands import at_line, text_editor

if TYPE_CHECKING:
    from model.domain.resources import Message

_LARGEST = 8_000_000
"""Bytes that are read back from an editor."""


async def take_back(desk: Desk) -> None:
    """Take the newest waiting message out of the queue, back into the message box."""
    waiting = desk.state.queued.get(desk.chat.session_id or "", ())
    await _edit(desk, waiting[-1] if waiting else None)


async def send_queued(desk: Desk) -> None:
    """Send what waits after a stop, or after a failure."""
    if desk.session is not None and desk.chat.queue.is_stopped:
        await desk.client.call(commands.send_queued_messages, session_id=desk.session.id)
    else:
        desk.say("No message waits here for a run that is over.")


async def edit_queued(desk: Desk) -> None:
    """The same with the message that is marked."""
    await _edit(desk, desk.chat.queue.chosen)


async def remove_queued(desk: Desk) -> None:
    """Take a waiting message out of the queue. Earlier messages of the box have it still."""
    message = desk.chat.queue.chosen
    if message is None:
        desk.say("No message waits here.")
    else:
        await _take_out(desk, message)


async def _edit(desk: Desk, message: "Message | None") -> None:
    if message is None:
        desk.say("No message waits here.")
        return
    await _take_out(desk, message)
    images = [block.path for block in message.content if isinstance(block, ImageBlock)]
    desk.chat.give_back(message.session_id, message.text, images)
    desk.focus_chat()


async def _take_out(desk: Desk, message: "Message") -> None:
    # It may have been written elsewhere, and then no other place here has it.
    desk.chat.remember(message.text)
    await desk.client.call(
        commands.remove_queued_message, session_id=message.session_id, message_id=message.id
    )


async def external_editor(desk: Desk) -> None:
    """Write the message in an editor; what it saves comes back into the box."""
    if not desk.chat.key:
        desk.say("Open a session first.")
        return
    box, key = desk.chat.composer, desk.chat.key
    draft = box.draft
    command = text_editor(os.environ)
    path = await asyncio.to_thread(_written, draft.whole())
    try:
        last = draft.text.count("\n") + 1 if not draft.pastes else 0
        words = (*command, *at_line(command[0], path, last))
        code = await in_terminal(desk.app, words, path.parent, os.environ)
        text = await asyncio.to_thread(_read, path)
    except SpinneyError:
        await asyncio.to_thread(_remove, path)
        raise
    if code:
        # What was saved may be half of a message: it is kept beside the one in the box.
        raise SpinneyError(
            f"{command[0]} ended with exit code {code}, so the message stays as it was. "
            f"What the editor saved is in {path}."
        )
    await asyncio.to_thread(_remove, path)
    if desk.chat.key == key and text != draft.whole():
        box.rewrite(Draft.of(text).with_images(draft))
    desk.focus_chat()


def _written(text: str) -> Path:
    """A file of this user's own, in a folder where the editor's other files are private, too."""
    path = Path(tempfile.mkdtemp(prefix="spinney-")) / "message.md"
    path.write_text(text, encoding="utf-8")
    return path


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SpinneyError(
            f"What the editor saved could not be read: {reason}. The message stays as it was."
        ) from error
    if len(data) > _LARGEST:
        raise SpinneyError(f"What the editor saved is longer than any message may be: {path}.")
    # Editors end the last line; the message box does not.
    return make_visible(data.decode(errors="replace")).removesuffix("\n")


def _remove(path: Path) -> None:
    for left in path.parent.iterdir():
        left.unlink(missing_ok=True)
    path.parent.rmdir()
