"""Messages sent into Claude Code's running turn, until the program reads them.

While a tool runs, the program reads such a message with the tool's result. While it writes its last
text, it reads it after the turn's `result` line, in a turn of its own that begins at once: to the
engine both are one turn (2.1.330). `command_lifecycle` lines say when; older versions have none.
"""

import asyncio
from contextlib import suppress
from typing import Final

from model.backends.claude.control import ControlChannel
from model.backends.json_values import Json
from model.base.errors import SpinneyError

_START_TIMEOUT: Final = 10.0
"""Seconds in which the program begins with a message that it no longer gives back."""


class UnreadMessages:
    """The ids of messages that the program has been given and has not begun to read."""

    def __init__(self, control: ControlChannel) -> None:
        self._control = control
        self.is_supported = False
        """Whether the program has said what becomes of a message."""
        self._ids: list[str] = []
        self._lock = asyncio.Lock()
        """Held while messages are withdrawn: of one that is asked for twice, the program says the
        second time that it cannot be withdrawn."""
        self._changed = asyncio.Event()

    def __bool__(self) -> bool:
        return bool(self._ids)

    def add(self, message_id: str) -> None:
        """Add a message that is about to be sent."""
        self._ids.append(message_id)

    def discard(self, message_id: str) -> None:
        """Remove a message that was read, withdrawn or not sent."""
        if message_id in self._ids:
            self._ids.remove(message_id)
            self._changed.set()

    def find_read(self, line: Json) -> list[str]:
        """Return and remove the messages that the program reads from this line on."""
        read: list[str] = []
        if line.get("type") == "command_lifecycle":
            self.is_supported = True
            message_id, state = str(line.get("command_uuid")), line.get("state")
            if message_id in self._ids and state in ("started", "completed"):
                read = [message_id]
            elif state == "cancelled":
                self.discard(message_id)
        elif line.get("type") == "result":
            answered = line.get("user_message_uuids")
            answered = answered if isinstance(answered, list) else []
            read = [message_id for message_id in self._ids if message_id in answered]
        for message_id in read:
            self.discard(message_id)
        return read

    async def withdraw(self, message_id: str) -> bool:
        """Withdraw a message; return `False` if the program reads it already."""
        async with self._lock:
            return message_id in self._ids and await self._cancel(message_id)

    async def withdraw_all(self) -> None:
        """Withdraw all messages, and wait until the program has begun with those that it keeps."""
        async with self._lock:
            for message_id in list(self._ids):
                with suppress(SpinneyError):
                    await self._cancel(message_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(_START_TIMEOUT):
                while self._ids:
                    self._changed.clear()
                    await self._changed.wait()
        self._ids.clear()

    async def _cancel(self, message_id: str) -> bool:
        response = await self._control.request("cancel_async_message", message_uuid=message_id)
        is_cancelled = bool(response.get("cancelled"))
        if is_cancelled:
            self.discard(message_id)
        return is_cancelled
