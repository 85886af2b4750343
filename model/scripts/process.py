"""Run one script as a process, with output to a file, a time limit, and no orphans."""

import asyncio
import os
import signal
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from model.backends import process_table
from model.backends.orphans import OWNER_VARIABLE, build_owner_mark
from model.backends.process import AGENT_VARIABLE, build_agent_environment
from model.base.errors import SpinneyError
from model.base.paths import create_private_folders
from model.base.text import make_output_visible
from model.domain.projects import Project
from model.domain.worktree_variables import build_worktree_variables
from model.domain.worktrees import Worktree

OUTPUT_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of output after which a script is assumed to run endlessly."""

OUTPUT_SHOWN: Final = 64 * 1024
"""Bytes at the end of an output that are shown."""

_GRACE_SECONDS: Final = 3.0
"""Seconds between SIGTERM and SIGKILL."""

_CHECK_INTERVAL: Final = 1.0


def build_environment(worktree: Worktree, project: Project | None, data: Path) -> dict[str, str]:
    """Return the variables that scripts, commands and agents get besides those of the user."""
    return {**build_worktree_variables(worktree, project), OWNER_VARIABLE: build_owner_mark(data)}


def read_end(output: Path) -> str:
    """Return the end of an output file as visible text; empty if there is none."""
    try:
        with output.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - OUTPUT_SHOWN))
            return make_output_visible(file.read().decode(errors="replace"))
    except OSError:
        return ""


async def run_script(
    text: str, cwd: Path, environment: Mapping[str, str], output: Path, limit: float | None
) -> int:
    """Run `text` with `sh -c`, write its output to the file `output`, and return the exit code.

    Background processes of the script end with it, also if this call is canceled.

    Raises:
        SpinneyError: `timeout` after `limit` seconds or with too much output; also if `sh` cannot
            be started in `cwd`.
    """
    mark = uuid.uuid4().hex
    file = await asyncio.to_thread(_open, output)
    try:
        process = await asyncio.create_subprocess_exec(
            "sh",
            "-c",
            text,
            cwd=cwd,
            env={**build_agent_environment(environment), AGENT_VARIABLE: mark},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=file,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise SpinneyError(f"sh could not be started in {cwd}: {error.strerror}") from error
    finally:
        file.close()
    try:
        return await _wait(process, output, limit)
    finally:
        await asyncio.shield(_terminate(process, mark))


async def _wait(process: asyncio.subprocess.Process, output: Path, limit: float | None) -> int:
    ended = asyncio.ensure_future(process.wait())
    try:
        async with asyncio.timeout(limit):
            while not (await asyncio.wait((ended,), timeout=_CHECK_INTERVAL))[0]:
                if (await asyncio.to_thread(output.stat)).st_size > OUTPUT_LIMIT:
                    raise SpinneyError(
                        f"It was stopped after {OUTPUT_LIMIT // 1024 // 1024} MB of output.",
                        "timeout",
                    )
    except TimeoutError:
        raise SpinneyError(f"It was stopped after {limit:g} seconds.", "timeout") from None
    finally:
        ended.cancel()
    return process.returncode or 0


async def _terminate(process: asyncio.subprocess.Process, mark: str) -> None:
    if process.returncode is None:
        _signal_group(process.pid, signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                await process.wait()
    root = process.pid if process.returncode is None else None
    members = await asyncio.to_thread(process_table.find_family, root, AGENT_VARIABLE, mark)
    await asyncio.to_thread(process_table.kill, members)
    if process.returncode is None or not process_table.IS_AVAILABLE:
        _signal_group(process.pid, signal.SIGKILL)
    await process.wait()


def _signal_group(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _open(path: Path) -> IO[bytes]:
    create_private_folders(path.parent)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    return os.fdopen(descriptor, "wb")
