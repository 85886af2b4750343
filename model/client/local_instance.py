"""The Spinney that holds this data directory: connect to it, stop it."""

import asyncio
import importlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from model.base.errors import SpinneyError
from model.base.instance import (
    ActivityTimeout,
    RunningInstance,
    find_running_instance,
    wait_for_exit,
    wait_until_ready,
)
from model.base.paths import Directories
from model.client.endpoint import find_running

if TYPE_CHECKING:
    from model.client.remote import RemoteClient

RESPONSE_TIMEOUT = 10.0
"""Seconds for a Spinney to respond before it counts as hung; a process of this machine that is
working has longer (`ActivityTimeout`).
"""
SHUTDOWN_TIMEOUT = 30.0
"""Seconds for an orderly shutdown."""
_POLL_INTERVAL = 0.05


async def connect_to(
    base_url: str,
    token: str,
    find: Callable[[], tuple[str, str]] | None = None,
    *,
    pid: int | None = None,
) -> "RemoteClient":
    """Connect a client. Raises `SpinneyError`, and `TimeoutError` if there is no response.

    `pid` is the process to connect to, if it runs on this machine.
    """
    remote = await asyncio.to_thread(importlib.import_module, "model.client.remote")
    client: RemoteClient = remote.RemoteClient(base_url, token, find=find)
    try:
        async with response_timeout(pid):
            await client.connect()
    except BaseException:
        await client.close()
        raise
    return client


@asynccontextmanager
async def response_timeout(pid: int | None) -> AsyncIterator[None]:
    """Raise `TimeoutError` after `RESPONSE_TIMEOUT`; a `pid` that is working has longer."""
    async with asyncio.timeout(None if pid else RESPONSE_TIMEOUT) as limit:
        watch = (
            asyncio.create_task(_watch(limit, ActivityTimeout(pid, RESPONSE_TIMEOUT)))
            if pid
            else None
        )
        try:
            yield
        finally:
            if watch is not None:
                watch.cancel()


async def _watch(limit: asyncio.Timeout, waiting: ActivityTimeout) -> None:
    while not waiting.is_expired:  # noqa: ASYNC110 - another process sets no event
        await asyncio.sleep(RESPONSE_TIMEOUT / 20)
    limit.reschedule(asyncio.get_running_loop().time())


async def connect_local(paths: Directories) -> "RemoteClient":
    """Connect to the running instance; the client reconnects to its successor after a restart."""
    running = await asyncio.to_thread(find_running, paths)

    def find() -> tuple[str, str]:
        now = find_running(paths)
        return now.base_url, now.token

    try:
        return await connect_to(running.base_url, running.token, find, pid=running.pid)
    except TimeoutError:
        raise running.timeout_error from None
    except SpinneyError:
        if await asyncio.to_thread(find_running_instance, paths.lock) == running:
            raise
        return await connect_local(paths)  # Another instance has started meanwhile.


async def stop_running(paths: Directories) -> str:
    """Shut the running instance down; returns the outcome as text. Raises `SpinneyError`."""
    running = await asyncio.to_thread(find_running_instance, paths.lock)
    if running is not None and not running.port:
        running = await asyncio.to_thread(wait_until_ready, paths.lock)
    if running is None:
        return "No Spinney is running here."
    interrupted = 0
    try:
        interrupted = await _shut_down(running)
    except TimeoutError:
        raise running.timeout_error from None
    except SpinneyError as error:
        # One that does not answer any more is ending already, or replaces itself.
        is_ending = error.error_type == "timeout"
        if not (is_ending and await asyncio.to_thread(_wait_for_change, paths.lock, running)):
            raise running.timeout_error from None
        if await asyncio.to_thread(find_running_instance, paths.lock) is not None:
            return await stop_running(paths)
    if not await asyncio.to_thread(wait_for_exit, paths.lock, running.pid, SHUTDOWN_TIMEOUT):
        raise SpinneyError(
            f"Spinney (process {running.pid}) is still shutting down."
            f" If it does not end, run: kill -9 {running.pid}"
        )
    match interrupted:
        case 0:
            note = ""
        case 1:
            note = " One run was interrupted."
        case _:
            note = f" {interrupted} runs were interrupted."
    return f"Spinney (process {running.pid}) has ended.{note}"


def _wait_for_change(lock: Path, running: RunningInstance) -> bool:
    """Wait until the lock has no holder, or one with another address; whether it was in time."""
    timeout = ActivityTimeout(running.pid, SHUTDOWN_TIMEOUT)
    while find_running_instance(lock) == running:
        if timeout.is_expired:
            return False
        time.sleep(_POLL_INTERVAL)
    return True


async def _shut_down(running: RunningInstance) -> int:
    client = await connect_to(running.base_url, running.token, pid=running.pid)
    try:
        async with response_timeout(running.pid):
            result = await client.call_raw("stop_spinney", {})
        return int(result["interrupted"])
    finally:
        await client.close()
