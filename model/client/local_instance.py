"""The Spinney that keeps this data directory: found, reached, ended."""

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from model.base.errors import NobodyThereError, SpinneyError
from model.base.instance import (
    Patience,
    Running,
    answering_here,
    running_here,
    server_of,
    wait_for_end,
)
from model.base.paths import Directories

if TYPE_CHECKING:
    from model.client.remote import RemoteClient

PATIENCE = 10.0
"""Seconds for a Spinney to answer before it counts as hung; one of this machine that works has
longer (`Patience`)."""
END_TIME = 30.0
"""Seconds for a Spinney to end in good order."""


def found(places: Directories) -> Running:
    """Whoever runs here, once it answers. Raises `SpinneyError`."""
    running = answering_here(places.lock)
    if running is None:
        raise NobodyThereError("No Spinney is running here. Start one with: spinney")
    return running


def found_door(places: Directories) -> tuple[str, str]:
    """Address and token for scripts: the server's, or else those of the door for this user."""
    running = running_here(places.lock)
    if running is None:
        raise NobodyThereError(
            "No Spinney is running here. Start one with `spinney`, or with `spinney serve` where"
            " there is no terminal."
        )
    # The lock comes first: what is found in a file may be of one that was killed.
    server = server_of(places.server, running)
    if server is not None:
        return server
    running = found(places)
    return running.base_url, running.token


async def reached(
    base_url: str,
    token: str,
    find: Callable[[], tuple[str, str]] | None = None,
    *,
    pid: int | None = None,
) -> "RemoteClient":
    """A client that is connected. Raises `SpinneyError`, and `TimeoutError` if nothing is said.

    `pid` is its process, if that is one of this machine.
    """
    remote = await asyncio.to_thread(importlib.import_module, "model.client.remote")
    client: RemoteClient = remote.RemoteClient(base_url, token, find=find)
    try:
        async with patience(pid):
            await client.reach()
    except BaseException:
        await client.close()
        raise
    return client


@asynccontextmanager
async def patience(pid: int | None) -> AsyncIterator[None]:
    """Raise `TimeoutError` when this takes too long, by what process `pid` does if it is given."""
    async with asyncio.timeout(None if pid else PATIENCE) as limit:
        watch = asyncio.create_task(_watch(limit, Patience(pid, PATIENCE))) if pid else None
        try:
            yield
        finally:
            if watch is not None:
                watch.cancel()


async def _watch(limit: asyncio.Timeout, waited: Patience) -> None:
    while not waited.is_over:  # noqa: ASYNC110 - nothing tells what another process does
        await asyncio.sleep(PATIENCE / 20)
    limit.reschedule(asyncio.get_running_loop().time())


async def connected(places: Directories) -> "RemoteClient":
    """A client of whoever runs here; it finds the next one, should that one be started anew."""
    running = await asyncio.to_thread(found, places)

    def find() -> tuple[str, str]:
        now = found(places)
        return now.base_url, now.token

    try:
        return await reached(running.base_url, running.token, find, pid=running.pid)
    except TimeoutError:
        raise running.hung from None
    except SpinneyError:
        if await asyncio.to_thread(running_here, places.lock) == running:
            raise
        return await connected(places)  # Another one took its place meanwhile.


def silent(places: Directories, base_url: str) -> SpinneyError:
    """What to tell of one that took the connection and says nothing."""
    running = running_here(places.lock)
    return running.hung if running else NobodyThereError(f"{base_url} does not answer.", "timeout")


async def end(places: Directories) -> str:
    """End whoever runs here, in good order; what became of it. Raises `SpinneyError`."""
    running = await asyncio.to_thread(running_here, places.lock)
    if running is None:
        return "No Spinney is running here."
    try:
        interrupted = await _told_to_end(running)
    except (TimeoutError, SpinneyError):
        raise running.hung from None
    if not await asyncio.to_thread(wait_for_end, places.lock, running.pid, END_TIME):
        raise SpinneyError(
            f"Spinney (process {running.pid}) was told to end and is still at it."
            f" If it does not come to an end: kill -9 {running.pid}"
        )
    match interrupted:
        case 0:
            cut = ""
        case 1:
            cut = " One run was interrupted."
        case _:
            cut = f" {interrupted} runs were interrupted."
    return f"Spinney (process {running.pid}) has ended.{cut}"


async def _told_to_end(running: Running) -> int:
    client = await reached(running.base_url, running.token, pid=running.pid)
    try:
        async with patience(running.pid):
            told = await client.call_raw("stop_spinney", {})
        return int(told["interrupted"])
    finally:
        await client.close()
