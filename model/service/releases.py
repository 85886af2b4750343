"""Looks for a newer published version, at most once a day and only if the user wants it.

The program that installed Spinney is asked, so that its own index, proxy and settings are used.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.paths import write_atomically
from model.service.installation import Installation

INTERVAL: Final = 86_400.0
"""Seconds between two checks, also failed ones."""
_TIMEOUT: Final = 60.0
_MAX_OUTPUT: Final = 1_000_000

Ask = Callable[[], Awaitable[str]]
"""Returns the newest published version, empty if it is not known."""


class ReleaseCheck:
    """Remembers in a file when it looked last, and what it found."""

    def __init__(self, path: Path, ask: Ask, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._ask = ask
        self._clock = clock

    async def find_newer(self, version: str) -> str | None:
        """Return the newest published version if it is newer than `version`.

        It is looked up if the last check is a day ago; then the file of this one is returned.
        """
        checked_at, known = await asyncio.to_thread(self._read)
        now = self._clock()
        if not checked_at <= now < checked_at + INTERVAL:  # also if the clock was turned back
            known = await self._ask() or known
            await asyncio.to_thread(self._write, now, known)
        return known if is_newer(known, version) else None

    def _read(self) -> tuple[float, str]:
        try:
            stored = json.loads(self._path.read_bytes())
            return float(stored["checked_at"]), str(stored["version"])
        except (OSError, ValueError, LookupError, TypeError):
            return 0.0, ""

    def _write(self, checked_at: float, version: str) -> None:
        content = json.dumps({"checked_at": checked_at, "version": version})
        try:
            write_atomically(self._path, content.encode())
        except SpinneyError:
            pass  # The disk is full; more important writes report it.


async def ask_installer() -> str:
    """Ask the program that installed this Spinney; empty if it fails, or takes over a minute.

    Nothing is asked about a checkout, which is of those who work on Spinney.
    """
    match Installation().kind:
        case "git":
            return ""
        case "uv":
            listed = ["pip", "list", "--outdated", "--format", "json", "--python", sys.executable]
            printed = await _run("uv", *listed)
        case _:
            printed = await _run(sys.executable, "-m", "pip", "index", "versions", "spinney")
    return read_answer(printed)


def read_answer(printed: str) -> str:
    """Return the newest version in what uv or pip printed; empty if there is none."""
    with suppress(ValueError, TypeError, LookupError):
        packages = {str(each["name"]): each for each in json.loads(printed)}
        return str(packages["spinney"]["latest_version"])[:50]
    name, _, version = printed.partition("\n")[0].partition(" ")
    return version.strip("() ")[:50] if name == "spinney" else ""


async def _run(*command: str) -> str:
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
        )
    except OSError:
        return ""
    assert process.stdout is not None
    try:
        async with asyncio.timeout(_TIMEOUT):
            printed = await process.stdout.read(_MAX_OUTPUT)
            text = printed.decode("utf-8", "replace")
            return text if await process.wait() == 0 else ""
    except TimeoutError:
        return ""
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()


def is_newer(version: str, than: str) -> bool:
    """Whether a version of numbers is newer; those of letters, before a release, are not."""
    if not all(part.isascii() and part.isdigit() for part in version.split(".")):
        return False
    return _numbers(version) > _numbers(than)


def _numbers(version: str) -> list[int]:
    parts = version.split(".")
    return [int("".join(c for c in part if c.isdigit()) or "0") for part in parts]
