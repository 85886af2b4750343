"""Run the command-line program of a hosting service: `gh`, `glab`.

It runs without a terminal and without prompts, in a process group of its own that is terminated
after a time limit. Of its output a bounded part is kept.
"""

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.inherited import NOT_INHERITED
from model.base.text import make_output_visible
from model.git.error_messages import without_credentials

TIMEOUT: Final = 60.0
"""Seconds; even a slow network responds within a few."""
MAX_BYTES: Final = 4_000_000
"""Bytes of output. Lists and comments may be longer: callers then request fewer fields."""

_CHUNK: Final = 1 << 16
_GRACE_SECONDS: Final = 1.0

_ENVIRONMENT: Final = {
    "NO_COLOR": "1",
    "CLICOLOR_FORCE": "0",
    "PAGER": "cat",
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    # Git commands run by the program must not execute programs named by a repository's
    # configuration.
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "protocol.ext.allow",
    "GIT_CONFIG_VALUE_1": "never",
    "GIT_CONFIG_KEY_2": "protocol.fd.allow",
    "GIT_CONFIG_VALUE_2": "never",
}


@dataclass(frozen=True, slots=True)
class Output:
    """What a program wrote, as visible text."""

    out: str
    """May be JSON, so nothing is removed from it."""
    err: str
    """Without credentials."""
    code: int
    """The exit code."""
    is_cut: bool = False
    """Whether `out` is only the beginning of the standard output."""


@dataclass(frozen=True, slots=True)
class HostingProgram:
    """The program of a hosting service.

    Args:
        name: Its name in `PATH`.
        website: Where people get it.
        sign_in: The command that signs in.
        environment: Variables to set in addition to those that hold for all programs.
        removed: Variables that it must not inherit.
    """

    name: str
    website: str
    sign_in: str
    environment: Mapping[str, str]
    removed: frozenset[str] = frozenset()

    async def run(
        self,
        cwd: Path,
        args: tuple[str, ...],
        stdin: str = "",
        *,
        limit: int = MAX_BYTES,
        timeout: float = TIMEOUT,
        take: Callable[[bytes], None] | None = None,
    ) -> Output:
        """Run it in `cwd` and return its output, of which the first `limit` bytes are kept.

        With `take`, each piece of the standard output is passed to it in a worker thread, one after
        the other, and none is kept.

        Raises:
            SpinneyError: It is not installed, cannot be started, or takes longer than `timeout`
                seconds. A failure of its own is in the exit code.
        """
        program = await asyncio.to_thread(shutil.which, self.name)
        if program is None:
            raise SpinneyError(
                f"The program '{self.name}' is not installed. Install it ({self.website}), run "
                f"'{self.sign_in}', then try again.",
                "backend_unavailable",
            )
        process = await self._start(program, cwd, args)
        assert process.stdin is not None and process.stdout is not None
        assert process.stderr is not None
        out, err = _Kept(limit, take), _Kept(limit)
        try:
            async with asyncio.timeout(timeout):
                await asyncio.gather(
                    _write(process.stdin, stdin.encode("utf-8", "replace")),
                    out.read(process.stdout),
                    err.read(process.stderr),
                )
                await process.wait()
        except TimeoutError:
            raise SpinneyError(
                f"{self.name} took longer than {timeout:g} seconds and was stopped. Check the "
                "network connection, then try again.",
                "timeout",
            ) from None
        finally:
            await _terminate(process)
        assert process.returncode is not None
        shown, error = await asyncio.to_thread(lambda: (out.text, without_credentials(err.text)))
        return Output(shown, error, process.returncode, out.is_cut)

    async def _start(
        self, program: str, cwd: Path, args: tuple[str, ...]
    ) -> asyncio.subprocess.Process:
        removed = self.removed | NOT_INHERITED
        inherited = {name: value for name, value in os.environ.items() if name not in removed}
        try:
            return await asyncio.create_subprocess_exec(
                program, *args, cwd=cwd, env={**inherited, **_ENVIRONMENT, **self.environment},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise SpinneyError(
                f"{self.name} could not be started: {error}", "backend_unavailable"
            ) from None


class _Kept:
    """The beginning of what a stream carries; the stream is always read to its end."""

    def __init__(self, limit: int, take: Callable[[bytes], None] | None = None) -> None:
        self._take = take
        self._room = limit
        self._pieces: list[bytes] = []
        self.is_cut = False

    async def read(self, stream: asyncio.StreamReader) -> None:
        while piece := await stream.read(_CHUNK):
            if self._take is not None:
                await asyncio.to_thread(self._take, piece)
                continue
            kept = piece[: self._room]
            self._pieces.append(kept)
            self._room -= len(kept)
            self.is_cut = self.is_cut or len(kept) < len(piece)

    @property
    def text(self) -> str:
        raw = b"".join(self._pieces)
        # Headers end with both; marking 4 MB because of them took six seconds.
        return make_output_visible(raw.decode("utf-8", "replace").replace("\r\n", "\n"))


async def _write(stream: asyncio.StreamWriter, text: bytes) -> None:
    # A program may end without reading its input.
    with contextlib.suppress(ConnectionError):
        stream.write(text)
        await stream.drain()
    stream.close()


async def _terminate(process: asyncio.subprocess.Process) -> None:
    """Terminate the process group if the process is still running."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _GRACE_SECONDS)
