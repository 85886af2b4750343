"""A program of the user's that is run for each notice, with the notice as JSON on stdin."""

import asyncio
import json
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from model.backends.process import build_agent_environment
from model.base.text import clean_line
from model.domain.notices import NoticeChannel
from model.notices.links import Links
from model.notices.outgoing import DeliveryError, Outgoing
from model.preferences.schema import Preferences

TIMEOUT: Final = 20.0
"""Seconds after which the program is killed, with all that it started."""

_MAX_OUTPUT: Final = 16 * 1024
"""Bytes of output that are kept for the message about a failure; the rest is dropped."""

_PIPE_READS: Final = 64
"""Reads that empty a pipe: Linux keeps 64 KB by default, at most 1 MB."""

_MAX_SHOWN: Final = 200


class CommandChannel:
    """Runs `notify_command`, an argument list; no shell takes part.

    Args:
        links: Makes the address in the JSON.
        environment: Variables that it gets besides the user's.
        timeout: Seconds that it may run.
    """

    name: NoticeChannel = "command"

    def __init__(
        self, links: Links, environment: Mapping[str, str], timeout: float = TIMEOUT
    ) -> None:
        self._links = links
        self._environment = environment
        self._timeout = timeout

    def is_ready(self, preferences: Preferences) -> bool:
        """Whether there is a command."""
        return bool(preferences.notify_command)

    async def send(self, message: Outgoing, preferences: Preferences) -> str:
        """Run the command. A failed one is tried again, one that hangs is not."""
        words = preferences.notify_command
        # Not asyncio's own pipe: with that, `wait` waits for all that holds the other end.
        read_end, write_end = os.pipe()
        try:
            process = await self._start(words, write_end)
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        output = ""
        try:
            async with _OutputEnd(read_end) as kept:
                await self._talk(process, self._describe(message))
            output = kept.read()
        except TimeoutError:
            raise DeliveryError(
                f"'{clean_line(words[0])}' was stopped after {self._timeout:g} seconds", retry=False
            ) from None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await asyncio.shield(process.wait())
        if process.returncode:
            ending = clean_line(output.strip().rpartition("\n")[2])[:_MAX_SHOWN]
            said = f": {ending}" if ending else ""
            raise DeliveryError(
                f"'{clean_line(words[0])}' ended with exit status {process.returncode}{said}"
            )
        return clean_line(words[0])

    async def withdraw(self, key: str, preferences: Preferences) -> None:
        """Do nothing: a program cannot take back what it did."""

    async def _start(self, words: list[str], output: int) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *words,
                env=build_agent_environment(self._environment),
                stdin=asyncio.subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise DeliveryError(
                f"'{clean_line(words[0])}' could not be started: {reason}. Change the command in "
                "the preferences",
                retry=False,
            ) from error

    def _describe(self, message: Outgoing) -> bytes:
        notice = message.notice
        body = {
            "title": message.title,
            "text": message.text,
            "reason": message.reason or "summary",
            "is_reminder": message.is_reminder,
            "session_id": message.session_id,
            "worktree_id": notice.worktree_id if notice else None,
            "request_id": notice.request_id if notice else None,
            "notice_ids": [each.id for each in message.notices],
            "url": self._links.page(message) or None,
        }
        return json.dumps(body, ensure_ascii=False).encode() + b"\n"

    async def _talk(self, process: asyncio.subprocess.Process, given: bytes) -> None:
        """Write the JSON and wait until the program ends. Raises `TimeoutError`."""
        assert process.stdin is not None
        async with asyncio.timeout(self._timeout):
            # A program that ends without reading has its reasons.
            with suppress(ConnectionError):
                process.stdin.write(given)
                await process.stdin.drain()
            process.stdin.close()
            await process.wait()


class _OutputEnd(asyncio.Protocol):
    """Reads a pipe and keeps the end of what comes."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "rb", buffering=0)
        self._kept = bytearray()
        self._transport: asyncio.ReadTransport | None = None

    async def __aenter__(self) -> "_OutputEnd":
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.connect_read_pipe(lambda: self, self._file)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._transport is not None
        if self._file.closed:
            return  # All that was written was read.
        # What the program wrote last is in the pipe; what it left behind may go on writing.
        self._transport.pause_reading()
        for _round in range(_PIPE_READS):
            try:
                data = os.read(self._file.fileno(), _MAX_OUTPUT)
            except BlockingIOError:
                break
            if not data:
                break
            self.data_received(data)
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Keep the end."""
        self._kept += data
        del self._kept[:-_MAX_OUTPUT]

    def read(self) -> str:
        """Return what was kept."""
        return self._kept.decode(errors="replace")
