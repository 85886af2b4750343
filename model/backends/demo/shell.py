"""The demo agent's shell tool: runs a command and streams its output.

Standard library only; part of the demo agent's program.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final

OUTPUT_LIMIT: Final = 64 * 1024
"""Bytes of output that are kept, from the end."""

PROGRESS_LIMIT: Final = 4 * 1024
"""Bytes of output that are reported while the command runs, from the end."""

_GRACE: Final = 0.1
"""Seconds to continue reading after the command's end, for its background processes."""


class Shell:
    """Runs one command at a time in the working directory."""

    def __init__(self) -> None:
        self._starting: asyncio.Task[asyncio.subprocess.Process] | None = None
        """The start of the last command; once it is done, the command is running."""

    async def run(self, command: str, on_output: Callable[[str], None]) -> tuple[int, str]:
        """Run `sh -c command`; return its exit code and its output, including stderr.

        `on_output` is called with the end of the output while the command runs.
        """
        starting = self._starting = asyncio.create_task(_start(command))
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # It may be running already with children: the process group must not be lost.
            self.kill()
            raise
        output = bytearray()
        reported = b""
        reading = asyncio.create_task(_read(process, output))
        try:
            # A background child may keep the pipe open forever; the command's own exit counts.
            while process.returncode is None and not reading.done():
                await asyncio.wait({reading}, timeout=0.02)
                tail = bytes(output[-PROGRESS_LIMIT:])
                if tail != reported and not reading.done():
                    reported = tail
                    on_output(tail.decode(errors="replace"))
            await asyncio.wait({reading}, timeout=_GRACE)
            code = await process.wait() if process.returncode is None else process.returncode
        finally:
            reading.cancel()
        return code, output.decode(errors="replace")

    def kill(self) -> None:
        """Kill the command that is running or starting, and its process group."""
        if self._starting is not None:
            self._starting.add_done_callback(_kill_started)

    async def end(self) -> None:
        """Kill the command, waiting for its start first."""
        if self._starting is not None:
            await asyncio.wait({self._starting})
            _kill_started(self._starting)


async def _start(command: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        "sh",
        "-c",
        command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )


def _kill_started(starting: asyncio.Task[asyncio.subprocess.Process]) -> None:
    if not starting.cancelled() and starting.exception() is None:
        _kill_group(starting.result())


def _kill_group(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


async def _read(process: asyncio.subprocess.Process, output: bytearray) -> None:
    assert process.stdout is not None
    while piece := await process.stdout.read(16 * 1024):
        output += piece
        del output[:-OUTPUT_LIMIT]
