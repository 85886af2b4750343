"""The demo agent's one tool besides writing: a shell command, its output, and its end.

Standard library only; a part of the demo agent's program.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final

OUTPUT_LIMIT: Final = 64 * 1024
"""Bytes of output that are kept: the last ones."""

PRINTED_LIMIT: Final = 4 * 1024
"""Bytes of output that are told while the command runs: the last ones."""

_GRACE: Final = 0.1
"""Seconds to read on after the command's end, for what it left in the background."""


class Shell:
    """Runs one command at a time in the working directory."""

    def __init__(self) -> None:
        self._starting: asyncio.Task[asyncio.subprocess.Process] | None = None
        """The start of the last command, which runs if that is done."""

    async def run(self, command: str, prints: Callable[[str], None]) -> tuple[int, str]:
        """The exit code and the output of `sh -c command`, errors among it.

        `prints` hears the end of the output while the command runs.
        """
        starting = self._starting = asyncio.create_task(_started(command))
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # It may run already, and what it starts with it: it must not get out of sight.
            self.kill()
            raise
        output = bytearray()
        told = b""
        reading = asyncio.create_task(_read(process, output))
        try:
            # A background child may hold the pipe for ever; the command's own end is what counts.
            while process.returncode is None and not reading.done():
                await asyncio.wait({reading}, timeout=0.02)
                if (printed := bytes(output[-PRINTED_LIMIT:])) != told and not reading.done():
                    told = printed
                    prints(printed.decode(errors="replace"))
            await asyncio.wait({reading}, timeout=_GRACE)
            code = await process.wait() if process.returncode is None else process.returncode
        finally:
            reading.cancel()
        return code, output.decode(errors="replace")

    def kill(self) -> None:
        """End the command that runs or is about to, and its process group."""
        if self._starting is not None:
            self._starting.add_done_callback(_end_started)

    async def end(self) -> None:
        """Kill it, and return when that is done."""
        if self._starting is not None:
            await asyncio.wait({self._starting})
            _end_started(self._starting)


async def _started(command: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        "sh",
        "-c",
        command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )


def _end_started(starting: asyncio.Task[asyncio.subprocess.Process]) -> None:
    if not starting.cancelled() and starting.exception() is None:
        _end(starting.result())


def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


async def _read(process: asyncio.subprocess.Process, output: bytearray) -> None:
    assert process.stdout is not None
    while piece := await process.stdout.read(16 * 1024):
        output += piece
        del output[:-OUTPUT_LIMIT]
