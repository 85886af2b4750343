"""Looks for a newer published version, at most once a day and only if the user wants it."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.paths import write_atomically

ADDRESS: Final = "https://pypi.org/pypi/spinney/json"
INTERVAL: Final = 86_400.0
"""Seconds between two checks, also failed ones."""
_MAX_SIZE: Final = 5_000_000
_TIMEOUT: Final = 20.0

Fetch = Callable[[str], Awaitable[bytes]]
"""Returns what is at an address. Raises `OSError` or `TimeoutError`."""


class ReleaseCheck:
    """Remembers in a file when it looked last, and what it found."""

    def __init__(self, path: Path, fetch: Fetch, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._fetch = fetch
        self._clock = clock

    async def find_newer(self, version: str) -> str | None:
        """Return the newest published version if it is newer than `version`.

        It is looked up if the last check is a day ago; then the file of this one is returned.
        """
        checked_at, known = await asyncio.to_thread(self._read)
        now = self._clock()
        if not checked_at <= now < checked_at + INTERVAL:  # also if the clock was turned back
            known = await self._look_up() or known
            await asyncio.to_thread(self._write, now, known)
        return known if is_newer(known, version) else None

    async def _look_up(self) -> str:
        try:
            found = json.loads(await self._fetch(ADDRESS))
            return str(found["info"]["version"])[:50]
        except (OSError, TimeoutError, ValueError, LookupError, TypeError):
            return ""  # Tomorrow again.

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


async def fetch(address: str) -> bytes:
    """Fetch from the network. Raises `OSError` and `TimeoutError`."""
    import aiohttp  # Large, and only used with the preference on.

    timeout = aiohttp.ClientTimeout(total=_TIMEOUT)
    async with aiohttp.ClientSession(timeout=timeout, raise_for_status=True) as session:
        try:
            async with session.get(address) as response:
                return await response.content.read(_MAX_SIZE)
        except aiohttp.ClientError as error:
            raise OSError(str(error)) from error


def is_newer(version: str, than: str) -> bool:
    """Whether a version of numbers is newer; those of letters, before a release, are not."""
    numbers = [part.split(".") for part in (version, than)]
    if not all(part.isascii() and part.isdigit() for part in numbers[0]):
        return False
    digits = [["".join(c for c in part if c.isdigit()) or "0" for part in each] for each in numbers]
    new, old = ([int(part) for part in each] for each in digits)
    return new > old
